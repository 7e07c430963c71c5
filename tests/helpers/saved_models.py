"""Model directories that tests damage or forge."""

import os
import re
from hashlib import sha256

import pytest
import yaml

import dyparse
from dyparse.errors import CheckpointError

FILES = ("model.safetensors", "config.yaml", "vocabulary.json", "metrics.json")
MANIFEST = "manifest.sha256"


def assert_refused(directory, path, finding=""):
    """Loading fails with one message: the path, and what was found."""
    with pytest.raises(CheckpointError, match=re.escape(str(path))) as caught:
        dyparse.load(directory)
    assert finding in str(caught.value)


def forge(directory):
    """Write a manifest for the files as they are: what no damage does."""
    lines = (f"{sha256((directory / name).read_bytes()).hexdigest()}  {name}\n" for name in FILES)
    (directory / MANIFEST).write_text("".join(lines))


def rewrite_config(saved, change):
    """Change config.yaml in place, and the manifest with it."""
    path = saved / "config.yaml"
    config = yaml.safe_load(path.read_text())
    change(config)
    path.write_text(yaml.safe_dump(config))
    forge(saved)
    return path


class Mischief:
    """Touches a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)

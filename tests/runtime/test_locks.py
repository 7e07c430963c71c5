"""Locked directories."""

import pytest

from dyparse.errors import ConfigError
from dyparse.runtime.locks import exclusive_directory


def test_a_directory_is_created_and_locked_until_the_block_ends(tmp_path):
    directory = tmp_path / "new" / "run"
    with exclusive_directory(directory):
        assert directory.is_dir()
        with (
            pytest.raises(ConfigError, match=r"another process is parsing there; .*--output"),
            exclusive_directory(directory, "parsing", "--output"),
        ):
            pass
    with exclusive_directory(directory):
        pass


def test_a_directory_that_cannot_be_created_is_one_message(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(ConfigError, match=r"run: cannot be written .*with output=DIR"),
        exclusive_directory(tmp_path / "file" / "run"),
    ):
        pass

"""Privacy: no token and no path of the machine leaves it with a model, a log or wandb."""

import getpass
import os
import re
import socket
from pathlib import Path

import pytest
from helpers.tiny import CONF, run, sample
from hydra import compose, initialize_config_dir

from dyparse.training.run_directory import shareable

SMALL = [
    "trainer=debug",
    "trainer.epochs=1",
    "trainer.max_sentences=8",
    "threads=1",
    "encoder.hidden=20",
    "encoder.layers=1",
    "network.hidden=20",
]
KEY = "0123456789abcdef0123456789abcdef01234567"
# Where wandb copies files before it sends them: in its journal, but not sent to the server.
STAGING = re.compile(rb"/[^\0]*?/wandb/artifacts/staging/")
PRIVATE_NAME = "a-private-directory"


@pytest.fixture(scope="module")
def logged_run(once):
    """The directory of a run with a wandb account, in a directory whose name must stay private;
    treebank and output are given as absolute paths.
    """

    def make(path):
        home = path / PRIVATE_NAME
        home.mkdir()
        text = "".join(s.to_conllu() for s in sample("train")[:20])
        (home / "mine.conllu").write_text(text, encoding="utf-8")
        default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dyparse"
        done = run(
            "train.py",
            *SMALL,
            "logger=wandb",
            "logger.mode=offline",
            f"output={home / 'run'}",
            "treebank=files",
            f"treebank.train={home / 'mine.conllu'}",
            cwd=home,
            HOME=str(home),
            DYPARSE_CACHE=os.environ.get("DYPARSE_CACHE") or str(default),
            WANDB_API_KEY=KEY,
        )
        assert done.returncode == 0, done.stderr
        assert KEY not in done.stdout + done.stderr

    return once("logged_run", make) / PRIVATE_NAME / "run"


@pytest.mark.parametrize(
    "secret", [PRIVATE_NAME, KEY, str(CONF.parent), f"/{getpass.getuser()}/", socket.gethostname()]
)
def test_no_file_of_a_run_contains_a_token_or_a_path_of_the_machine(secret, logged_run):
    if len(secret) < 6:
        pytest.skip(f"{secret!r} is so short that it may occur by chance")
    files = [path for path in logged_run.rglob("*") if path.is_file() and not is_debug_log(path)]
    names = {path.name for path in files}
    assert {"config.yaml", "metrics.jsonl", "result.json", "model.safetensors"} <= names
    assert any(path.suffix == ".wandb" for path in files)
    found = [path.name for path in files if secret.encode() in STAGING.sub(b"", path.read_bytes())]
    assert found == []


def is_debug_log(path):
    """Whether it is one of wandb's own logs, which it does not send."""
    return path.resolve().parent.name == "logs"


def test_logged_options_contain_names_of_files_but_no_paths():
    with initialize_config_dir(str(CONF), version_base="1.3"):
        ud = compose("train", ["treebank=ud", "treebank.root=/data/me/ud", "output=/home/me/out"])
        files = compose("train", ["treebank=files", "treebank.train=/data/me/a.conllu"])
    assert (shareable(ud).treebank.root, shareable(ud).output) == ("ud", "out")
    assert shareable(files).treebank.train == "a.conllu"
    assert shareable(files).treebank.dev is None
    assert ud.treebank.root == "/data/me/ud"  # unchanged for the run itself

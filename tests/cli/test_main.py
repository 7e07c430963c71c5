"""The `dyparse` command: its help, the commands that need no model, and how it starts."""

import argparse
import contextlib
import functools
import io
import os
import re
import signal
import subprocess
import sys
import tarfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from helpers.messages import assert_one_message
from helpers.tiny import PROJECT, sample

import dyparse
from dyparse.cli.main import COMMANDS, command_line
from dyparse.data.conllu import read_sentences

DEV = sample("dev")[:12]
TEXT = "".join(s.to_conllu() for s in DEV)
HEAVY = {"torch", "numba", "numpy", "matplotlib", "hydra", "ray"}  # slow to import


@pytest.fixture
def command(dyparse_command):
    """command(*arguments, stdin=…) → (exit status, standard output, standard error)."""
    return dyparse_command


@pytest.fixture
def file(tmp_path):
    """file(name, text) → the path of a file with this text."""

    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def command_names():
    (commands,) = (
        action
        for action in command_line()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return list(commands.choices)


def test_every_file_of_a_command_is_listed_in_main():
    files = {path.stem for path in (PROJECT / "dyparse" / "cli").glob("*.py")}
    others = {"__init__", "main", "arguments", "sentences", "hydra_command", "sweep"}
    assert files - others == {module.__name__.rpartition(".")[2] for module in COMMANDS}
    assert files - others == {name.replace("-", "_") for name in command_names()}


@pytest.mark.parametrize(
    "arguments",
    [[], ["nosuch"], ["parse"], ["parse", "m", "--threads", "x"], ["check"], ["download"]],
)
def test_a_wrong_command_line_shows_the_usage(command, arguments):
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert "usage: dyparse" in err


@pytest.mark.parametrize("name", ["", *command_names()])
def test_every_command_has_help(command, name):
    status, out, err = command(*name.split(), "--help")
    assert (status, err) == (0, "")
    assert f"usage: dyparse {name}".strip() in out
    for word in ["--help"] if name else command_names():
        assert word in out


def modules_after(*arguments, cwd):
    """What a command prints, and the names of all modules that it has imported."""
    program = (
        "import contextlib, sys\n"
        "from dyparse.cli.main import main\n"
        f"with contextlib.suppress(SystemExit): main({list(map(str, arguments))!r})\n"
        "print('modules:', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True, check=True
    )
    out, _, modules = done.stdout.partition("modules:")
    return out, set(modules.split())


def test_help_and_check_import_nothing_that_is_slow(tmp_path):
    (tmp_path / "good.conllu").write_text(TEXT)
    out, modules = modules_after("--help", cwd=tmp_path)
    assert "usage: dyparse" in out
    assert not modules & HEAVY
    out, modules = modules_after("check", "good.conllu", cwd=tmp_path)
    assert out.startswith("good.conllu: sound")
    assert not modules & HEAVY
    out, modules = modules_after("score", "good.conllu", "good.conllu", cwd=tmp_path)
    assert "100.00" in out
    assert not modules & (HEAVY - {"numpy"})


def test_ctrl_c_while_modules_are_imported_is_quiet():
    program = (
        "import signal, sys\n"
        "from dyparse.__main__ import main\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'dyparse.cli.train': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "sys.exit(main(['--help']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


def test_the_version_is_printed(command):
    assert command("--version") == (0, f"dyparse {dyparse.__version__}\n", "")


def test_check_lists_findings_and_its_exit_status_is_2_if_there_are_any(command, file):
    good = file("good.conllu", TEXT)
    bad = file("bad.conllu", TEXT.replace("\t0\troot", "\t1\troot"))
    status, out, err = command("check", good)
    assert (status, err) == (0, "")
    assert out.startswith(f"{good}: sound; {len(DEV)} sentences")
    status, out, _ = command("check", good, bad, "--limit", "2")
    assert status == 2
    assert len(re.findall(rf"^{re.escape(str(bad))}:\d+: ", out, re.MULTILINE)) == 2
    assert command("check", "-", stdin=TEXT.encode())[0] == 0
    assert command("check", file("none", "") / "x")[0] == 2


def test_check_takes_treebanks_by_name(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ud/UD_Toy-One").mkdir(parents=True)
    (tmp_path / "ud/UD_Toy-One/toy-ud-dev.conllu").write_text(TEXT)
    for name in ("UD_Toy-One", "ud/UD_Toy-One", "ud/UD_Toy-One/"):
        assert command("check", name)[1].startswith("ud/UD_Toy-One/toy-ud-dev.conllu: sound")
    assert command("check", "sample")[1].count(": sound") == 3
    assert command("check", "UD_Toy-Two")[0] == 2


def test_files_may_follow_options(command, file):
    one, two = file("one", DEV[0].to_conllu()), file("two", DEV[1].to_conllu())
    assert command("check", one, "--limit", "3", two)[1].count("sound") == 2
    assert "unrecognized arguments: --nosuch" in command("check", one, "--nosuch")[2]
    for wrong in (["draw", one, "--all", "two"], ["download", "UD_A-B", "two"]):
        status, _, err = command(*wrong)
        assert status == 2
        assert "unrecognized arguments: two" in err


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["score", "good.conllu", "good.conllu"], ["train", "--help"]],
)
def test_a_reader_that_is_gone_is_no_error(arguments, tmp_path):
    (tmp_path / "good.conllu").write_text(TEXT)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "dyparse", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@contextlib.contextmanager
def serving(directory):
    """The address of a local web server of the files in a directory."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=str(directory))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_download_places_a_treebank_and_prints_how_to_train_on_it(command, tmp_path):
    name = "UD_Latin-One"
    web, root = tmp_path / "web", tmp_path / "ud"
    web.mkdir()
    with tarfile.open(web / f"{name}-2.17.tar.gz", "w:gz") as tar:
        info = tarfile.TarInfo(f"{name}-r2.17/la_one-ud-test.conllu")
        info.size = len(TEXT.encode())
        tar.addfile(info, io.BytesIO(TEXT.encode()))
    with serving(web) as address:
        url = f"{address}/{{name}}-{{release}}.tar.gz"
        status, out, _ = command("download", name, "--root", root, "--url", url)
        assert status == 0
        assert f"dyparse train treebank={root / name}" in out
        again = command("download", name, "--root", root, "--url", url)
        assert_one_message(again, "is there already", "--force")
        assert command("download", name, "--root", root, "--url", url, "--force")[0] == 0
        missing = command("download", "UD_Latin-Two", "--root", root, "--url", url)
        assert_one_message(missing, "404")
        wrong_sum = ["--sha256", "0" * 64, "--root", tmp_path / "other", "--url", url]
        assert_one_message(command("download", name, *wrong_sum), "SHA-256")
    read = list(read_sentences(root / name / "la_one-ud-test.conllu", trees=True))
    assert len(read) == len(DEV)
    assert [path.name for path in root.iterdir() if path.name[0] != "."] == [name]


def test_the_installed_script_and_the_module_are_the_same_command(tmp_path):
    (tmp_path / "good.conllu").write_text(TEXT)
    assert 'dyparse = "dyparse.__main__:main"' in (PROJECT / "pyproject.toml").read_text()
    module = subprocess.run(
        [sys.executable, "-m", "dyparse", "check", "good.conllu", "none"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert module.returncode == 2
    assert module.stdout.startswith("good.conllu: sound")

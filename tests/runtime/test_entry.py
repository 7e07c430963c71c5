"""Program entry: errors that users can fix are one message, bugs are a traceback."""

import os
import shlex
import signal
import subprocess
import sys
import time
import warnings

import pytest
from helpers.tiny import PROJECT

from dyparse.errors import CheckpointError, ConfigError, DyparseError, DyparseWarning, TreebankError
from dyparse.runtime.atomic_files import replacing
from dyparse.runtime.entry import clear_errors


def exit_status(error):
    """The exit status of a program in which this is raised."""
    with pytest.raises(SystemExit) as stop, clear_errors():
        raise error
    return stop.value.code


@pytest.mark.parametrize("kind", [DyparseError, TreebankError, CheckpointError, ConfigError])
def test_an_error_that_the_user_can_fix_is_its_message_and_status_2(kind, capsys):
    assert exit_status(kind("x.conllu:3: what to do")) == 2
    assert capsys.readouterr().err == "error: x.conllu:3: what to do\n"


def test_a_file_that_cannot_be_used_is_named(capsys, tmp_path):
    with pytest.raises(SystemExit) as stop, clear_errors():
        (tmp_path / "none").read_text()
    assert stop.value.code == 2
    assert capsys.readouterr().err == f"error: {tmp_path / 'none'}: No such file or directory\n"
    assert exit_status(OSError("strange")) == 2
    assert capsys.readouterr().err == "error: strange\n"


def test_an_interruption_is_no_traceback(capsys):
    assert exit_status(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("program", [["train.py"], ["evaluate.py", "model=m"]], ids=str)
def test_an_interruption_while_torch_is_imported_is_no_traceback(program, tmp_path):
    """A stand-in for torch that is interrupted as soon as it is imported."""
    slow = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(10)\n"
    (tmp_path / "torch.py").write_text(slow)
    done = subprocess.run(
        [sys.executable, *program],
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, "interrupted")
    assert "Traceback" not in done.stderr


def test_a_bug_stays_a_traceback():
    with pytest.raises(ZeroDivisionError), clear_errors():
        raise ZeroDivisionError


def test_a_program_without_errors_prints_nothing(capsys):
    with clear_errors():
        pass
    assert capsys.readouterr() == ("", "")


def test_sigterm_ends_a_program_as_ctrl_c_does_and_leaves_nothing_half_written(capsys, tmp_path):
    def work():
        with clear_errors(), replacing(tmp_path / "out") as temporary:
            temporary.write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as stopped:
        work()
    assert stopped.value.code == 143
    assert capsys.readouterr().err == "terminated\n"
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) is before


def test_our_warnings_are_one_line_and_those_of_libraries_are_unchanged():
    outside = warnings.formatwarning
    with clear_errors():
        ours = warnings.formatwarning("mind this", DyparseWarning, "parser.py", 7)
        theirs = warnings.formatwarning("old", DeprecationWarning, "library.py", 7)
    assert ours == "warning: mind this\n"
    assert theirs.startswith("library.py:7: DeprecationWarning: old")
    assert warnings.formatwarning is outside


def test_a_lack_of_memory_is_one_message(capsys):
    with pytest.raises(SystemExit), clear_errors():
        raise MemoryError
    assert capsys.readouterr().err.startswith("error: not enough memory; ")


@pytest.mark.parametrize(
    ("environment", "is_printed"),
    [
        ({"RANK": "1"}, True),  # a variable of another program
        ({"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1"}, False),
        ({"RANK": "2", "WORLD_SIZE": "4", "LOCAL_RANK": "0"}, True),  # the first of another machine
    ],
)
def test_one_process_per_machine_prints_an_error(environment, is_printed, capsys, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert exit_status(ConfigError("wrong")) == 2
    assert (capsys.readouterr().err == "error: wrong\n") is is_printed


def test_a_missing_standard_output_is_an_error_and_a_missing_standard_error_is_not(
    capsys, monkeypatch
):
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(SystemExit) as stop, clear_errors():
        raise AssertionError("not reached")
    assert stop.value.code == 2
    assert "standard output is closed" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setattr("sys.stderr", None)
    assert exit_status(ConfigError("wrong")) == 2


@pytest.mark.parametrize("program", [["-m", "dyparse", "coverage"], ["train.py", "--cfg", "job"]])
@pytest.mark.parametrize(("closed", "status"), [("2", 0), ("1", 2)])
def test_a_closed_stream_is_no_traceback(program, closed, status):
    """Closed by the shell with `>&-` and `2>&-`."""
    treebank = PROJECT / "dyparse" / "treebank" / "sample_data" / "dev.conllu"
    files = [str(treebank), "--system", "arc_eager"] if "coverage" in program else []
    command = shlex.join([sys.executable, *program, *files])
    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} {closed}>&-"],
        cwd=PROJECT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == status
    if closed == "1":
        assert done.stderr.startswith("error: standard output is closed")
        assert len(done.stderr.splitlines()) == 1
    else:
        assert done.stdout

"""Downloads that run at once, and downloads that are killed: with real processes."""

import errno
import io
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from filelock import FileLock
from helpers.lying_server import (
    BODY,
    GOOD,
    HALF,
    LOCK,
    NAME,
    PLACE,
    TAG,
    Answer,
    archive,
    assert_brought,
    names_in,
    serving,
)

from dyparse.data.download.download import download
from dyparse.data.download.partial_file import PartialFile
from dyparse.treebank import TreebankError
from dyparse.treebank import download as download_module

HOLDS = Answer(stop=HALF, then="hold")
ENOUGH = HALF - (1 << 16)  # what is on the disk for certain when HALF was sent


class Process:
    """`dyparse download` on its own."""

    def __init__(self, server, root, *options):
        arguments = ["download", NAME, "--root", root, "--url", server.url, *options]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dyparse", *map(str, arguments)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, number=None):
        """(exit status, standard error), after a signal if there is one."""
        if number is not None:
            self.process.send_signal(number)
        _, err = self.process.communicate(timeout=20)
        return self.process.returncode, err

    def first_line(self):
        return self.process.stderr.readline()


@contextmanager
def downloading(server, root, *options):
    process = Process(server, root, *options)
    try:
        yield process
    finally:
        process.process.kill()
        process.process.wait()


def wait_for_part(root, enough=ENOUGH):
    """Until so much of the archive is on the disk."""
    path = root / PLACE / "archive.tar.gz"
    for _ in range(2000):
        if path.exists() and path.stat().st_size >= enough:
            return
        time.sleep(0.01)
    raise AssertionError("nothing came")


def test_of_two_downloads_the_second_waits_and_finds_it_there(tmp_path):
    with (
        serving(BODY, HOLDS, Answer(), headers=TAG) as server,
        downloading(server, tmp_path) as first,
    ):
        wait_for_part(tmp_path)
        with downloading(server, tmp_path) as second:
            assert "another download is writing it; waiting" in second.first_line()
            server.go_on.set()
            assert first.end() == (0, "")
            status, err = second.end()
    assert status == 2
    assert err.startswith("error: ")
    assert "is there already" in err
    assert len(server.asked) == 1
    assert names_in(tmp_path) == [NAME]


def test_a_second_download_that_is_to_replace_does_so_after_the_first(tmp_path):
    with (
        serving(BODY, HOLDS, Answer(), headers=TAG) as server,
        downloading(server, tmp_path) as first,
    ):
        wait_for_part(tmp_path)
        with downloading(server, tmp_path, "--force") as second:
            second.first_line()
            server.go_on.set()
            assert first.end() == (0, "")
            assert second.end() == (0, "")
    assert server.ranges == [None, None]
    assert names_in(tmp_path) == [NAME]


def test_a_killed_download_blocks_nobody_and_is_gone_on_with(tmp_path):
    with (
        serving(BODY, HOLDS, Answer(), headers=TAG) as server,
        downloading(server, tmp_path) as first,
    ):
        wait_for_part(tmp_path)
        with downloading(server, tmp_path) as second:
            second.first_line()
            assert first.end(signal.SIGKILL)[0] == -signal.SIGKILL
            assert second.end() == (0, "")
        assert server.sent <= len(BODY) + HALF - ENOUGH
    assert int(server.ranges[1].removeprefix("bytes=").removesuffix("-")) >= ENOUGH
    assert names_in(tmp_path) == [NAME]


@pytest.mark.parametrize("headers", [TAG, {}])
def test_an_interrupted_download_leaves_nothing_but_what_can_be_gone_on_with(headers, tmp_path):
    with (
        serving(BODY, HOLDS, Answer(), headers=headers) as server,
        downloading(server, tmp_path) as process,
    ):
        wait_for_part(tmp_path)
        assert process.end(signal.SIGINT) == (130, "interrupted\n")
        left = ["archive.json", "archive.tar.gz"] if headers else []
        assert sorted(path.name for path in tmp_path.glob(f"{PLACE}/*")) == left
        assert names_in(tmp_path) == ([PLACE] if headers else [])
        assert_brought(server, tmp_path)
        assert (server.ranges[1] is not None) == bool(headers)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_download_that_is_ended_while_unpacking_leaves_the_old_treebank(
    stop, tmp_path, monkeypatch
):
    def unpack(_, __, directory, **___):
        (directory / "half.conllu").write_text("half")
        raise stop

    old = tmp_path / NAME / "old.txt"
    old.parent.mkdir()
    old.write_text("precious")
    with serving(BODY, headers=TAG) as server:
        with monkeypatch.context() as patch:
            patch.setattr(download_module, "unpack_treebank", unpack)
            with pytest.raises(stop):
                download(NAME, root=tmp_path, url=server.url, force=True)
        assert old.read_text() == "precious"
        assert len(list((tmp_path / PLACE).iterdir())) == 2
        assert_brought(server, tmp_path, force=True)
        assert server.sent == len(BODY) + 1


def test_a_full_disk_is_reported_and_not_filled_with_a_part(tmp_path, monkeypatch):
    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(PartialFile, "open_at", lambda *_: Full())
    with (
        serving(BODY, headers=TAG) as server,
        pytest.raises(TreebankError, match=r"cannot be written .*No space left.*make room"),
    ):
        download(NAME, root=tmp_path, url=server.url)
    assert names_in(tmp_path) == []
    assert len(server.asked) == 1


def test_what_a_killed_download_left_is_removed_by_the_next(tmp_path):
    left = tmp_path / PLACE / NAME / "half.conllu"
    left.parent.mkdir(parents=True)
    left.write_text("half")
    (tmp_path / PLACE / "archive.tar.gz").write_text("of no known origin")
    (tmp_path / PLACE / "link").symlink_to(tmp_path / "elsewhere")
    with serving(BODY) as server:
        assert_brought(server, tmp_path)
    assert not (tmp_path / NAME / "half.conllu").exists()


def test_a_treebank_that_a_killed_download_moved_away_comes_back(tmp_path):
    old = tmp_path / PLACE / "replaced" / "old.txt"
    old.parent.mkdir(parents=True)
    old.write_text("precious")
    with serving(BODY) as server, pytest.raises(TreebankError, match="is there already"):
        download(NAME, root=tmp_path, url=server.url)
    assert (tmp_path / NAME / "old.txt").read_text() == "precious"
    assert names_in(tmp_path) == [NAME]


def test_what_a_killed_download_left_beside_its_target_is_removed_without_force_too(tmp_path):
    for left in (tmp_path / NAME, tmp_path / PLACE / "replaced"):
        left.mkdir(parents=True)
    with serving(BODY) as server, pytest.raises(TreebankError, match="is there already"):
        download(NAME, root=tmp_path, url=server.url)
    assert names_in(tmp_path) == [NAME]


def test_a_workplace_that_leads_elsewhere_is_not_used(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "archive.tar.gz").write_text("mine")
    root = tmp_path / "ud"
    root.mkdir()
    (root / PLACE).symlink_to(elsewhere)
    with serving(BODY) as server:
        assert_brought(server, root)
    assert [path.read_text() for path in elsewhere.iterdir()] == ["mine"]


def test_waiting_for_another_download_has_an_end(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(download_module, "WAIT_SECONDS", 0.2)
    began = time.monotonic()
    with (
        serving(BODY) as server,
        FileLock(tmp_path / LOCK),
        pytest.raises(TreebankError, match=f"writing it for 0.2 s .it holds .*{LOCK}"),
    ):
        download(NAME, root=tmp_path, url=server.url)
    assert time.monotonic() - began < 4
    assert "waiting for its end, at most 0.2 s" in capsys.readouterr().err
    assert server.asked == []


def test_downloads_of_different_treebanks_do_not_wait_for_each_other(tmp_path):
    other = {name.replace(NAME, "UD_Latin-OneMore"): data for name, data in GOOD.items()}
    with serving(archive(other)) as server, FileLock(tmp_path / LOCK):
        assert download("UD_Latin-OneMore", root=tmp_path, url=server.url).is_dir()

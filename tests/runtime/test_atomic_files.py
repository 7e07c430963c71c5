"""Files that are written completely or not at all."""

import errno
import os
import stat
from contextlib import nullcontext
from pathlib import Path

import pytest

from dyparse.errors import ConfigError
from dyparse.runtime.atomic_files import replacing, require_apart, write, write_all


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail():
        with replacing(path) as temporary:
            temporary.write_bytes(b"half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("file", b"old")]
    with path.open("rb") as reader:
        write(path, b"new")
        assert reader.read() == b"old"  # another file took its name
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("file", b"new")]


def test_several_files_are_all_flushed_before_the_first_is_renamed_and_renamed_in_order(
    tmp_path, monkeypatch
):
    events = []
    flush, rename = os.fsync, Path.replace

    def flushing(descriptor):
        is_directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        events.append("flush directory" if is_directory else "flush")
        flush(descriptor)

    def renaming(self, target):
        events.append(target.name)
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", flushing)
    monkeypatch.setattr(Path, "replace", renaming)
    write_all({tmp_path / "b": b"1", tmp_path / "a": b"2"})
    assert events == ["flush", "flush", "b", "a", "flush directory"]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"2", "b": b"1"}


def test_one_file_that_cannot_be_written_leaves_all_old_ones(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "directory").mkdir()
    with pytest.raises(IsADirectoryError, match="expected a file"):
        write_all({tmp_path / "a": b"new", tmp_path / "directory": b"new"})
    with pytest.raises(FileNotFoundError) as raised:
        write_all({tmp_path / "a": b"new", tmp_path / "none" / "b": b"new"})
    assert raised.value.filename == str(tmp_path / "none")  # the directory that is missing
    assert (tmp_path / "a").read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} == {"a", "directory"}


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EIO])
def test_a_file_system_that_cannot_flush_directories_is_fine_and_a_broken_disk_an_error(
    tmp_path, monkeypatch, number
):
    flush = os.fsync

    def fails(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", fails)
    expected = (
        pytest.raises(OSError, match="Input/output") if number == errno.EIO else nullcontext()
    )
    with expected:
        write(tmp_path / "file", b"new")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("file", b"new")]


def test_what_is_written_must_be_apart_from_what_is_read(tmp_path):
    read = tmp_path / "read"
    read.write_bytes(b"x")
    link = tmp_path / "link"
    link.symlink_to(read)
    require_apart({"-o": tmp_path / "new", "--csv": None, "json": None}, [read])
    for path in (read, link, tmp_path / "." / "read"):
        with pytest.raises(ConfigError, match=r"-o is .*, which is read; name another file"):
            require_apart({"-o": path}, [read])
    with pytest.raises(ConfigError, match=r"json is .*, as -o is; name another file"):
        require_apart({"-o": tmp_path / "new", "json": tmp_path / "new"}, [])


def test_a_pipe_is_written_to_and_a_link_keeps_pointing_to_its_file(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write(link, b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    write(Path(os.devnull), b"gone")
    assert not Path(os.devnull).is_file()

"""Files that are written whole or not at all."""

import pytest

from dyparse.output_file import replacing, write


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


def test_a_directory_is_not_written_over(tmp_path):
    with pytest.raises(IsADirectoryError, match="expected a file"):
        write(tmp_path, b"x")
    assert not list(tmp_path.iterdir())

"""The files of one treebank out of an archive that nobody vouches for."""

from __future__ import annotations

import gzip
import re
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from dyparse.errors import TreebankError

WANTED = re.compile(r"[\w.+-]+\.conllu|(LICENSE|README)[\w.+-]*", re.ASCII)
CHUNK_BYTES = 1 << 16


class LimitedGzip(gzip.GzipFile):
    """A gzip file that must not hold more than so many bytes."""

    def __init__(self, path: Path, max_bytes: int, address: str) -> None:
        super().__init__(path, "rb")
        self.max_bytes, self.address, self.bytes_read = max_bytes, address, 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.bytes_read += len(data)
        if self.bytes_read > self.max_bytes:
            raise TreebankError(
                f"{self.address}: unpacks to more than {self.max_bytes} bytes; raise --max-bytes "
                "if that is right"
            )
        return data


def unpack_treebank(
    archive: Path, name: str, directory: Path, *, max_bytes: int, address: str
) -> None:
    """Writes *.conllu, LICENSE* and README* of treebank `name` flat into `directory`.

    They stand in a folder `name-<tag>` (a repository) or `<release>/name` (a whole release); its
    subfolders are left out, as UD keeps there what is not to be released.
    """
    try:
        with LimitedGzip(archive, max_bytes, address) as file:
            with tarfile.open(fileobj=file, mode="r|") as tar:
                for member in tar:
                    if _is_wanted(member, name, address):
                        _write(tar, member, directory, address)
            while file.read(CHUNK_BYTES):  # to the end, where gzip keeps its checksum
                pass
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TreebankError(
            f"{address}: not a sound .tar.gz archive ({error}); try again, or check the address"
        ) from None
    if not any(directory.glob("*.conllu")):
        raise TreebankError(
            f"{address}: no .conllu file of {name} in the archive; check the name and the release: "
            "some treebanks are published without data"
        )


def _is_wanted(member: tarfile.TarInfo, name: str, address: str) -> bool:
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts:
        raise TreebankError(
            f"{address}: member {member.name!r} points outside the archive; expected the "
            "archive of a UD treebank: check the address"
        )
    *above, folder = path.parent.parts or ("",)
    is_folder = (folder == name and len(above) < 2) or (folder.startswith(f"{name}-") and not above)
    is_wanted = is_folder and WANTED.fullmatch(path.name) is not None
    if is_wanted and not member.isfile():
        raise TreebankError(
            f"{address}: member {member.name!r} is a link, folder or device; expected a plain "
            "file: check the address"
        )
    return is_wanted


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, directory: Path, address: str) -> None:
    source = tar.extractfile(member)
    assert source is not None
    target = directory / PurePosixPath(member.name).name
    if target.exists():
        raise TreebankError(
            f"{address}: two members are called {target.name!r}; expected one treebank: "
            "check the address"
        )
    with source, open(target, "wb") as file:
        while chunk := source.read(CHUNK_BYTES):
            file.write(chunk)

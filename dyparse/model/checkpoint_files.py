"""The files of a model directory as bytes: regular files of bounded size, with their checksums.

`manifest.sha256` lists the sha256 of every other file, as `sha256sum --check manifest.sha256` reads
it. It is written last: as long as it does not fit, the directory is no model.
"""

import hashlib
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dyparse.errors import CheckpointError
from dyparse.runtime.atomic_files import write_all

CONFIG, VOCABULARY, WEIGHTS, METRICS = (
    "config.yaml",
    "vocabulary.json",
    "model.safetensors",
    "metrics.json",
)
LISTED = (CONFIG, VOCABULARY, WEIGHTS, METRICS)  # in the order in which they get their names
DECISIVE = (CONFIG, VOCABULARY, WEIGHTS)  # what trees depend on
MANIFEST = "manifest.sha256"
CHUNK = 1 << 20
MOST_BYTES = {  # of weights there may be as many as the config says
    CONFIG: 64 << 10,
    VOCABULARY: 256 << 20,
    METRICS: 16 << 20,
    MANIFEST: 4 << 10,
}
LINE = re.compile(r"([0-9a-f]{64})  (\S+)")
LONGEST_FINDING = 200


@dataclass(frozen=True)
class ModelFiles:
    """A model directory and the checksums that its files must have, if it has a manifest."""

    directory: Path
    checksums: Mapping[str, str] | None

    @classmethod
    def open(cls, directory: str | Path) -> "ModelFiles":
        """CheckpointError if there is no directory, or something else in place of its manifest."""
        path = require_directory(directory)
        has_manifest = os.path.lexists(path / MANIFEST)
        return cls(path, _checksums(path / MANIFEST) if has_manifest else None)

    def read(self, name: str, most: int | None = None) -> bytes:
        """All of a file, if it is not larger than `most` and is the one that was written."""
        content = read_file(self.directory / name, MOST_BYTES[name] if most is None else most)
        self.require_same(name, content)
        return content

    def require_same(self, name: str, content: bytes) -> None:
        """CheckpointError if the manifest was written for other content of the file."""
        if self.checksums is not None and checksum(content) != self.checksums[name]:
            raise CheckpointError(
                f"{self.directory / name}: damaged, of another model, or saving was interrupted "
                f"(its sha256 is not the one in {MANIFEST}); copy the whole directory anew or "
                "train again"
            )


def write_files(directory: Path, contents: Mapping[str, bytes]) -> None:
    """Write all files of a model and their manifest.

    The config gets its name first: in place of one of an older format, it asks for the manifest,
    which comes last.
    """
    assert tuple(contents) == LISTED
    _require_readable(directory, contents)
    checksums = {name: checksum(content) for name, content in contents.items()}
    directory.mkdir(parents=True, exist_ok=True)
    files = {**contents, MANIFEST: _manifest(checksums)}
    write_all({directory / name: content for name, content in files.items()})


def rewrite_file(directory: Path, name: str, content: bytes) -> None:
    """Write one file of a model anew, and its line in the manifest if there is one."""
    files = {name: content}
    _require_readable(directory, files)
    checksums = ModelFiles.open(directory).checksums
    if checksums is not None:
        files[MANIFEST] = _manifest({**checksums, name: checksum(content)})
    write_all({directory / name: content for name, content in files.items()})


def read_file(path: Path, most: int) -> bytes:
    """All of a regular file of at most so many bytes; nothing else is even opened."""
    size = size_of(path)
    if size > most:
        raise damaged(path, f"{size} bytes, expected at most {most}")
    try:
        with path.open("rb") as file:
            content = file.read(size)
    except OSError as error:
        raise _unreadable(path, error) from error
    except MemoryError as error:
        raise CheckpointError(
            f"{path}: no memory for its {size} bytes; free some, or use another machine"
        ) from error
    if len(content) != size:
        raise damaged(path, "it ends too early")
    return content


def size_of(path: Path) -> int:
    """Bytes of a file of a model, if it is a regular one.

    It is not opened for that: a pipe would block, and a device might do anything.
    """
    try:
        status = os.stat(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    if not stat.S_ISREG(status.st_mode):
        raise damaged(path, "no regular file")
    return status.st_size


def checksum(content: bytes) -> str:
    """As `sha256sum` prints it."""
    return hashlib.sha256(content).hexdigest()


def damaged(path: Path, finding: str) -> CheckpointError:
    """The error for a file that is there but cannot be used.

    What was found may come out of the file: it is shortened, and harmless on a terminal.
    """
    shown = _printable(" ".join(finding.split()))[:LONGEST_FINDING]
    return CheckpointError(
        f"{path}: damaged or of another model ({shown}); copy it anew or train again"
    )


def _unreadable(path: Path, error: OSError) -> CheckpointError:
    return CheckpointError(
        f"{path}: {error.strerror or error}; "
        f"a model directory holds {', '.join(LISTED)} and {MANIFEST}"
    )


def digest_of_model(directory: str | Path) -> str:
    """The same for equal models only; CheckpointError if one of its files is not there."""
    digest = hashlib.sha256()
    for name in DECISIVE:
        path = require_directory(directory) / name
        size_of(path)  # of a regular file: reading a pipe might never end
        try:
            digest.update(sha256_of(path).encode())
        except OSError as error:
            raise CheckpointError(
                f"{path}: {error.strerror or error}; train.py prints where it saves a model"
            ) from error
    return digest.hexdigest()


def sha256_of(path: str | Path) -> str:
    """The checksum of a file of any size."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def files_of_model(directory: str | Path) -> list[Path]:
    """All that may be in a model directory."""
    return [Path(directory) / name for name in (*LISTED, MANIFEST)]


def require_directory(directory: str | Path) -> Path:
    """The path, if it is that of a directory."""
    reason = ""
    try:
        if stat.S_ISDIR(os.stat(directory).st_mode):
            return Path(directory)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = f" ({getattr(error, 'strerror', None) or error})"
    raise CheckpointError(
        f"{_printable(str(directory)) or repr('')}: no such model directory{reason}; "
        "train.py prints where it saves a model"
    )


def _printable(text: str) -> str:
    """Without what might do something to a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _require_readable(directory: Path, contents: Mapping[str, bytes]) -> None:
    for name, content in contents.items():
        if len(content) > MOST_BYTES.get(name, len(content)):
            raise CheckpointError(
                f"{directory / name}: not saved, for its {len(content)} bytes are more than the "
                f"{MOST_BYTES[name]} that would be read again; leave something out"
            )


def _manifest(checksums: Mapping[str, str]) -> bytes:
    return "".join(f"{checksums[name]}  {name}\n" for name in LISTED).encode()


def _checksums(path: Path) -> dict[str, str]:
    """The manifest's checksums; it lists the files of a model, each once, and nothing else."""
    *lines, rest = read_file(path, MOST_BYTES[MANIFEST]).decode("ascii", "replace").split("\n")
    found = [(match[2], match[1]) for line in lines if (match := LINE.fullmatch(line))]
    if rest or len(found) < len(lines) or sorted(name for name, _ in found) != sorted(LISTED):
        raise damaged(path, f"expected a line for each of {', '.join(LISTED)}, as sha256sum writes")
    return dict(found)

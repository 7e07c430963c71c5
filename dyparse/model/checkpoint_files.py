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
from itertools import chain
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
DECISIVE = (CONFIG, VOCABULARY, WEIGHTS)  # trees depend on these, and on the parts' own files
ENCODER, TOKENIZER = "encoder", "tokenizer"  # parts with files of their own: their directories
MANIFEST = "manifest.sha256"
MODEL = "model"  # the model directory within the directory of a run
CHUNK = 1 << 20
MOST_BYTES = {  # the size of the weights follows from the config
    CONFIG: 64 << 10,
    VOCABULARY: 256 << 20,
    METRICS: 16 << 20,
    MANIFEST: 64 << 10,
}
MOST_OWN_FILES, MOST_OWN_BYTES = 64, 256 << 20  # of all parts together
LINE = re.compile(r"([0-9a-f]{64})  (\S+)")
OWN_FILE = re.compile(rf"({ENCODER}|{TOKENIZER})/(\w[\w.-]*)", re.ASCII)
LONGEST_FINDING = 200


@dataclass(frozen=True)
class ModelFiles:
    """A model directory and the checksums that its files must have."""

    directory: Path
    checksums: Mapping[str, str]

    @classmethod
    def open(cls, directory: str | Path) -> "ModelFiles":
        """CheckpointError if there is no directory, or no sound manifest in it."""
        path = require_directory(directory)
        size_of(path / CONFIG)  # the clearer message where there is no model at all
        if not os.path.lexists(path / MANIFEST):
            raise damaged(path / MANIFEST, "it is missing: was saving interrupted?")
        return cls(path, read_manifest(path / MANIFEST))

    def own_files(self) -> list[str]:
        """Names of the files of parts, with their directories."""
        return [name for name in self.checksums if OWN_FILE.fullmatch(name)]

    def read_own_files(self) -> dict[str, dict[str, bytes]]:
        """The own files of every part, by name."""
        most = MOST_OWN_BYTES
        contents: dict[str, dict[str, bytes]] = {ENCODER: {}, TOKENIZER: {}}
        for name in self.own_files():
            part, _, plain = name.partition("/")
            contents[part][plain] = self.read(name, most)
            most -= len(contents[part][plain])
        return contents

    def contents(self) -> dict[str, bytes]:
        """All files of the model, by name, and their manifest."""
        manifest = read_file(self.directory / MANIFEST, MOST_BYTES[MANIFEST])
        listed = {name: self.read(name, size_of(self.directory / name)) for name in self.checksums}
        return {**listed, MANIFEST: manifest}

    def read(self, name: str, most: int | None = None) -> bytes:
        """All of a file, if it is not larger than `most` and is the one that was written."""
        content = read_file(self.directory / name, MOST_BYTES[name] if most is None else most)
        if checksum(content) != self.checksums[name]:
            raise CheckpointError(
                f"{self.directory / name}: damaged, of another model, or saving was interrupted "
                f"(its sha256 is not the one in {MANIFEST}); copy the whole directory again or "
                "train again"
            )
        return content


def write_files(directory: Path, contents: Mapping[str, bytes]) -> None:
    """Write all files of a model and their manifest, which comes last: until it fits, the directory
    is no model.
    """
    assert tuple(contents)[: len(LISTED)] == LISTED
    for name in list(contents)[len(LISTED) :]:
        if not OWN_FILE.fullmatch(name):
            raise CheckpointError(
                f"{directory / name}: not saved, for a file of a part needs a plain name: "
                "letters, digits, dots and dashes"
            )
    _require_readable(directory, contents)
    for path in {(directory / name).parent for name in contents}:
        path.mkdir(parents=True, exist_ok=True)
    files = with_manifest(contents)
    write_all({directory / name: content for name, content in files.items()})
    for left in set(files_of_model(directory)) - {directory / name for name in files}:
        left.unlink(missing_ok=True)  # of an earlier model


def with_manifest(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a model and, last, the manifest that fits them."""
    files = {name: content for name, content in contents.items() if name != MANIFEST}
    checksums = {name: checksum(content) for name, content in files.items()}
    return {**files, MANIFEST: _manifest(checksums)}


def rewrite_file(directory: Path, name: str, content: bytes) -> None:
    """Replace one file of a model, and its line in the manifest."""
    files = {name: content}
    _require_readable(directory, files)
    model = ModelFiles.open(directory)
    files[MANIFEST] = _manifest({**model.checksums, name: checksum(content)})
    write_all({model.directory / name: content for name, content in files.items()})


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

    The finding may quote the file: it is shortened, and made harmless for a terminal.
    """
    return CheckpointError(
        f"{path}: damaged or of another model ({shortened(finding)}); copy it again or train again"
    )


def shortened(finding: str) -> str:
    """A finding in one line of bounded length, without what might do something to a terminal."""
    return _printable(" ".join(finding.split()))[:LONGEST_FINDING]


def _unreadable(path: Path, error: OSError) -> CheckpointError:
    return CheckpointError(
        f"{path}: {error.strerror or error}; "
        f"a model directory holds {', '.join(LISTED)} and {MANIFEST}"
    )


def digest_of_model(directory: str | Path) -> str:
    """The same for equal models only; CheckpointError if one of its files is not there."""
    files = ModelFiles.open(directory)
    digest = hashlib.sha256()
    for name in (*DECISIVE, *sorted(files.own_files())):
        path = files.directory / name
        size_of(path)  # of a regular file: reading a pipe might never end
        digest.update(name.encode())
        try:
            digest.update(sha256_of(path).encode())
        except OSError as error:
            raise CheckpointError(
                f"{path}: {error.strerror or error}; training prints where it saves a model"
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
    """All files that belong to a model directory."""
    path = _within_run(Path(directory))
    own = (sorted((path / part).glob("*")) for part in (ENCODER, TOKENIZER))
    return [*(path / name for name in (*LISTED, MANIFEST)), *chain.from_iterable(own)]


def require_directory(directory: str | Path) -> Path:
    """The path of a model directory, which may be given as that of the run that saved it."""
    reason = ""
    try:
        if stat.S_ISDIR(os.stat(directory).st_mode):
            path = _within_run(Path(directory))
            _require_no_bare_run(path)
            return path
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = f" ({getattr(error, 'strerror', None) or error})"
    raise CheckpointError(
        f"{_printable(str(directory)) or repr('')}: no such model directory{reason}; "
        "training prints where it saves a model"
    )


def _within_run(path: Path) -> Path:
    """The model directory of a run; any other path as it is."""
    is_run = not _holds_model_files(path) and os.path.isdir(path / MODEL)
    return path / MODEL if is_run else path


def _require_no_bare_run(path: Path) -> None:
    """CheckpointError for the directory of a run that holds options and no model."""
    if os.path.isfile(path / CONFIG) and not _holds_model_files(path):
        raise CheckpointError(
            f"{_printable(str(path))}: a run without a model: its training saved none yet, or it "
            "was removed; start the same training again, which resumes, or name another directory"
        )


def _holds_model_files(path: Path) -> bool:
    """Whether there is any file that only a model directory has."""
    return any(os.path.lexists(path / name) for name in (VOCABULARY, WEIGHTS, METRICS, MANIFEST))


def _printable(text: str) -> str:
    """Without what might do something to a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _require_readable(directory: Path, contents: Mapping[str, bytes]) -> None:
    """CheckpointError for what would be refused when it is read again."""
    for name, content in contents.items():
        if len(content) > MOST_BYTES.get(name, len(content)):
            raise CheckpointError(
                f"{directory / name}: not saved, for its {len(content)} bytes are more than the "
                f"{MOST_BYTES[name]} that would be read again; leave something out"
            )
    sizes = [len(content) for name, content in contents.items() if OWN_FILE.fullmatch(name)]
    if len(sizes) > MOST_OWN_FILES or sum(sizes) > MOST_OWN_BYTES:
        raise CheckpointError(
            f"{directory}: not saved, for encoder and tokenizer have {len(sizes)} files of "
            f"{sum(sizes)} bytes, more than the {MOST_OWN_FILES} of {MOST_OWN_BYTES} that would be "
            "read again"
        )


def _manifest(checksums: Mapping[str, str]) -> bytes:
    return "".join(f"{digest}  {name}\n" for name, digest in checksums.items()).encode()


def read_manifest(path: Path) -> dict[str, str]:
    """The checksums in a manifest; it lists the files of a model, each once, and nothing else."""
    *lines, rest = read_file(path, MOST_BYTES[MANIFEST]).decode("ascii", "replace").split("\n")
    found = [(match[2], match[1]) for line in lines if (match := LINE.fullmatch(line))]
    names = [name for name, _ in found]
    own = [name for name in names if OWN_FILE.fullmatch(name)]
    is_complete = sorted({*names} - {*own}) == sorted(LISTED) and len({*names}) == len(names)
    if rest or len(found) < len(lines) or not is_complete or len(own) > MOST_OWN_FILES:
        raise damaged(path, f"expected a line for each of {', '.join(LISTED)}, as sha256sum writes")
    return dict(found)

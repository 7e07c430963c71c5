"""Downloads one treebank of a Universal Dependencies release.

Each treebank is a GitHub repository in which every release is tagged, UD 2.17 as r2.17. GitHub
builds a tag's archive on demand and does not promise that its checksum stays the same, so the
record beside the treebank lists the checksum of each file as well.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import sys
import tarfile
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from tqdm import tqdm

from dyparse.errors import TreebankError
from dyparse.runtime.locks import exclusive_directory
from dyparse.version import __version__

RELEASE = "2.17"
URL = "https://github.com/UniversalDependencies/{name}/archive/refs/tags/r{release}.tar.gz"
MAX_BYTES = 1 << 30
RECORD = "download.txt"

TIMEOUT = 30.0  # seconds to connect, and between any two reads
PAUSE_SECONDS: tuple[float, ...] = (1.0, 3.0, 9.0)  # before the second, third and fourth try
CHUNK_BYTES = 1 << 16
BUSY = (408, 429, 500, 502, 503, 504)  # HTTP statuses that are worth another try
WANTED = re.compile(r"[\w.+-]+\.conllu|(LICENSE|README)[\w.+-]*", re.ASCII)


def download(  # noqa: PLR0913  (all but the name are options of one command)
    name: str,
    *,
    root: str | os.PathLike[str] = "ud",
    release: str = RELEASE,
    url: str = URL,
    sha256: str | None = None,
    max_bytes: int = MAX_BYTES,
    force: bool = False,
) -> Path:
    """Puts treebank `name` of a UD release into `root/name`, whole or not at all.

    `url` is the address of a .tar.gz and may hold {name} and {release}; `sha256` is the checksum of
    that archive. `max_bytes` limits both the archive and its unpacked contents. An existing
    treebank is replaced only with `force`. `download.txt` records the address and the checksums.
    """
    address = _address(name, release, url)
    target = Path(root).expanduser() / name
    try:
        with _workspace(target) as work:
            if target.exists() and not force:
                raise TreebankError(f"{target}: is there already; replace it with --force")
            archive, new = work / "archive.tar.gz", work / "new"
            checksum = _fetch(address, archive, max_bytes)
            if sha256 is not None and checksum != sha256.strip().lower():
                raise TreebankError(
                    f"{address}: the archive's SHA-256 is {checksum}, expected {sha256}; check the "
                    "address, or leave out --sha256 if you trust it"
                )
            new.mkdir()
            _unpack(archive, name, new, max_bytes, address)
            _write_record(new, address, checksum)
            if target.exists():
                target.rename(work / "old")
            new.rename(target)
    except OSError as error:
        raise TreebankError(
            f"{target}: cannot be written ({error}); check free space and permissions, or choose "
            "another --root"
        ) from None
    return target


def _address(name: str, release: str, url: str) -> str:
    """The address of the archive, once name, release and URL have been checked."""
    if not re.fullmatch(r"UD_[A-Za-z_]+(-[A-Za-z0-9_]+)?", name):
        raise TreebankError(
            f"{name!r} is not the name of a UD treebank; expected one such as UD_English-EWT, "
            "as listed at https://universaldependencies.org"
        )
    number = release.removeprefix("r").removeprefix("v")
    if not re.fullmatch(r"[0-9]+\.[0-9]+", number):
        raise TreebankError(f"{release!r} is not a UD release; expected one such as {RELEASE}")
    address = url.replace("{name}", name).replace("{release}", number)
    try:
        parts = urlsplit(address)
    except ValueError:  # such as an open bracket
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise TreebankError(f"{address}: not a web address; expected https://... or http://...")
    if parts.username is not None or parts.password is not None:
        raise TreebankError(
            f"{parts.hostname}: the address holds a user name or password, which would be written "
            f"to {RECORD}; use an address without them"
        )
    return address


@contextmanager
def _workspace(target: Path) -> Iterator[Path]:
    """A hidden directory beside the target, for this process alone; cleared before and after.

    Only its lock file stays: if that were removed, two processes could each lock one of their own.
    """
    work = target.with_name(f".{target.name}.download")
    with exclusive_directory(work, "downloading", "--root"):
        _clear(work, target)  # what a killed download left
        try:
            yield work
        finally:
            _clear(work, target)


def _clear(work: Path, target: Path) -> None:
    """Removes temporary files; an old treebank whose successor did not arrive is moved back."""
    if (work / "old").exists() and not target.exists():
        (work / "old").rename(target)
    for name in ("archive.tar.gz", "archive.tar", "new", "old"):
        path = work / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _fetch(address: str, path: Path, max_bytes: int) -> str:
    """Saves what is at the address, in a few tries if the connection fails; returns its SHA-256."""
    import requests  # here: loading it takes longer than most commands
    from urllib3.exceptions import HTTPError

    headers = {"User-Agent": f"dyparse/{__version__}", "Accept-Encoding": "identity"}
    for pause in (*PAUSE_SECONDS, None):
        try:
            with requests.get(address, headers=headers, stream=True, timeout=TIMEOUT) as response:
                schemes = [urlsplit(step.url).scheme for step in (*response.history, response)]
                if schemes[0] == "https" and "http" in schemes:
                    raise TreebankError(f"{address}: redirects to plain http; check the address")
                if response.ok:
                    body = response.raw.stream(CHUNK_BYTES, decode_content=False)
                    return _copy(body, path, max_bytes, address, response.raw.length_remaining)
                finding = f"the server answers {response.status_code} {response.reason!r}"
                if response.status_code not in BUSY:
                    hint = "check the name and the address; not every release has every treebank"
                    raise TreebankError(f"{address}: {finding}; {hint}")
        except (requests.ConnectionError, requests.Timeout, HTTPError) as error:
            finding = f"the connection failed ({_root_cause(error)!r})"
        except requests.RequestException as error:
            raise TreebankError(f"{address}: {error}; check the address") from None
        if pause is not None:
            sys.stderr.write(f"{address}: {finding}; trying again in {pause:g} s\n")
            time.sleep(pause)
    raise TreebankError(f"{address}: {finding}; check the network, or try again later")


def _root_cause(error: BaseException) -> BaseException:
    """The system's own error, without the layers that libraries wrap around it."""
    while inner := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        error = inner
    return error


def _copy(
    chunks: Iterable[bytes], path: Path, max_bytes: int, address: str, size: int | None = None
) -> str:
    """Writes at most `max_bytes` to a file, with a progress bar; returns their SHA-256."""
    received, digest = 0, hashlib.sha256()
    bar = tqdm(total=size, unit="B", unit_scale=True, desc=path.name, disable=None)
    with open(path, "wb") as file, bar:
        for chunk in chunks:
            received += len(chunk)
            if max(received, size or 0) > max_bytes:
                raise TreebankError(
                    f"{address}: more than {max_bytes} bytes in {path.name}; raise --max-bytes if "
                    "that is right"
                )
            file.write(chunk)
            digest.update(chunk)
            bar.update(len(chunk))
    return digest.hexdigest()


def _unpack(archive: Path, name: str, directory: Path, max_bytes: int, address: str) -> None:
    """Copies *.conllu, LICENSE* and README* of treebank `name` out of an archive.

    tarfile extracts nothing: the content of each wanted member goes to a file of our own, so that
    no path, link, owner or mode of the archive takes effect.
    """
    plain = archive.with_suffix("")
    try:
        with gzip.open(archive) as packed:  # to its end, where gzip keeps a checksum
            _copy(iter(lambda: packed.read(CHUNK_BYTES), b""), plain, max_bytes, address)
        with tarfile.open(plain, "r:") as tar:
            for member in tar:
                if _is_wanted(member, name, address) and (source := tar.extractfile(member)):
                    with open(directory / PurePosixPath(member.name).name, "xb") as copy:
                        shutil.copyfileobj(source, copy)
                        copy.flush()
                        os.fsync(copy.fileno())
    except (tarfile.TarError, EOFError, ValueError, zlib.error, gzip.BadGzipFile) as error:
        raise TreebankError(
            f"{address}: not an intact .tar.gz archive ({error}); try again, or check the address"
        ) from None
    if not any(directory.glob("*.conllu")):
        raise TreebankError(
            f"{address}: no .conllu file of {name} in the archive; check the name and the release: "
            "some treebanks are published without data"
        )


def _is_wanted(member: tarfile.TarInfo, name: str, address: str) -> bool:
    """Whether a member is one of the treebank's files, directly in its folder.

    The folder is `name-<tag>` in the archive of a repository, `<release>/name` in that of a whole
    release; UD keeps in its subfolders what is not to be released.
    """
    path = PurePosixPath(member.name)
    *above, folder = path.parent.parts or ("",)
    is_folder = (folder == name and len(above) < 2) or (folder.startswith(f"{name}-") and not above)
    is_wanted = is_folder and WANTED.fullmatch(path.name) is not None
    is_plain = member.isfile() and not member.issparse()  # holes would be unlimited bytes
    if path.is_absolute() or ".." in path.parts or (is_wanted and not is_plain):
        raise TreebankError(
            f"{address}: member {member.name!r} of the archive points outside it or is not a plain "
            "file; expected the archive of a UD treebank: check the address"
        )
    return is_wanted


def _write_record(directory: Path, address: str, checksum: str) -> None:
    """Writes where the treebank came from, and checksums in the form of `sha256sum --check`.

    The query of the address is left out, as it may hold a token.
    """
    lines = [f"# {address.partition('?')[0]}", f"# archive sha256 {checksum}"]
    for path in sorted(directory.iterdir()):
        lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
    (directory / RECORD).write_text("\n".join(lines) + "\n", encoding="utf-8")

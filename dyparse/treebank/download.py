"""One treebank of a Universal Dependencies release, fetched from its repository.

A release as a whole is one large archive at LINDAT; each treebank is also a GitHub repository,
where every release is tagged: r2.17 for UD 2.17 (`release_checklist_task_force.md` of
UniversalDependencies/docs). GitHub makes a tag's archive on demand and does not promise that its
bytes, and so its checksum, stay the same for ever; hence the record beside the treebank also holds
the checksum of each file.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import ssl
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from tqdm import tqdm

from dyparse.errors import TreebankError
from dyparse.treebank.archive import unpack_treebank
from dyparse.version import __version__

RELEASE = "2.17"
URL = "https://github.com/UniversalDependencies/{name}/archive/refs/tags/r{release}.tar.gz"
MAX_BYTES = 1 << 30
RECORD = "download.txt"

TIMEOUT_SECONDS = 30.0
CHUNK_BYTES = 1 << 16


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
    """Places treebank `name` of a UD release in `root/name`, whole or not at all.

    `url` may hold {name} and {release}; it leads to a .tar.gz. `sha256` is of that archive. Neither
    what is fetched nor what is unpacked may exceed `max_bytes`. A treebank that is there already is
    replaced only with `force`. The file `download.txt` in it records address and checksums.
    """
    address = _address(name, release, url)
    target = Path(root).expanduser() / name
    if target.exists() and not force:
        raise TreebankError(f"{target}: is there already; remove it, or replace it with --force")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=target.parent) as temporary:
            archive, fresh = Path(temporary, "archive.tar.gz"), Path(temporary, name)
            checksum = _fetch(address, archive, max_bytes)
            _check_sum(checksum, sha256, address)
            fresh.mkdir()
            unpack_treebank(archive, name, fresh, max_bytes=max_bytes, address=address)
            _write_record(fresh, address, checksum)
            _place(fresh, target, Path(temporary, "replaced"))
    except OSError as error:
        raise TreebankError(
            f"{target}: cannot be written ({error}); make room or rights, or choose another --root"
        ) from None
    return target


def _address(name: str, release: str, url: str) -> str:
    if not re.fullmatch(r"UD_[A-Za-z_]+(-[A-Za-z0-9_]+)?", name):
        raise TreebankError(
            f"{name!r} is no name of a UD treebank; expected one such as UD_English-EWT, "
            "as listed at https://universaldependencies.org"
        )
    number = release.removeprefix("r").removeprefix("v")
    if not re.fullmatch(r"[0-9]+\.[0-9]+", number):
        raise TreebankError(f"release {release!r} is not known; expected one such as {RELEASE}")
    address = url.replace("{name}", name).replace("{release}", number)
    if urlsplit(address).scheme not in ("http", "https"):
        raise TreebankError(f"{address}: not a web address; expected https://... or http://...")
    return address


def _fetch(address: str, archive: Path, max_bytes: int) -> str:
    """Writes what is at an address to a file; returns its SHA-256."""
    request = urllib.request.Request(address, headers={"User-Agent": f"dyparse/{__version__}"})
    try:
        with (
            urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response,
            open(archive, "wb") as file,
        ):
            return _copy(response, file, address, max_bytes)
    except urllib.error.HTTPError as error:
        error.close()
        hint = "check the name and --release" if error.code == 404 else "try again later"
        answer = f"the server answers {error.code} {error.msg}"
        raise TreebankError(f"{address}: {answer}; {hint}") from None
    except urllib.error.URLError as error:
        raise TreebankError(
            f"{address}: cannot be reached ({error.reason}); check the address and the connection"
        ) from None
    except (http.client.HTTPException, TimeoutError, ConnectionError, ssl.SSLError) as error:
        raise _dropped(address, str(error) or type(error).__name__) from None


def _copy(response: http.client.HTTPResponse, file: IO[bytes], address: str, max_bytes: int) -> str:
    length = response.headers.get("Content-Length", "")
    expected = int(length) if length.isdecimal() else None
    if expected is not None and expected > max_bytes:
        raise _too_large(address, expected, max_bytes)
    digest, received = hashlib.sha256(), 0
    with tqdm(total=expected, unit="B", unit_scale=True, disable=None) as bar:
        while chunk := response.read(CHUNK_BYTES):
            received += len(chunk)
            if received > max_bytes:
                raise _too_large(address, received, max_bytes)
            digest.update(chunk)
            file.write(chunk)
            bar.update(len(chunk))
    if expected is not None and received != expected:
        raise _dropped(address, f"{received} of {expected} bytes came")
    return digest.hexdigest()


def _too_large(address: str, size: int, max_bytes: int) -> TreebankError:
    return TreebankError(
        f"{address}: {size} bytes or more, above the limit of {max_bytes}; raise --max-bytes if "
        "that is right"
    )


def _dropped(address: str, reason: str) -> TreebankError:
    return TreebankError(f"{address}: the connection broke off ({reason}); try again")


def _check_sum(checksum: str, expected: str | None, address: str) -> None:
    if expected is not None and checksum != expected.strip().lower():
        raise TreebankError(
            f"{address}: its SHA-256 is {checksum}, not {expected}; the archive is another than "
            "expected: check the address, or drop --sha256 if you trust it"
        )


def _write_record(directory: Path, address: str, checksum: str) -> None:
    """Where the treebank came from; below, checksums as `sha256sum --check` reads them."""
    lines = [f"# {address}", f"# archive sha256 {checksum}"]
    for path in sorted(directory.iterdir()):
        lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
    (directory / RECORD).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _place(fresh: Path, target: Path, replaced: Path) -> None:
    """Renames the fresh directory to its target; what was there goes, or stays if that fails."""
    had_target = target.exists()
    if had_target:
        target.rename(replaced)
    try:
        fresh.rename(target)
    except OSError:
        if had_target:
            replaced.rename(target)
        raise

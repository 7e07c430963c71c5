"""One treebank of a Universal Dependencies release, fetched from its repository.

A release as a whole is one large archive at LINDAT; each treebank is also a GitHub repository,
where every release is tagged: r2.17 for UD 2.17 (`release_checklist_task_force.md` of
UniversalDependencies/docs). GitHub makes a tag's archive on demand and does not promise that its
bytes, and so its checksum, stay the same for ever; hence the record beside the treebank also holds
the checksum of each file.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from dyparse.data.download.archive import unpack_treebank
from dyparse.data.download.fetch import fetch
from dyparse.data.download.partial_file import PartialFile
from dyparse.data.download.web_answer import DroppedError
from dyparse.errors import TreebankError

RELEASE = "2.17"
URL = "https://github.com/UniversalDependencies/{name}/archive/refs/tags/r{release}.tar.gz"
MAX_BYTES = 1 << 30
RECORD = "download.txt"

WAIT_SECONDS = 1800.0  # for another download of the same treebank
REPLACED = "replaced"


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
    place = target.with_name(f".{name}.download")
    if not place.exists():  # else the target may be on its way, or moved away
        _require_free(target, force=force)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _sole_writer(target):
            _tidy(place, target)  # what a killed process left
            _require_free(target, force=force)
            with _workplace(place, target):
                part, fresh = PartialFile(place), place / name
                checksum = fetch(address, part, max_bytes)
                _check_sum(checksum, sha256, address)
                fresh.mkdir()
                unpack_treebank(part.path, name, fresh, max_bytes=max_bytes, address=address)
                _write_record(fresh, address, checksum)
                part.clear()
                _place(fresh, target, place / REPLACED)
    except OSError as error:
        raise TreebankError(
            f"{target}: cannot be written ({error}); make room or rights, or choose another --root"
        ) from None
    return target


def _require_free(target: Path, *, force: bool) -> None:
    if target.exists() and not force:
        raise TreebankError(f"{target}: is there already; remove it, or replace it with --force")


@contextmanager
def _sole_writer(target: Path) -> Iterator[None]:
    """Waits until no other process writes this target; the lock of one that is killed is free.

    The lock file stays: if it were removed, two that wait could lock two files of its name.
    """
    lock = FileLock(target.with_name(f".{target.name}.lock"))
    try:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            sys.stderr.write(
                f"{target}: another download is writing it; waiting for its end, at most "
                f"{WAIT_SECONDS:g} s\n"
            )
            lock.acquire(timeout=WAIT_SECONDS)
    except Timeout:
        raise TreebankError(
            f"{target}: another download has been writing it for {WAIT_SECONDS:g} s (it holds "
            f"{lock.lock_file}); try again when it has ended, or end it"
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _workplace(place: Path, target: Path) -> Iterator[None]:
    """A directory for what is not ready yet. Of it stays only a part that can be gone on with.

    That is one whose connection failed, or whose download was interrupted: not what was refused.
    """
    place.mkdir(exist_ok=True)
    try:
        yield
    except (TreebankError, OSError) as error:
        if not isinstance(error, DroppedError):
            PartialFile(place).clear()
        raise
    finally:
        _tidy(place, target)


def _tidy(place: Path, target: Path) -> None:
    """Empties the workplace but for a part that can be gone on with, and removes it if empty.

    A treebank that was moved away, and whose successor did not arrive, goes back.
    """
    if place.is_symlink() or not place.is_dir():
        place.unlink(missing_ok=True)
        return
    if (place / REPLACED).exists() and not target.exists():
        (place / REPLACED).rename(target)
    part = PartialFile(place)
    kept = {part.path, part.record} if part.can_go_on() else set()
    for path in set(place.iterdir()) - kept:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    if not any(place.iterdir()):
        place.rmdir()


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
    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise TreebankError(f"{address}: not a web address ({error}); check it") from None
    if parts.scheme not in ("http", "https"):
        raise TreebankError(f"{address}: not a web address; expected https://... or http://...")
    if parts.username is not None or parts.password is not None:
        raise TreebankError(
            f"{parts.hostname}: the address holds a name or password, which would be written to "
            f"{RECORD}; take one without"
        )
    return address


def _check_sum(checksum: str, expected: str | None, address: str) -> None:
    if expected is not None and checksum != expected.strip().lower():
        raise TreebankError(
            f"{address}: its SHA-256 is {checksum}, not {expected}; the archive is another than "
            "expected: check the address, or drop --sha256 if you trust it"
        )


def _write_record(directory: Path, address: str, checksum: str) -> None:
    """Where the treebank came from; below, checksums as `sha256sum --check` reads them.

    What follows a question mark in an address may be a token.
    """
    lines = [f"# {address.partition('?')[0]}", f"# archive sha256 {checksum}"]
    for path in sorted(directory.iterdir()):
        lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
    (directory / RECORD).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _place(fresh: Path, target: Path, replaced: Path) -> None:
    """Renames the fresh directory to its target, on the disk by then; what was there goes."""
    for path in fresh.iterdir():
        with open(path, "rb") as file:
            os.fsync(file.fileno())
    if target.exists():
        target.rename(replaced)
    fresh.rename(target)

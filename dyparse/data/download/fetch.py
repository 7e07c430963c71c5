"""One file from the web, over connections that break off, stall or lie.

What came is gone on with (RFC 9110: Range with If-Range) where the server has a validator that
tells the versions of the file apart, and begun anew where it has none, as with the archives that
GitHub makes on demand.
"""

from __future__ import annotations

import re
import sys
import time

from tqdm import tqdm

from dyparse.data.download.partial_file import Origin, PartialFile
from dyparse.data.download.web_answer import (
    Answer,
    DroppedError,
    MisfitError,
    UnreachableError,
    ask,
    validator_of,
)
from dyparse.errors import TreebankError
from dyparse.version import __version__

PAUSE_SECONDS: tuple[float, ...] = (1.0, 3.0, 9.0)  # before the second try, the third, the fourth
OK, PARTIAL_CONTENT = 200, 206


def fetch(address: str, part: PartialFile, max_bytes: int) -> str:
    """Fills `part` with the file at an address, going on with what came before; its SHA-256.

    DroppedError if it did not come in a few tries: what came may be gone on with later.
    """
    for pause in (*PAUSE_SECONDS, None):
        try:
            _try(address, part, max_bytes)
            break
        except DroppedError as error:
            if isinstance(error, MisfitError):
                part.clear()
            is_hopeless = isinstance(error, UnreachableError) and not part.size()
            if pause is None or is_hopeless:
                raise type(error)(f"{error}; {_remedy(error, part)}") from None
            start = part.start(address)
            how = f"going on from byte {start}" if start else "beginning anew"
            sys.stderr.write(f"{error}; {how} in {pause:g} s\n")
            time.sleep(pause)
    return part.sha256()


def _remedy(error: DroppedError, part: PartialFile) -> str:
    remedy = "try again later"
    if isinstance(error, UnreachableError):
        remedy = "check the address and the connection"
    return f"{remedy}; the next download goes on from there" if part.can_go_on() else remedy


def _try(address: str, part: PartialFile, max_bytes: int) -> None:
    """One connection: the rest of the file, or all of it if the server does not go on."""
    headers = {"User-Agent": f"dyparse/{__version__}"}
    origin, start = part.origin(), part.start(address)
    if origin is not None and origin.validator and start:
        headers |= {"Range": f"bytes={start}-", "If-Range": origin.validator}
    with ask(address, headers) as answer:
        if origin is not None and start and answer.status == PARTIAL_CONTENT:
            size: int | None = _size_if_it_fits(answer, origin, start)
        elif answer.status == OK:
            start, size = 0, answer.length
            part.begin(Origin(address, validator_of(answer.headers), size))
        else:
            raise TreebankError(
                f"{address}: the server answers {answer.status}, not with a file; check the address"
            )
        if size is not None and size > max_bytes:
            raise _too_large(address, size, max_bytes)
        _copy(answer, part, Origin(address, None, size), start, max_bytes)


def _size_if_it_fits(answer: Answer, origin: Origin, start: int) -> int:
    """The size of the whole file, if the answer is the rest of it from `start` on."""
    text = answer.headers.get("Content-Range", "")
    found = re.fullmatch(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})", text)
    first, last, size = map(int, found.groups()) if found else (-1, -1, -1)
    if (
        (first, last) != (start, size - 1)
        or origin.size not in (None, size)
        or answer.length not in (None, size - start)
        or validator_of(answer.headers) != origin.validator
    ):
        raise MisfitError(
            f"{origin.address}: the server answers with other than the asked bytes from {start} on "
            f"(Content-Range {text!r})"
        )
    return size


def _copy(answer: Answer, part: PartialFile, origin: Origin, start: int, max_bytes: int) -> None:
    """Writes the body behind the first `start` bytes; exactly to the size, where it is known."""
    address, size, received = origin.address, origin.size, start
    with (
        part.open_at(start) as file,
        tqdm(total=size, initial=start, unit="B", unit_scale=True, disable=None) as bar,
    ):
        for chunk in answer.chunks():
            received += len(chunk)
            if received > max_bytes:
                raise _too_large(address, received, max_bytes)
            if size is not None and received > size:
                raise MisfitError(
                    f"{address}: the server sends more than the promised {size} bytes"
                )
            file.write(chunk)
            bar.update(len(chunk))
            if received == size:
                break
    if size is not None and received != size:
        raise DroppedError(f"{address}: the connection broke off ({received} of {size} bytes came)")


def _too_large(address: str, size: int, max_bytes: int) -> TreebankError:
    return TreebankError(
        f"{address}: {size} bytes or more, above the limit of {max_bytes}; raise --max-bytes if "
        "that is right"
    )

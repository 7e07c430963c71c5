"""A sentence as one line of JSON."""

import json
from collections.abc import Sequence
from typing import Any

from dyparse.data.columns.cells import FIELDS, MultiwordToken, token_range


def sentence_json(
    sent_id: str,
    text: str,
    rows: Sequence[Sequence[str]],
    heads: Sequence[int],
    wholes: Sequence[MultiwordToken],
) -> str:
    """A sentence with these rows of ten cells, one for every word, as `Sentence.to_json` has it."""
    multiword = [
        {"first": w.first, "last": w.last, "form": w.form, "misc": _value(w.misc), **_place(w.misc)}
        for w in wholes
    ]
    places = {k: _place(w.misc) for w in wholes for k in range(w.first, w.last + 1)}
    tokens = []
    for word, (cells, head) in enumerate(zip(rows, heads, strict=True), 1):
        token: dict[str, Any] = dict(zip(FIELDS, map(_value, cells), strict=True))
        token |= {"id": word, "form": cells[1], "head": head if head >= 0 else None}
        tokens.append(token | (places.get(word) or _place(cells[-1])))
    parts = {"sent_id": sent_id or None, "text": text, "tokens": tokens}
    return json.dumps(parts | {"multiword_tokens": multiword}, ensure_ascii=False)


def _value(cell: str) -> str | None:
    return None if cell == "_" else cell


def _place(misc: str) -> dict[str, int | None]:
    start, end = token_range(misc) or (None, None)
    return {"start": start, "end": end}

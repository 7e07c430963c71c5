"""Texts of a picture: without what would break it, shortened, and about how wide they are."""

import unicodedata

GAP_SIGN, UNKNOWN_SIGN = "…", "\ufffd"


def clean(text: str) -> str:
    """The text without what XML forbids, and without marks that turn the direction of others."""
    return "".join(UNKNOWN_SIGN if _is_forbidden(c) else c for c in text)


def _is_forbidden(character: str) -> bool:
    if character.isascii():
        return not character.isprintable()
    turning = unicodedata.bidirectional(character) in {
        *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    }
    is_noncharacter = ord(character) & 0xFFFE == 0xFFFE
    return turning or is_noncharacter or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def text_width(text: str, size: float) -> float:
    """About how wide a text is in a wide sans-serif font; accents take no room."""
    return size * sum(map(_letter_width, text))


def _letter_width(character: str) -> float:
    if character in "iIjl.,:;'|! ":
        return 0.36
    if character in "mwMW@%—…":
        return 0.98
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    category = unicodedata.category(character)
    return 0.0 if category in ("Mn", "Me", "Cf") else 0.72 if category == "Lu" else 0.63


def shortened(text: str, most: float, size: float) -> str:
    """The clean text, or as much of its beginning as fits."""
    text = clean(text)
    if text_width(text, size) <= most:
        return text
    room, end = most - text_width(GAP_SIGN, size), 0
    while (room := room - text_width(text[end], size)) >= 0:
        end += 1
    return text[:end] + GAP_SIGN


def isolated(text: str) -> str:
    """The text such that, whatever its script, it does not turn what stands beside it."""
    turns = any(unicodedata.bidirectional(c) in ("R", "AL") for c in text)
    return f"\u2068{text}\u2069" if turns else text

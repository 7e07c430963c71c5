"""Strings in a picture: cleaned for XML, shortened to fit, and their approximate width."""

import unicodedata

from dyparse.drawing.letter_widths import letter_width

GAP_SIGN, UNKNOWN_SIGN = "…", "\ufffd"
DIRECTION_MARKS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


def clean(text: str) -> str:
    """The text without characters that XML forbids or that change the direction of other text."""
    return "".join(UNKNOWN_SIGN if _is_forbidden(c) else c for c in text)


def _is_forbidden(character: str) -> bool:
    if character.isascii():
        return not character.isprintable()
    is_direction_mark = unicodedata.bidirectional(character) in DIRECTION_MARKS
    is_noncharacter = ord(character) & 0xFFFE == 0xFFFE
    category = unicodedata.category(character)
    return is_direction_mark or is_noncharacter or category in ("Cc", "Cs", "Zl", "Zp")


def text_width(text: str, size: float) -> float:
    """Width of a text in a wide sans-serif font, rather too large than too small."""
    return size * sum(map(letter_width, text))


def shortened(text: str, most: float, size: float) -> str:
    """The clean text, cut off where it would be wider than `most`."""
    text = clean(text)
    if text_width(text, size) <= most:
        return text
    room, end = most - text_width(GAP_SIGN, size), 0
    while (room := room - text_width(text[end], size)) >= 0:
        end += 1
    while end and unicodedata.category(text[end]).startswith("M"):
        end -= 1  # a sign stays with its letter
    return text[:end] + GAP_SIGN


def isolated(text: str) -> str:
    """The text, wrapped so that right-to-left script does not reorder its surroundings."""
    is_right_to_left = any(unicodedata.bidirectional(c) in ("R", "AL") for c in text)
    return f"\u2068{text}\u2069" if is_right_to_left else text

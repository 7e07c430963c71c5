"""Words by Unicode rules: a letter keeps its marks, in every script.

The classes of characters are Python's own (`unicodedata`, and `\\w` of `re`). A library for Unicode
word boundaries would bring a dependency and a second edition of the tables for what is here one
class, the marks, that `re` has no name for; and its words (UAX #29) would have to be joined again
at hyphens, in URLs and in numbers. Scripts without spaces between words, such as Thai and Chinese,
cannot be cut by rules: what stands between spaces and punctuation there stays one word.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import chain

PLANES = (range(0x20000), range(0xE0000, 0xE0200))  # that have marks and format characters
ENDS_WORD = "\u200b"  # zero-width space; it stays with the word before it, as nobody sees it
RULES = r"""
    (?:https?|ftp)://{url} | www\.{url}
  | [\w.+-]{{1,64}}@\w[\w-]{{0,62}}(?:\.\w[\w-]{{0,62}}){{1,8}}    # of mail
  | (?<!\w)(?:[^\W\d_]{m}*\.){{2,}}(?!{word})                      # U.S.  a.m.
  | \d{m}*(?:[.,:/٫٬]?\d{m}*)*(?:[%٪]{m}*(?!{word})|(?!-?{word}))  # 3  1,000.5  12:30  40%  1/2
  | {word}+(?:{joint}\w{word}*|(?<=[א-ת])׳{word}*)*{end}*          # word  mother-in-law  don't  U.S
  | (?P<run>[-.!?*=_~\#$<>+])(?P=run)+{m}*                         # ...  --  !!!
  | [\U0001F1E6-\U0001F1FF]{{2}}                                   # a flag
  | \S{m}*(?:\u200d[^\s\w]{m}*)*{end}*                             # anything else; emoji in one
"""
JOINT = r"""(?:[-'’.·‧]|(?<=[א-ת])["״])"""  # inside a word; of Hebrew letters also צה"ל
URL = r"""[^\s<>"«»“”]*[^\s<>"«»“”.,;:!?'’)\]}…]"""


def word_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of every word of a text; what is between them is white space."""
    return [match.span() for match in _token().finditer(text)]


@cache
def _token() -> re.Pattern[str]:
    """The rules, compiled when they are first used: finding all marks takes some milliseconds."""
    marks = _marks()
    fields = {"m": f"[{marks}]", "word": f"[\\w{marks}]", "end": f"[{ENDS_WORD}]", "url": URL}
    fields["joint"] = JOINT
    return re.compile(RULES.format(**fields), re.VERBOSE)


def _marks() -> str:
    """Characters that belong to the one before them, as ranges of a character class.

    Marks (Mn, Mc, Me), invisible ones (Cf), and the colours of skin of emoji.
    """
    found = [code for code in chain(*PLANES) if _is_mark(chr(code))]
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in _ranges(found))


def _is_mark(character: str) -> bool:
    if "\U0001f3fb" <= character <= "\U0001f3ff":
        return True
    is_mark = unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")
    return is_mark and character not in ("\u200d", ENDS_WORD)


def _ranges(codes: list[int]) -> Iterator[tuple[int, int]]:
    """Runs of consecutive numbers, by their first and last."""
    first = last = codes[0]
    for code in codes[1:]:
        if code != last + 1:
            yield first, last
            first = code
        last = code
    yield first, last

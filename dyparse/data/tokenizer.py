"""A simple rule-based tokenizer: words, numbers, punctuation."""

import re

TOKEN = re.compile(
    r"""
    \d+(?:[.,:]\d+)*%?(?!\w)     # 3  1,000.5  12:30  40%
  | \w+(?:[-'’.]\w+)*            # word  mother-in-law  don't  U.S
  | \.{2,} | -{2,}               # ...  --
  | \S                           # any other character alone
    """,
    re.VERBOSE,
)


def tokenize(text: str) -> tuple[list[str], list[bool]]:
    """The words of one sentence, and whether white space follows each."""
    matches = list(TOKEN.finditer(text))
    words = [match.group() for match in matches]
    space_after = [match.end() == len(text) or text[match.end()].isspace() for match in matches]
    return words, space_after

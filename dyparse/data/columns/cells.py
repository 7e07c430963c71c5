"""Cells of CoNLL-U: the names of the columns, and what can be written in them."""

from dyparse.errors import TreebankError

FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
LONGEST_QUOTE = 80  # characters of a line in messages


def require_text(line: str) -> None:
    """TreebankError if UTF-8 cannot encode a line, or if it contains NUL."""
    try:
        line.encode()
    except UnicodeEncodeError as error:
        odd = line[error.start]
    else:
        if "\0" not in line:
            return
        odd = "\0"
    raise TreebankError(
        f"character {odd!a} in {line[:LONGEST_QUOTE]!a} cannot be written in CoNLL-U; expected "
        "text that UTF-8 can encode, without NUL: clean the input"
    )


def sound_columns(line: str) -> list[str]:
    """The cells of a line; TreebankError if it does not have ten that are not empty."""
    columns = line.split("\t")
    if len(columns) != len(FIELDS) or "" in columns or "\n" in line or "\r" in line:
        quoted = line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}..."
        raise TreebankError(
            f"{quoted!r} does not make a line of {len(FIELDS)} columns; "
            "words and tags must not be empty or contain tabs or line breaks: clean the input"
        )
    return columns

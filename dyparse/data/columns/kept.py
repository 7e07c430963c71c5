"""Columns of the input that stay as they are, where a model would predict others."""

from collections.abc import Iterable, Sequence

from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError

TAG_COLUMNS = ("upos", "xpos", "feats", "lemma")


def kept_columns(names: Iterable[str]) -> tuple[str, ...]:
    """Columns to keep, checked; ConfigError if one cannot be kept."""
    found = tuple(dict.fromkeys(names))
    if wrong := next((name for name in found if name not in TAG_COLUMNS), None):
        raise ConfigError(f"keep has {wrong!r}, expected some of {', '.join(TAG_COLUMNS)}")
    return found


def filled_in(sentence: Sentence, name: str, predicted: Sequence[str]) -> list[str]:
    """A column as it is given, and as predicted where nothing is given."""
    given: list[str] = getattr(sentence, name)
    return [new if old == "_" else old for old, new in zip(given, predicted, strict=True)]

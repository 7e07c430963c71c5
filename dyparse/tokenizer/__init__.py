"""Tokenizers: from raw text to sentences, their tokens, and the words of multiword tokens.

    for sentence in tokenize(tokenizer, text): ...         # a string, or the pieces of a stream
    for sentence in tokenize_lines(tokenizer, lines): ...  # each line is known to be a sentence
    restored_text(sentences) == text                       # also after writing and reading CoNLL-U

A tokenizer finds spans in a passage, which is a paragraph or a part of a long one; cutting a text
into passages and making sentences of the spans is the same for all, in `_passages.py` and
`_sentences.py`. To add one, write `dyparse/tokenizer/<name>.py` with a frozen dataclass that has
the methods of `TokenizerChoice` in `_protocol.py`, and `conf/tokenizer/<name>.yaml`. Start with
plain.py.
"""

from dyparse.tokenizer._passages import tokenize, tokenize_lines
from dyparse.tokenizer._protocol import Progress, Tokenizer, TokenizerChoice
from dyparse.tokenizer._restored import restored_text
from dyparse.tokenizer._spans import Token

__all__ = [
    "Progress",
    "Token",
    "Tokenizer",
    "TokenizerChoice",
    "restored_text",
    "tokenize",
    "tokenize_lines",
]

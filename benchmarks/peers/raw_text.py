"""The task from raw text: parsers get the text of test, and are scored by the table of CoNLL 2018.

Train and dev are the treebank's files, with comments, multiword tokens and SpaceAfter, so that
everything can be learned from them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peer_script import RunError
from text_table import markdown

from dyparse.data.columns.cells import NO_SPACE
from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.errors import DyparseError
from dyparse.evaluation.conll18.scores import conll18_scores
from dyparse.runtime.atomic_files import write

PARAGRAPH = re.compile(r"#\s*new(par|doc)\b")


class RawText:
    """Text in, CoNLL-U out."""

    def write_inputs(self, splits: dict[str, list[Sentence]], directory: Path) -> dict[str, Path]:
        """Write the files that parsers read; of test the text only."""
        files = {split: directory / f"{split}.conllu" for split in splits if split != "test"}
        for split, path in files.items():
            write(path, "".join(s.to_conllu() for s in splits[split]).encode())
        text = directory / "test.txt"
        write(text, text_of(splits["test"]).encode())
        return files | {"test": text}

    def scores(self, gold: list[Sentence], path: Path) -> dict[str, Any]:
        """F1 of every score of CoNLL 2018."""
        try:
            found = conll18_scores(gold, list(read_sentences(str(path), trees=True)))
        except DyparseError as error:
            raise RunError(f"{path.name}: {error}") from error
        return {"conll18": found.f1()}

    def table(self, results: list[dict[str, Any]]) -> str:
        """The results in Markdown."""
        return markdown(results)


def text_of(sentences: Sequence[Sentence]) -> str:
    """The text of sentences: a space between them, a blank line before a paragraph."""
    parts: list[str] = []
    for sentence in sentences:
        if parts and any(PARAGRAPH.match(line) for line in sentence.lines):
            parts[-1] = "\n\n"
        parts += [sentence.text, " " if ends_with_space(sentence) else ""]
    return "".join(parts[:-1]) + "\n"


def ends_with_space(sentence: Sentence) -> bool:
    """Whether white space follows the last token; a multiword token has its own MISC."""
    last = sentence.word_lines[-1]
    span = re.compile(rf"\d+-{len(sentence)}\t")
    found = next((line for line in sentence.lines if span.match(line)), sentence.lines[last])
    return NO_SPACE not in found.rstrip("\r\n").rsplit("\t", 1)[-1].split("|")

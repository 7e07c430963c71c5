"""The task with gold words and tags: parsers get these and are scored by UAS and LAS."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conllu_columns import read_columns
from peer_script import RunError
from table import markdown

from dyparse.data.sentence import HEAD, Sentence
from dyparse.errors import TreebankError
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.runtime.atomic_files import write


class GoldWords:
    """Words with their tags in, trees out."""

    def write_inputs(self, splits: dict[str, list[Sentence]], directory: Path) -> dict[str, Path]:
        """Write the files that parsers read; test is without its trees."""
        files = {split: directory / f"{split}.conllu" for split in splits}
        for split, path in files.items():
            text = "".join(plain(s, tree=split != "test") for s in splits[split])
            write(path, text.encode())
        return files

    def scores(self, gold: list[Sentence], path: Path) -> dict[str, Any]:
        """UAS and LAS of the heads and labels in a file, whether they are trees or not."""
        found = read_columns(path)
        if [s.form for s in found] != [s.form for s in gold]:
            raise RunError(f"{path.name} has other words than test")
        try:
            predicted = [s.with_tree(f.head, f.label) for s, f in zip(gold, found, strict=True)]
            scores = attachment_scores(gold, predicted)
        except TreebankError as error:
            raise RunError(f"{path.name}: {error}") from error
        return {"uas": scores.uas, "las": scores.las}

    def table(self, results: list[dict[str, Any]]) -> str:
        """The results in Markdown."""
        return markdown(results)


def plain(sentence: Sentence, *, tree: bool) -> str:
    """The words of a sentence as CoNLL-U, without comments, ranges and empty nodes.

    Without its tree it gets a chain, which every reader accepts and which gives nothing away.
    """
    lines = []
    for word, index in enumerate(sentence.word_lines, 1):
        columns = sentence.lines[index].rstrip("\r\n").split("\t")
        if not tree:
            columns[HEAD : HEAD + 2] = str(word - 1), "dep" if word > 1 else "root"
        columns[HEAD + 2 :] = "_", "_"  # enhanced graphs hold the tree too
        lines.append("\t".join(columns) + "\n")
    return "".join(lines) + "\n"

"""Lines of words, written with other columns."""

from collections.abc import Iterable, Mapping, Sequence

from dyparse.data.columns.cells import word_ids

BYTE_ORDER_MARK = "\ufeff"


def rows_of_trees(lines: Sequence[str], columns: Sequence[list[str]]) -> list[str]:
    """The lines of all words with these columns, FORM to DEPREL: only DEPS and MISC are kept."""
    ids = word_ids(len(lines))
    if lines[0].startswith(BYTE_ORDER_MARK):
        ids[0] = BYTE_ORDER_MARK + ids[0]
    ends = [line.rsplit("\t", 2) for line in lines]
    return [
        f"{word}\t{form}\t{lemma}\t{upos}\t{xpos}\t{feats}\t{head}\t{label}\t{deps}\t{misc}"
        for word, form, lemma, upos, xpos, feats, head, label, (_, deps, misc) in zip(
            ids, *columns, ends, strict=True
        )
    ]


def rows_with(lines: Sequence[str], columns: Mapping[int, list[str]]) -> list[str]:
    """The lines of all words with these columns, by number; the others are kept."""
    rows = [line.split("\t") for line in lines]
    for number, values in columns.items():
        for cells, value in zip(rows, values, strict=True):
            cells[number] = value
    return ["\t".join(cells) for cells in rows]


def lines_with(
    lines: Sequence[str], word_lines: Sequence[int], rows: Iterable[str]
) -> Sequence[str]:
    """The lines of a sentence, with these rows instead of the lines of its words."""
    first, last = word_lines[0], word_lines[-1]
    if last - first < len(word_lines):  # nothing between the words
        return [*lines[:first], *rows, *lines[last + 1 :]]
    found = list(lines)
    for index, row in zip(word_lines, rows, strict=True):
        found[index] = row
    return found

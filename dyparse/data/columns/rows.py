"""Lines of words, written with other columns."""

from collections.abc import Iterator, Mapping, Sequence

from dyparse.data.columns.cells import word_ids

BYTE_ORDER_MARK = "\ufeff"


def rows_of_trees(lines: Sequence[str], columns: Sequence[list[str]]) -> Iterator[str]:
    """The lines of all words with these columns, FORM to DEPREL: only DEPS and MISC are kept."""
    ids = word_ids(len(lines))
    if lines[0].startswith(BYTE_ORDER_MARK):
        ids[0] = BYTE_ORDER_MARK + ids[0]
    ends = [line.rsplit("\t", 2) for line in lines]
    deps, misc = [end[1] for end in ends], [end[2] for end in ends]
    return map("\t".join, zip(ids, *columns, deps, misc, strict=True))


def rows_with(lines: Sequence[str], columns: Mapping[int, list[str]]) -> Iterator[str]:
    """The lines of all words with these columns, by number; the others are kept."""
    for word, line in enumerate(lines):
        cells = line.split("\t")
        for number, values in columns.items():
            cells[number] = values[word]
        yield "\t".join(cells)

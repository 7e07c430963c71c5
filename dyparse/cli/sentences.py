"""One sentence of a treebank, found by its sent_id or its number; gold trees for oracles."""

import difflib
from collections.abc import Iterable, Iterator
from itertools import chain

from dyparse.cli.arguments import STDIN, input_source
from dyparse.data.columns.rows import BYTE_ORDER_MARK
from dyparse.data.conllu import SENT_ID, Block, read_blocks, to_sentence
from dyparse.data.sentence import MOST_WORDS, Sentence
from dyparse.errors import TreebankError
from dyparse.treebank._names import files_of


def find_sentence(name: str, wanted: str | None, blocks: Iterable[Block] | None = None) -> Block:
    """The lines of the sentence with this sent_id, else with this number; None for the first.

    The other sentences are not checked. The file is read unless its blocks are given.
    """
    sent_ids: list[str] = []
    numbered: Block | None = None
    for number, block in enumerate(blocks or treebank_blocks(name), 1):
        sent_id = sent_id_of(block)
        if wanted in (None, sent_id):
            return block
        sent_ids.append(sent_id)
        if wanted == str(number):
            numbered = block
    if numbered:
        return numbered
    known = list(filter(None, sent_ids))
    near = difflib.get_close_matches(str(wanted), known, 3, 0.5) or known[:3]
    hint = f", or a sent_id such as {', '.join(near)}" if near else ""
    raise TreebankError(
        f"{'<stdin>' if name == STDIN else name}: no sentence {wanted!r}; "
        f"expected a number 1..{len(sent_ids)}{hint}"
    )


def treebank_blocks(name: str) -> Iterator[Block]:
    """The lines of every sentence of a treebank, file by file, or of standard input; unchecked."""
    sources = [input_source(name)] if name == STDIN else files_of(name)[1]
    return chain.from_iterable(map(read_blocks, sources))


def sent_id_of(block: Block) -> str:
    """The sent_id among the comments of a sentence; empty if there is none."""
    comments = (line.decode(errors="replace").lstrip(BYTE_ORDER_MARK) for line in block.lines)
    return next((found[1] for found in map(SENT_ID.match, comments) if found), "")


def tree_for_oracle(block: Block) -> Sentence:
    """The sentence of a block; TreebankError if it is malformed, or too long for oracles."""
    sentence = to_sentence(block, trees=True)
    if len(sentence) > MOST_WORDS:
        raise TreebankError(
            f"{sentence.place} has {len(sentence)} words, for which oracles take too long; "
            f"expected at most {MOST_WORDS}: split it, or leave it out"
        )
    return sentence

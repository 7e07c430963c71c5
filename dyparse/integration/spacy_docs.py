"""From spaCy's documents to sentences, and from parsed sentences back.

spaCy's tokens are the words. Tokens of white space are no words: they are left out of sentences,
and get what spaCy's own models give them.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any, NamedTuple

from spacy.parts_of_speech import IDS as PARTS_OF_SPEECH
from spacy.tokens import Doc

from dyparse.data.sentence import Sentence, Token
from dyparse.tokenizer import Tokenizer, tokenize

COLUMNS = {  # of a sentence: the argument of a Doc, and the attribute of its tokens
    "xpos": ("tags", "TAG"),
    "upos": ("pos", "POS"),
    "feats": ("morphs", "MORPH"),
    "lemma": ("lemmas", "LEMMA"),
}
UNWRITABLE = str.maketrans("\0", "\N{REPLACEMENT CHARACTER}")  # CoNLL-U cannot hold NUL


class Row(NamedTuple):
    """Annotations of a token."""

    head: int  # its place in the document
    dep: str
    xpos: str = "_SP"  # these are of white space
    upos: str = "SPACE"
    feats: str = ""
    lemma: str = ""


def sentence_spans(doc: Doc, tokenizer: Tokenizer) -> list[range]:
    """The places of the tokens of each sentence.

    A sentence starts where the document says so, and never where it says no. Where it says nothing,
    the tokenizer decides: its sentence starts with the first word that begins there or later.
    """
    starts = [token.is_sent_start for token in doc]
    if None in starts[1:]:
        words = [token for token in doc if not token.is_space]
        begins = [token.idx for token in words]
        found = tokenize(tokenizer, doc.text.translate(UNWRITABLE))
        places = [bisect_left(begins, sentence[0].start or 0) for sentence in found]
        by_tokenizer = {words[place].i for place in places if 0 < place < len(words)}
        starts = [k in by_tokenizer if given is None else given for k, given in enumerate(starts)]
    inner = [k for k, is_start in enumerate(starts) if is_start and k > 0]
    return [range(*ends) for ends in pairwise([0, *inner, len(doc)])] if starts else []


def to_sentence(doc: Doc, span: range) -> Sentence | None:
    """The words of a sentence with the tags and lemmas that they have; None without words."""
    words = [doc[k] for k in span if not doc[k].is_space]
    if not words:
        return None
    sentence = Sentence.from_words(
        [_writable(word.text) for word in words],
        upos=[_writable(word.pos_) for word in words],
        xpos=[_writable(word.tag_) for word in words],
        feats=[_writable(str(word.morph)) for word in words],
    )
    return replace(sentence, lemma=[_writable(word.lemma_) for word in words])


def _writable(text: str) -> str:
    """A text as CoNLL-U can hold it, on one line and without tabs."""
    return " ".join(text.translate(UNWRITABLE).split()) or "_"


def annotate(doc: Doc, parsed: Sequence[tuple[range, Sentence | None]]) -> None:
    """Give the tokens of a document the trees of its sentences, and the columns that are new."""
    if not len(doc):
        return
    rows = list(chain.from_iterable(_rows(doc, span, sentence) for span, sentence in parsed))
    changed = next((sentence.changed for _, sentence in parsed if sentence), tuple(COLUMNS))
    columns = [name for name in COLUMNS if name in changed]
    values: dict[str, Any] = {
        COLUMNS[name][0]: [getattr(r, name) for r in rows] for name in columns
    }
    values["heads"], values["deps"] = [row.head for row in rows], [row.dep for row in rows]
    annotated = Doc(doc.vocab, words=[token.text for token in doc], **values)
    attributes = ["HEAD", "DEP", *(COLUMNS[name][1] for name in columns)]
    doc.from_array(attributes, annotated.to_array(attributes))


def _rows(doc: Doc, span: range, sentence: Sentence | None) -> Iterator[Row]:
    """The annotations of the tokens of a sentence.

    White space is attached to the word before it, at the start of a sentence to the first word.
    Where a sentence has several roots, the others are attached to the first, as `dep`: for spaCy
    each root is a sentence.
    """
    words = [k for k in span if not doc[k].is_space]
    tokens = iter(sentence or ())
    root = words[sentence.head.index(0)] if sentence else span[0]
    nearest = words[0] if words else root
    for k in span:
        if doc[k].is_space:
            dep = "ROOT" if nearest == k else "dep"
            yield Row(nearest, dep, lemma=doc[k].text)
        else:
            token, nearest = next(tokens), k
            head = words[token.head - 1] if token.head > 0 else root
            dep = "dep" if token.label == "root" else token.label
            yield _row(token, head, "ROOT" if head == k else dep)


def _row(token: Token, head: int, dep: str) -> Row:
    """The annotations of a word, as `spacy convert` makes them of CoNLL-U."""
    upos = token.upos if token.upos in PARTS_OF_SPEECH else "X"
    xpos, lemma = ("" if tag == "_" else tag for tag in (token.xpos, token.lemma))
    # spaCy takes features with a name and a value only; some treebanks have others.
    feats = "|".join(part for part in token.feats.split("|") if part.count("=") == 1)
    return Row(head, dep, xpos or upos, "" if token.upos == "_" else upos, feats, lemma)

"""Documents and tokens that know their place in the text."""

import json

import pytest

from dyparse.data.document import Document
from dyparse.data.sentence import Sentence

LINES = [
    "# text = I can't.",
    "1\tI\t_\t_\t_\t_\t2\tnsubj\t_\tTokenRange=0:1",
    "2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|TokenRange=2:7",
    "2\tca\t_\t_\t_\t_\t0\troot\t_\t_",
    "3\tn't\t_\t_\t_\t_\t2\tadvmod\t_\t_",
    "4\t.\t_\t_\t_\t_\t2\tpunct\t_\tTokenRange=7:8",
]


@pytest.fixture
def document():
    return Document("I can't. ", [Sentence._from_lines(LINES)])


def test_words_of_a_multiword_token_have_its_place_in_the_text(document):
    spans = [document.text[token.start : token.end] for token in document.tokens]
    assert spans == ["I", "can't", "can't", "."]
    assert Sentence.from_words(["I"])[0].start is None
    assert Sentence.from_words(["I"])[0].end is None


def test_white_space_follows_the_multiword_token_and_not_its_words(document):
    assert [token.space_after for token in document.tokens] == [True, False, False, True]
    spaced = [LINES[2].replace("SpaceAfter=No|", ""), *LINES[3:5]]
    sentence = Sentence._from_lines([*LINES[:2], *spaced, LINES[5]])
    assert [token.space_after for token in sentence] == [True, False, True, True]
    assert sentence[0].multiword_token is None
    assert sentence[2].multiword_token == (2, 3, "can't", "TokenRange=2:7")


def test_a_document_is_a_sequence_of_its_sentences(document):
    assert len(document) == 1
    assert list(document) == document[:] == [document[0]]
    assert repr(document) == '<Document of 1 sentence: "I can\'t. ">'
    assert document.to_conllu() == document[0].to_conllu()
    found = json.loads(document.to_json())
    assert found["text"] == document.text
    assert [token["form"] for token in found["sentences"][0]["tokens"]] == ["I", "ca", "n't", "."]
    assert "<svg" in document._repr_html_()


def test_a_subtree_is_a_token_and_all_below_it(document):
    root = document[0].root
    assert [token.form for token in root.subtree] == ["I", "ca", "n't", "."]
    assert [token.form for token in document[0][2].subtree] == ["n't"]

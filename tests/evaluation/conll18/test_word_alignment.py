"""Which words of two files are the same; for the official scorer, see test_file_scores.py."""

import io

import pytest

from dyparse.data.conllu import read_sentences
from dyparse.errors import TreebankError
from dyparse.evaluation.conll18.word_alignment import UNALIGNED, align_words_of_files


def read(text, name="file"):
    """The sentences of CoNLL-U text."""
    stream = io.StringIO(text)
    stream.name = name
    return list(read_sentences(stream, trees=True))


def conllu(sentences):
    """CoNLL-U of sentences, each a list of tokens: a word, or (form, words) if there are several.

    Every word depends on the first one.
    """
    text = ""
    for tokens in sentences:
        number = 0
        for token in tokens:
            form, words = (token, [token]) if isinstance(token, str) else token
            if not isinstance(token, str):
                last = number + len(words)
                text += f"{number + 1}-{last}\t{form}" + "\t_" * 8 + "\n"
            for word in words:
                number += 1
                head, label = (0, "root") if number == 1 else (1, "dep")
                text += f"{number}\t{word}\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n"
        text += "\n"
    return text


def aligned(gold, system):
    alignment = align_words_of_files(read(conllu(gold)), read(conllu(system)))
    return alignment.gold_word.tolist()


def test_tokens_are_aligned_by_their_place_in_the_text_across_sentences():
    gold = [["New", "York", "is"], ["big", "."]]
    assert aligned(gold, gold) == [0, 1, 2, 3, 4]
    assert aligned(gold, [["New York", "is", "big", "."]]) == [UNALIGNED, 2, 3, 4]


def test_words_of_multiword_tokens_are_aligned_by_form():
    gold = [[("du", ["de", "le"]), "pain"]]
    assert aligned(gold, [["du", "pain"]]) == [UNALIGNED, 2]
    assert aligned(gold, [[("du", ["De", "la"]), "pain"]]) == [0, UNALIGNED, 2]


def test_the_same_words_are_aligned_though_a_parser_dropped_the_multiword_token():
    assert aligned([[("du", ["de", "le"]), "pain"]], [["de", "le", "pain"]]) == [0, 1, 2]


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ([["a", "dog"], ["barked"]], r"^file:4: sentence: 'ed', but the gold text is 's' "),
        ([["a", "dog"]], r"^file:1: sentence: nothing more, but the gold text is 'barks' "),
    ],
)
def test_other_text_is_an_error_with_the_place_of_the_first_difference(system, message):
    with pytest.raises(TreebankError, match=message):
        aligned([["a", "dog"], ["barks"]], system)

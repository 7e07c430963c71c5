"""Scores checked by the official scorer, by hand, and by their definitions."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from helpers.random_trees import random_tree
from helpers.tiny import UD
from udtools import udeval

from dyparse import treebank
from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.evaluation.exhaustive import all_trees
from dyparse.evaluation.score_report import nonprojective_arcs, score_report

SAMPLE = Path(treebank.__file__).parent / "sample_data"
REAL = ("UD_English-LinES", "UD_Gothic-PROIEL", "UD_Turkish-IMST", "UD_Hungarian-Szeged")


def tree(words, heads, labels, tags=None):
    """A sentence in shorthand: words, heads, labels and tags as text."""
    sentence = Sentence.from_words(words.split(), upos=tags.split() if tags else None)
    return sentence.with_tree([int(h) for h in heads.split()], labels.split())


WORDS = "A hearing is scheduled on the issue ."
TAGS = "DET NOUN AUX VERB ADP DET NOUN PUNCT"
GOLD = tree(WORDS, "2 4 4 0 7 7 2 4", "det nsubj:pass aux:pass root case det nmod punct", TAGS)
# heads wrong: issue, '.'; labels wrong: hearing (subtype only), on, issue
PREDICTED = tree(WORDS, "2 4 4 0 7 7 4 7", "det nsubj aux:pass root mark det obl punct", TAGS)
SHORT = tree("Yes !", "0 1", "root punct", "INTJ PUNCT")


def corrupted(sentence, labels, rng):
    """The sentence with some other heads and labels, still a tree with one root."""
    head = np.array([0, *sentence.head])
    n = len(sentence)
    if rng.random() < 0.2:  # another root: the old one below it
        root, new = int(np.flatnonzero(head[1:] == 0)[0]) + 1, int(rng.integers(1, n + 1))
        if root != new:
            head[new], head[root] = 0, new
    for word in range(1, n + 1):
        above = int(rng.integers(1, n + 1))
        if head[word] > 0 and rng.random() < 0.15 and not descends(head, above, word):
            head[word] = above
    changed = rng.random(n) < 0.15
    label = [
        str(rng.choice(labels)) if change else old
        for change, old in zip(changed, sentence.label, strict=True)
    ]
    return sentence.with_tree(head[1:], label)


def descends(head, word, ancestor):
    """Whether the word is the ancestor itself or descends from it."""
    while word not in (0, ancestor):
        word = head[word]
    return word == ancestor


def official(gold, predicted):
    """Scores of the CoNLL 2018 scorer, in percent."""
    loaded = [
        udeval.load_conllu(io.StringIO("".join(s.to_conllu() for s in sentences)), name, {})
        for name, sentences in (("gold", gold), ("predicted", predicted))
    ]
    return {name: 100 * score.f1 for name, score in udeval.evaluate(*loaded).items()}


def check_against_official(gold, seed):
    rng = np.random.default_rng(seed)
    labels = sorted({label for s in gold for label in s.label})
    predicted = [corrupted(s, labels, rng) for s in gold]
    ours, theirs = attachment_scores(gold, predicted), official(gold, predicted)
    assert 30 < ours.las_universal < ours.uas < 95
    assert ours.las <= ours.las_universal
    assert [ours.uas, ours.las_universal, ours.clas] == pytest.approx(
        [theirs["UAS"], theirs["LAS"], theirs["CLAS"]], abs=1e-9
    )


@pytest.mark.parametrize("name", REAL)
def test_scores_equal_those_of_the_official_scorer_on_real_treebanks(name):
    files = sorted((UD / name).glob("*-ud-test.conllu"))
    if not files:
        pytest.skip(f"no {name} in {UD}; set DYPARSE_UD to an unpacked UD release")
    check_against_official(list(read_sentences(str(files[0]), trees=True)), seed=1)


@pytest.mark.parametrize("path", sorted(SAMPLE.glob("*.conllu")), ids=lambda path: path.stem)
def test_scores_equal_those_of_the_official_scorer_on_the_sample_treebank(path):
    check_against_official(list(read_sentences(str(path), trees=True))[:300], seed=2)


def test_core_scores_are_those_counted_by_hand():
    scores = attachment_scores([GOLD, SHORT], [PREDICTED, SHORT])
    assert (scores.sentences, scores.words) == (2, 10)
    assert scores.uas == pytest.approx(80)  # all but issue and '.'
    assert scores.las == pytest.approx(60)  # nor hearing and on
    assert scores.las_universal == pytest.approx(70)  # hearing is a subject
    # gold content words: hearing, scheduled, issue, Yes; the same are predicted; issue is wrong
    assert scores.clas == pytest.approx(75)
    assert scores.label_accuracy == pytest.approx(70)  # all but hearing, on, issue
    assert (scores.exact_unlabelled, scores.exact_labelled) == (50, 50)


def test_punctuation_by_gold_tag_can_be_left_out():
    scores = attachment_scores([GOLD, SHORT], [PREDICTED, SHORT], punctuation=False)
    assert (scores.sentences, scores.words) == (2, 8)
    assert scores.uas == pytest.approx(100 * 7 / 8)
    assert scores.las == pytest.approx(100 * 5 / 8)
    assert scores.label_accuracy == pytest.approx(100 * 5 / 8)


def test_a_word_labelled_punct_but_tagged_otherwise_is_no_punctuation():
    gold = tree("a % b", "0 1 1", "root punct dep", "NOUN SYM NOUN")
    assert attachment_scores([gold], [gold], punctuation=False).words == 3


def test_an_untagged_word_is_punctuation_if_its_gold_label_is_punct():
    gold = tree("a ! b", "0 1 1", "root punct dep")
    predicted = tree("a ! b", "0 1 1", "root dep punct")
    scores = attachment_scores([gold], [predicted], punctuation=False)
    assert (scores.words, scores.las) == (2, 50)


def test_exact_match_without_punctuation_forgives_punctuation_only():
    wrong_stop = GOLD.with_tree([*GOLD.head[:-1], 7], GOLD.label)
    assert attachment_scores([GOLD], [wrong_stop]).exact_labelled == 0
    assert attachment_scores([GOLD], [wrong_stop], punctuation=False).exact_labelled == 100
    wrong_label = GOLD.with_tree(GOLD.head, ["dep", *GOLD.label[1:]])
    scores = attachment_scores([GOLD], [wrong_label], punctuation=False)
    assert (scores.exact_unlabelled, scores.exact_labelled) == (100, 0)


def test_sentences_of_punctuation_alone_do_not_count_without_it():
    dots = tree("...", "0", "root", "PUNCT")
    assert attachment_scores([dots, GOLD], [dots, GOLD], punctuation=False).sentences == 1
    assert score_report([dots], [dots]).without_punctuation is None
    with pytest.raises(TreebankError, match="punctuation"):
        attachment_scores([dots], [dots], punctuation=False)


def test_clas_counts_predicted_content_words_too():
    gold = tree("a b c", "0 1 1", "root case case")
    predicted = tree("a b c", "0 1 1", "root obj obj")
    assert attachment_scores([gold], [predicted]).clas == pytest.approx(100 * 2 * 1 / (1 + 3))


def test_a_gold_label_that_is_never_predicted_counts_as_an_error():
    gold = tree("a b", "0 1", "root never:seen")
    predicted = tree("a b", "0 1", "root dep")
    assert attachment_scores([gold], [predicted]).las == 50
    report = score_report([gold], [predicted])
    assert (report.by_label["never:seen"].recall, report.by_label["dep"].precision) == (0, 0)


# --- classes of arcs -----------------------------------------------------------------------------


def test_scores_by_label_are_those_counted_by_hand():
    by_label = score_report([GOLD, SHORT], [PREDICTED, SHORT]).by_label
    det, punct, mark = by_label["det"], by_label["punct"], by_label["mark"]
    assert (det.gold, det.predicted, det.recall, det.precision, det.f1) == (2, 2, 100, 100, 100)
    assert (punct.gold, punct.predicted, punct.recall, punct.precision) == (2, 2, 50, 50)
    assert (mark.gold, mark.predicted, mark.recall, mark.precision, mark.f1) == (0, 1, None, 0, 0)
    assert (by_label["nsubj:pass"].recall, by_label["nsubj:pass"].precision) == (0, None)
    counts = [scores.gold for scores in by_label.values()]
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == sum(scores.predicted for scores in by_label.values()) == 10


def test_scores_by_length_are_those_counted_by_hand():
    by_length = score_report([GOLD, SHORT], [PREDICTED, SHORT]).by_length
    counted = {name: (s.gold, s.predicted, s.recall, s.precision) for name, s in by_length.items()}
    assert counted == {
        "root": (2, 2, 100, 100),
        "1": (4, 5, 100, 80),  # A, is, the, ! ; predicted also '.'
        "2": (2, 2, 100, 100),  # hearing, on
        "3-6": (2, 1, 0, 0),  # issue and '.'; predicted only issue
        "7+": (0, 0, None, None),
    }


def test_arcs_of_seven_words_and_more_are_long():
    chain = tree(" ".join("abcdefgh"), "0 1 1 1 1 1 1 1", " ".join(["root", *["dep"] * 7]))
    by_length = score_report([chain], [chain]).by_length
    assert [scores.gold for scores in by_length.values()] == [1, 1, 1, 4, 1]


def test_scores_of_nonprojective_arcs_are_those_counted_by_hand():
    # hearing → issue passes over is and scheduled, which do not descend from hearing
    nonprojective = score_report([GOLD], [PREDICTED]).nonprojective
    assert (nonprojective.gold, nonprojective.recall) == (1, 0)
    assert (nonprojective.predicted, nonprojective.precision, nonprojective.f1) == (0, None, 0)
    assert score_report([GOLD], [GOLD]).nonprojective.f1 == 100
    assert score_report([SHORT], [SHORT]).nonprojective.f1 is None
    found_and_more = PREDICTED.with_tree([4, 4, 4, 0, 7, 7, 2, 5], PREDICTED.label)
    figures = score_report([GOLD], [found_and_more]).nonprojective
    assert (figures.gold, figures.predicted, figures.recall) == (1, 2, 100)
    assert (figures.precision, figures.f1) == (50, pytest.approx(200 / 3))


def nonprojective_by_definition(head):
    """For each word: not all words between it and its head descend from the head."""
    return [
        any(not descends(head, k, head[d]) for k in range(min(d, head[d]) + 1, max(d, head[d])))
        and head[d] > 0
        for d in range(1, len(head))
    ]


def test_nonprojective_arcs_are_those_of_the_definition():
    rng = np.random.default_rng(3)
    trees = [*all_trees(1), *all_trees(4), *all_trees(5)]
    trees += [random_tree(rng, int(n), "any", one_root=True) for n in rng.integers(1, 25, 200)]
    sentence = np.repeat(np.arange(len(trees)), [len(head) - 1 for head in trees])
    number = np.concatenate([np.arange(1, len(head)) for head in trees])
    expected = np.concatenate([nonprojective_by_definition(head) for head in trees])
    assert 0.1 < expected.mean() < 0.9
    found = nonprojective_arcs(sentence, number, np.concatenate([head[1:] for head in trees]))
    np.testing.assert_array_equal(found, expected)


def test_nonprojective_arcs_survive_a_cycle():
    sentence, number, head = np.array([[0, 0, 0], [1, 2, 3], [3, 0, 1]])
    assert nonprojective_arcs(sentence, number, head).tolist() == [True, False, True]


# --- report and errors ---------------------------------------------------------------------------


def test_the_report_has_scores_with_and_without_punctuation_and_survives_json():
    report = score_report([GOLD, SHORT], [PREDICTED, SHORT])
    assert report.all_words == attachment_scores([GOLD, SHORT], [PREDICTED, SHORT])
    assert report.without_punctuation == attachment_scores(
        [GOLD, SHORT], [PREDICTED, SHORT], punctuation=False
    )
    data = report.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["by_label"]["det"]["gold"] == 2


def test_the_table_is_aligned_and_shows_every_figure():
    report = score_report([GOLD, SHORT], [PREDICTED, SHORT])
    lines = str(report).splitlines()
    blocks = [block.splitlines() for block in str(report).split("\n\n")]
    assert [len({len(line) for line in block}) for block in blocks] == [1, 1, 1, 1, 1]
    assert [line.split()[-2:] for line in lines if line.startswith("UAS")] == [["80.00", "87.50"]]
    assert [line.split()[-2:] for line in lines if line.startswith("words")] == [["10", "8"]]
    rows = {line.split()[0]: line.split()[1:] for line in blocks[-1][1:]}
    assert rows.keys() == report.by_label.keys()
    assert rows["mark"] == ["0", "1", "-", "0.00", "0.00"]


def test_heads_with_two_subjects_or_objects_are_counted_in_gold_and_predicted_trees():
    gold = GOLD.with_tree(
        [2, 0, *[2] * (len(GOLD) - 2)], ["obj", "root"] + ["obl"] * (len(GOLD) - 2)
    )
    predicted = gold.with_tree(gold.head, ["nsubj" if k != "root" else k for k in gold.label])
    several = score_report([gold, gold], [predicted, gold]).several
    assert (several["subject"].gold, several["subject"].predicted) == (0, 1)
    assert (several["object"].gold, several["object"].predicted) == (0, 0)
    assert "heads with two subjects or more" in str(score_report([gold], [gold]))


@pytest.mark.parametrize("score", [attachment_scores, score_report])
def test_trees_that_cannot_be_scored_are_refused_with_the_reason(score):
    with pytest.raises(TreebankError, match="no words"):
        score([], [])
    with pytest.raises(TreebankError, match="1 gold sentences but 2"):
        score([GOLD], [GOLD, GOLD])
    with pytest.raises(TreebankError, match="same words"):
        score([GOLD], [SHORT])
    treeless = Sentence.from_words(["Yes", "!"])
    with pytest.raises(TreebankError, match=r"predicted head of word 1 is -1, expected 0\.\.2"):
        score([GOLD, SHORT], [GOLD, treeless])
    with pytest.raises(TreebankError, match=r"gold head of word 2 is 3, expected 0\.\.2"):
        score([GOLD, SHORT.with_tree([0, 3], SHORT.label)], [GOLD, SHORT])

"""The scores of CoNLL 2018: equal to those of the official scorer, and counted by hand."""

import json

import numpy as np
import pytest
from helpers.official_scorer import assert_scores_are_official, read
from helpers.perturbed_text import Perturbation
from helpers.random_trees import random_tree
from helpers.tiny import UD, sample

from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError
from dyparse.evaluation.conll18.scores import TITLES, Metric, conll18_scores

REAL = (
    "UD_English-LinES",
    "UD_English-EWT",
    "UD_Greek-GDT",
    "UD_Turkish-IMST",
    "UD_Hungarian-Szeged",
)
LETTERS = list("aab")
VALUES = {  # of columns 2 (LEMMA) to 5 (FEATS) and 7 (DEPREL)
    2: ["_", "a", "b"],
    3: ["NOUN", "VERB", "_"],
    4: ["N", "_"],
    5: ["_", "Case=Nom|Number=Sing", "Number=Sing|Case=Nom", "Case=Nom|Typo=Yes", "Typo=Yes"],
    7: ["nsubj", "nsubj:pass", "case", "case:gen", "aux", "punct"],
}


def text_of(sentences):
    return "".join(sentence.to_conllu() for sentence in sentences)


@pytest.mark.parametrize("name", REAL)
def test_scores_of_real_text_equal_those_of_the_official_scorer(name):
    files = sorted((UD / name).glob("*-ud-test.conllu"))
    if not files:
        pytest.skip(f"no {name} in {UD}; set DYPARSE_UD to an unpacked UD release")
    gold = list(read_sentences(str(files[0]), trees=True))
    system = Perturbation(np.random.default_rng(1)).conllu(gold)
    found = assert_scores_are_official(text_of(gold), system)
    assert 35 < found["mlas"] < found["las"] < found["uas"] < found["words"] < found["tokens"] < 99
    assert 50 < found["alltags"] < found["upos"]
    assert found["sentences"] < 95


def test_scores_of_the_sample_treebank_equal_those_of_the_official_scorer():
    gold = sample("test")
    for seed in range(3):
        system = Perturbation(np.random.default_rng(seed)).conllu(gold)
        assert_scores_are_official(text_of(gold), system)


def random_tokens(text, rng):
    """Sentences of random tokens of a text: (form, words of a multiword token or none)."""
    sentences = [[]]
    while text:
        length = int(rng.integers(1, 4))
        form, text = text[:length], text[length:]
        words = [
            "".join(rng.choice(LETTERS, rng.integers(1, 3))) for _ in range(rng.integers(1, 3))
        ]
        sentences[-1].append((form, words if rng.random() < 0.4 else []))
        if text and rng.random() < 0.2:
            sentences.append([])
    return sentences


def random_file(sentences, rng):
    """A file of these tokens, with random columns and trees."""
    lines = []
    for tokens in sentences:
        size = sum(len(words) or 1 for _, words in tokens)
        head = random_tree(rng, size, "any", one_root=True)
        number = 0
        for form, words in tokens:
            if words:
                lines.append(f"{number + 1}-{number + len(words)}\t{form}" + "\t_" * 8)
            for word in words or [form]:
                number += 1
                cells = [str(number), word, *["_"] * 8]
                for column, values in VALUES.items():
                    cells[column] = str(rng.choice(values))
                cells[6] = str(head[number])
                cells[7] = "root" if head[number] == 0 else cells[7]
                lines.append("\t".join(cells))
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(60))
def test_scores_of_random_files_equal_those_of_the_official_scorer(seed):
    rng = np.random.default_rng(seed)
    text = "".join(rng.choice(LETTERS, 30))
    tokens = random_tokens(text, rng)
    others = tokens if seed % 3 == 0 else random_tokens(text, rng)
    assert_scores_are_official(random_file(tokens, rng), random_file(others, rng))


def test_spaces_within_words_do_not_matter():
    row = "{}\t{}\t{}\tX\t_\t_\t{}\t{}\t_\t_\n"
    gold = row.format(1, "10 000", "1", 0, "root") + row.format(2, "km", "km", 1, "nmod") + "\n"
    system = row.format(1, "10\u00a0000", "1", 0, "root") + row.format(2, "km", "m", 1, "nmod")
    found = assert_scores_are_official(gold, system + "\n")
    assert (found["tokens"], found["lemmas"], found["blex"]) == (100, 50, 50)


def table(*rows):
    """CoNLL-U of one sentence; rows are form, lemma, UPOS, FEATS, head and label."""
    lines = []
    for number, row in enumerate(rows, 1):
        form, lemma, upos, feats, head, label = row.split()
        lines.append(f"{number}\t{form}\t{lemma}\t{upos}\t_\t{feats}\t{head}\t{label}\t_\t_\n")
    return "".join(lines) + "\n"


GOLD = (
    "The the DET Definite=Def 2 det",
    "dogs dog NOUN Number=Plur 4 nsubj",
    "have have AUX Mood=Ind 4 aux:perf",
    "barked bark VERB Tense=Past|Typo=Yes 0 root",
    "at at ADP _ 6 case",
    "cats cat NOUN Number=Plur 4 obl",
    ". . PUNCT _ 4 punct",
)


def scores_with(changes):
    """F1 of MLAS, BLEX, CLAS and LAS after changes to rows of GOLD."""
    rows = [changes.get(number, row) for number, row in enumerate(GOLD, 1)]
    found = assert_scores_are_official(table(*GOLD), table(*rows))
    return [found[name] for name in ("mlas", "blex", "clas", "las")]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (100, 100, 100, 100)),
        # a function word with another tag, feature or label takes its head out of MLAS only
        ({1: "The the PRON Definite=Def 2 det"}, (200 / 3, 100, 100, 100)),
        ({1: "The the DET Definite=Ind 2 det"}, (200 / 3, 100, 100, 100)),
        ({5: "at at ADP _ 6 mark"}, (200 / 3, 100, 100, 600 / 7)),
        # attached to another content word: both words have other function words
        ({5: "at at ADP _ 4 case"}, (100 / 3, 100, 100, 600 / 7)),
        # labels and features are universal: subtypes and Typo do not count
        ({3: "have have AUX Mood=Ind 4 aux:pass"}, (100, 100, 100, 100)),
        ({4: "barked bark VERB Tense=Past 0 root"}, (100, 100, 100, 100)),
        # lemmas of content words; function words and punctuation do not count
        ({6: "cats cats NOUN Number=Plur 4 obl"}, (100, 200 / 3, 100, 100)),
        ({1: "The The DET Definite=Def 2 det"}, (100, 100, 100, 100)),
        ({7: ". , X _ 4 punct"}, (100, 100, 100, 100)),
        # three content words in gold, two in the other file: F1 = 2 · 2 / (3 + 2)
        ({6: "cats cat NOUN Number=Plur 4 punct"}, (80, 80, 80, 600 / 7)),
    ],
)
def test_mlas_and_blex_are_those_counted_by_hand(changes, expected):
    assert scores_with(changes) == pytest.approx(expected)


def test_every_lemma_is_right_where_the_gold_file_has_none():
    without = [row.replace(" dog ", " _ ").replace(" . PUNCT", " _ PUNCT") for row in GOLD]
    found = assert_scores_are_official(table(*without), table(*GOLD))
    assert found["lemmas"] == found["blex"] == 100
    found = assert_scores_are_official(table(*GOLD), table(*without))
    assert found["blex"] == pytest.approx(200 / 3)


def test_metrics_have_precision_recall_f1_and_accuracy_of_aligned_words():
    metric = Metric(right=3, gold=4, parsed=6, aligned=5)
    assert (metric.precision, metric.recall, metric.f1) == (50, 75, 60)
    assert metric.aligned_accuracy == 60
    assert Metric(0, 0, 0, 0).to_dict() == {
        **dict.fromkeys(("right", "gold", "parsed", "aligned"), 0),
        **dict.fromkeys(("precision", "recall", "f1", "aligned_accuracy"), 0.0),
    }
    assert Metric(1, 1, 1).aligned_accuracy is None


def test_the_table_is_printed_with_all_metrics_and_written_as_json():
    scores = conll18_scores(read(table(*GOLD)), read(table(*GOLD)))
    header, *rows = str(scores).splitlines()
    assert header.split() == ["CoNLL", "2018", "precision", "recall", "F1", "aligned"]
    assert [row.split()[0] for row in rows] == list(TITLES.values())
    assert [len(row.split()) for row in rows] == [4] * 3 + [5] * 10
    assert len({len(header), *map(len, rows[3:])}) == 1
    assert json.loads(json.dumps(scores.to_dict()))["blex"]["f1"] == 100
    assert "Words 100.00, LAS 100.00" in repr(scores)
    assert str(scores) in scores._repr_html_()


def test_words_without_a_head_have_no_right_head():
    bare = Sentence.from_words(["a", "b"], upos=["X", "Y"])
    tree = bare.with_tree([0, 1], ["root", "dep"])
    for gold, system in ((tree, bare), (bare, tree), (bare, bare)):
        scores = conll18_scores([gold], [system])
        assert (scores.uas.right, scores.las.right, scores.upos.right) == (0, 0, 2)


def test_tokens_count_though_a_parser_dropped_the_multiword_tokens():
    row = "{}\t{}\t_\t_\t_\t_\t{}\tdep\t_\t_\n"
    words = row.format(1, "de", 0) + row.format(2, "le", 1) + row.format(3, "pain", 1) + "\n"
    gold = read("1-2\tdu" + "\t_" * 8 + "\n" + words)
    scores = conll18_scores(gold, read(words))
    assert (scores.tokens.right, scores.tokens.gold, scores.tokens.parsed) == (1, 2, 3)
    assert scores.words.f1 == scores.las.f1 == scores.sentences.f1 == 100


def test_files_without_words_and_heads_outside_the_sentence_are_errors():
    sentence = Sentence.from_words(["a"])
    for files in (([], [sentence]), ([sentence], [])):
        with pytest.raises(TreebankError, match="no words to score"):
            conll18_scores(*files)
    with pytest.raises(TreebankError, match=r"head of word 1 is 7, expected 0\.\.1"):
        conll18_scores([sentence], [sentence.with_tree([7], ["dep"])])

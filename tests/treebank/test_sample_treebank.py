"""The sample treebank: its contents, and that its script writes the same bytes again."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "dyparse" / "treebank" / "sample_data"
SIZES = {"train": 1500, "dev": 300, "test": 300}
SPLITS = list(SIZES)

NON_PROJECTIVE_SHARE = (0.08, 0.12)
UNKNOWN_SHARE = (0.05, 0.08)  # of the tokens of dev and test, letter case ignored
TRAINING_WORDS = (18_000, 22_000)
LENGTHS = (7, 30)
LARGEST_BYTES = 3_000_000

LABELS = """
    root nsubj nsubj:pass nsubj:outer csubj obj iobj ccomp xcomp obl obl:agent obl:unmarked
    vocative expl discourse advcl advmod aux aux:pass cop mark nmod nmod:poss nmod:desc appos nummod
    acl acl:relcl amod det det:predet case conj cc cc:preconj flat compound compound:prt parataxis
    orphan punct"""
UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ VERB"


@cache
def sample(split: str) -> list[Sentence]:
    return list(read_sentences(DATA / f"{split}.conllu", trees=True))


def path_to_root(sentence: Sentence, word: int) -> set[int]:
    """The word itself and all words on the path to the root."""
    path = set()
    while word != 0:
        path.add(word)
        word = sentence.head[word - 1]
    return path


def non_projective_labels(sentence: Sentence) -> set[str]:
    """Labels of arcs that span a word which does not descend from their head."""
    found = set()
    for dependent, head in enumerate(sentence.head, 1):
        inner = range(min(dependent, head) + 1, max(dependent, head))
        if head and any(head not in path_to_root(sentence, word) for word in inner):
            found.add(sentence.label[dependent - 1])
    return found


def has(sentence: Sentence, label: str, of: str) -> bool:
    """Whether a word with the label hangs on a word with the label `of`."""
    pairs = zip(sentence.label, sentence.head, strict=True)
    return any(r == label and h and sentence.label[h - 1] == of for r, h in pairs)


def test_the_script_writes_the_same_bytes_again(tmp_path: Path) -> None:
    script = ROOT / "scripts" / "make_sample_treebank.py"
    subprocess.run([sys.executable, script, "--output", tmp_path], check=True, timeout=60)
    for split in SPLITS:
        name = f"{split}.conllu"
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), (
            f"{name} is not what {script} writes; run the script and commit its files"
        )


@pytest.mark.parametrize("split", SPLITS)
def test_every_sentence_is_a_tree_with_one_root(split: str) -> None:
    sentences = sample(split)  # the strict reader refuses anything else
    assert len(sentences) == SIZES[split]
    for sentence in sentences:
        assert sentence.head.count(0) == 1
        assert sentence.label.count("root") == 1
        assert sentence.label[sentence.head.index(0)] == "root"


@pytest.mark.parametrize("split", SPLITS)
def test_the_official_validator_finds_no_error(split: str) -> None:
    """At its highest level for English, save that only sentences with empty nodes have a graph."""
    options = ["--lang", "en", "--level", "5", "--no-warnings", "--exclude", "edeps-only-sometimes"]
    command = [sys.executable, "-m", "udtools.cli", *options, "--", DATA / f"{split}.conllu"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("split", SPLITS)
def test_every_sentence_has_a_length_in_range(split: str) -> None:
    shortest, longest = LENGTHS
    assert all(shortest <= len(sentence) <= longest for sentence in sample(split))


def test_the_files_are_small() -> None:
    least, most = TRAINING_WORDS
    assert least <= sum(map(len, sample("train"))) <= most
    assert sum((DATA / f"{split}.conllu").stat().st_size for split in SPLITS) < LARGEST_BYTES


@pytest.mark.parametrize("split", SPLITS)
def test_about_a_tenth_of_the_sentences_is_non_projective(split: str) -> None:
    sentences = sample(split)
    count = sum(not sentence.is_projective() for sentence in sentences)
    least, most = NON_PROJECTIVE_SHARE
    assert least <= count / len(sentences) <= most


@pytest.mark.parametrize("split", SPLITS)
def test_non_projectivity_comes_from_extraposition_and_extraction(split: str) -> None:
    labels = {r for sentence in sample(split) for r in non_projective_labels(sentence)}
    assert {"acl:relcl", "nmod", "obj", "case"} <= labels
    assert "punct" not in labels


@pytest.mark.parametrize("split", ["dev", "test"])
def test_some_tokens_are_unknown(split: str) -> None:
    known = {form.lower() for sentence in sample("train") for form in sentence.form}
    forms = [form.lower() for sentence in sample(split) for form in sentence.form]
    share = sum(form not in known for form in forms) / len(forms)
    least, most = UNKNOWN_SHARE
    assert least <= share <= most


@pytest.mark.parametrize("split", ["dev", "test"])
def test_no_sentence_occurs_in_train(split: str) -> None:
    seen = {tuple(map(str.lower, sentence.form)) for sentence in sample("train")}
    assert not any(tuple(map(str.lower, sentence.form)) in seen for sentence in sample(split))


@pytest.mark.parametrize("split", SPLITS)
def test_every_label_and_tag_occurs(split: str) -> None:
    sentences = sample(split)
    assert {r for sentence in sentences for r in sentence.label} == set(LABELS.split())
    assert {u for sentence in sentences for u in sentence.upos} == set(UPOS.split())


@pytest.mark.parametrize("split", SPLITS)
def test_features_are_sorted(split: str) -> None:
    for sentence in sample(split):
        for feats in sentence.feats:
            names = [feature.split("=")[0].lower() for feature in feats.split("|")]
            assert names == sorted(set(names))


@pytest.mark.parametrize("split", SPLITS)
def test_function_words_and_punctuation_have_no_dependents_of_their_own(split: str) -> None:
    leaves = {"punct", "case", "aux", "aux:pass", "cop", "cc", "mark"}
    for sentence in sample(split):
        assert not any(h and sentence.label[h - 1] in leaves for h in sentence.head)


@pytest.mark.parametrize("split", SPLITS)
def test_conjuncts_follow_and_their_conjunction_precedes_them(split: str) -> None:
    for sentence in sample(split):
        for word, (head, label) in enumerate(zip(sentence.head, sentence.label, strict=True), 1):
            if label in ("conj", "appos", "flat", "orphan"):
                assert head < word
            if label in ("cc", "mark", "det"):
                assert word < head


def test_prepositional_phrases_after_an_object_attach_both_ways() -> None:
    """The same preposition after a noun attaches to the verb in some sentences, not in others."""
    counts: dict[str, Counter[str]] = {}
    for sentence in sample("train"):
        for word, label in enumerate(sentence.label, 1):
            head = sentence.head[word - 1]
            if label == "case" and sentence.label[head - 1] in ("nmod", "obl"):
                follows_noun = word > 1 and sentence.upos[word - 2] == "NOUN"
                if follows_noun:
                    form = sentence.form[word - 1].lower()
                    counts.setdefault(form, Counter())[sentence.label[head - 1]] += 1
    both = {form for form, count in counts.items() if min(count["nmod"], count["obl"]) >= 10}
    assert {"with", "in", "from"} <= both


PHENOMENA = {
    "coordinated nouns": lambda s: has(s, "conj", "obj"),
    "coordinated predicates": lambda s: has(s, "conj", "root"),
    "relative clause in a subject": lambda s: has(s, "acl:relcl", "nsubj"),
    "reduced relative": lambda s: "acl" in s.label,
    "object relative": lambda s: has(s, "obj", "acl:relcl"),
    "passive with an agent": lambda s: {"nsubj:pass", "aux:pass", "obl:agent"} <= set(s.label),
    "control": lambda s: has(s, "xcomp", "root"),
    "complement clause": lambda s: has(s, "ccomp", "root"),
    "chain of auxiliaries": lambda s: ("aux", "aux") in zip(s.label, s.label[1:], strict=False),
    "question": lambda s: s.form[-1] == "?",
    "command": lambda s: any("Mood=Imp" in feats for feats in s.feats),
    "adverbial clause before": lambda s: "advcl" in s.label[: s.head.index(0)],
    "adverbial clause after": lambda s: "advcl" in s.label[s.head.index(0) :],
    "apposition": lambda s: "appos" in s.label,
    "figures": lambda s: any("NumForm=Digit" in feats for feats in s.feats),
    "possessive clitic": lambda s: "POS" in s.xpos,
    "topic": lambda s: (
        s.form[-1] == "." and has(s, "nsubj", "root") and "obj" in s.label[: s.label.index("nsubj")]
    ),
}


@pytest.mark.parametrize("phenomenon", PHENOMENA)
@pytest.mark.parametrize("split", SPLITS)
def test_phenomenon_occurs(split: str, phenomenon: str) -> None:
    assert any(PHENOMENA[phenomenon](sentence) for sentence in sample(split))


@pytest.mark.parametrize("split", SPLITS)
def test_contractions_are_multiword_tokens_and_gapping_has_empty_nodes(split: str) -> None:
    lines = [line for sentence in sample(split) for line in sentence.lines]
    ranges = [line.split("\t")[1].lower() for line in lines if re.match(r"\d+-\d+\t", line)]
    for ending in ("n't", "'s"):
        assert any(form.endswith(ending) for form in ranges)
    empty = sum(bool(re.match(r"\d+\.\d+\t", line)) for line in lines)
    assert 0 < empty <= 0.03 * SIZES[split]


@pytest.mark.parametrize("split", SPLITS)
def test_the_text_comment_is_the_tokens(split: str) -> None:
    for number, sentence in enumerate(sample(split), 1):
        assert sentence.sent_id == f"{split}-{number:04d}"
        text = next(line for line in sentence.lines if line.startswith("# text = "))
        assert text.rstrip("\n").removeprefix("# text = ") == spelled(sentence)


def spelled(sentence: Sentence) -> str:
    """The text according to its tokens and SpaceAfter."""
    text, last_of_range = "", 0
    for line in sentence.lines:
        columns = line.rstrip("\n").split("\t")
        if len(columns) != 10 or "." in columns[0]:
            continue
        first, _, last = columns[0].partition("-")
        if int(first) <= last_of_range and not last:
            continue
        last_of_range = int(last) if last else last_of_range
        text += columns[1] + ("" if "SpaceAfter=No" in columns[9] else " ")
    return text.removesuffix(" ")

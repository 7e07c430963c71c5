"""What is kept of a finished run: written and read, counted again, no word of the treebank."""

import dataclasses
import json
from collections import Counter

import numpy as np
import pytest
from helpers.made_results import made_analysis
from helpers.tiny import fresh_parser, sample, yamls
from test_config import configured

from dyparse import system as systems
from dyparse.config.build import checked
from dyparse.config.options import TrainOptions
from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.errors import DyparseError
from dyparse.evaluation.attachment_scores import align_words, attachment_scores
from dyparse.evaluation.error_analysis import error_analysis
from dyparse.evaluation.run_result import (
    FORMAT_VERSION,
    PARSED,
    RESULT,
    Cell,
    RunResult,
    keep_result,
    read_result,
    results_on,
    sentence_counts,
    setting_name,
    shared_setting,
    split_scores,
    versions,
    watch,
)
from dyparse.model.parser import Parser

DEV = sample("dev")[:60]
CELL = Cell("buffer:left_buffer=false", "explore", "set_nll", "UD_Žluť-Test", 7)
CURVE = [
    {"epoch": 1, "dev_las": 20.0, "loss": 2.5, "seconds": 1.0},
    {"epoch": 2, "dev_las": 40.0, "loss": 1.0, "seconds": 1.0},
    {"epoch": 3, "dev_las": 40.0, "loss": 0.5, "seconds": 1.0},
]
RESULT_MADE = RunResult(
    cell=CELL,
    setting={"encoder": {"hidden": 80}, "network": {"dropout": 1 / 3}},
    curve=CURVE,
    best_epoch=2,
    dev={"uas": 100 / 3, "las": 1.0, "clas": 0.0},
    test={"uas": 0.1 + 0.2, "las": 0.1, "clas": 0.0},
    sentences={
        **{"words": [3, 1], "heads": [2, 0], "labelled": [1, 0]},
        **{"content": [1, 1], "predicted_content": [2, 0], "content_right": [0, 0]},
    },
    analysis=made_analysis(1, 4, 2),
    train_words=1000,
    versions=versions(),
)


# --- file ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [
        {"test": {"uas": 1.0}},
        {"dev": {}},
        {"curve": []},
        {"sentences": {**RESULT_MADE.sentences, "heads": [1]}},
        {"sentences": {"words": [3, 1]}},
    ],
)
def test_a_result_without_what_a_comparison_needs_is_refused(tmp_path, changed):
    dataclasses.replace(RESULT_MADE, **changed).save(tmp_path)
    with pytest.raises(DyparseError, match=RESULT):
        read_result(tmp_path / RESULT)


def test_what_is_saved_is_read_again(tmp_path):
    RESULT_MADE.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [RESULT]
    again = read_result(tmp_path / RESULT)
    assert again == RESULT_MADE
    assert isinstance(again.cell, Cell)
    again.save(tmp_path)
    assert read_result(tmp_path / RESULT) == RESULT_MADE


def test_the_file_has_a_line_for_each_field(tmp_path):
    RESULT_MADE.save(tmp_path)
    lines = (tmp_path / RESULT).read_text().splitlines()
    fields = [field.name for field in dataclasses.fields(RunResult)]
    assert [json.loads(line.partition(":")[0]) for line in lines[1:-1]] == fields
    assert set(json.loads("\n".join(lines))) == set(fields)


def without(name):
    content = dataclasses.asdict(RESULT_MADE)
    del content[name]
    return content


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"17",
        b'"format_version"',
        b"{}",
        b"\xff\xfe{}",
        json.dumps(dataclasses.asdict(RESULT_MADE)).encode()[:-30],
        json.dumps(without("format_version")).encode(),
        json.dumps(without("cell")).encode(),
        json.dumps(without("curve")).encode(),
        json.dumps(dataclasses.asdict(RESULT_MADE) | {"surplus": 1}).encode(),
        json.dumps(dataclasses.asdict(RESULT_MADE) | {"cell": None}).encode(),
        json.dumps(dataclasses.asdict(RESULT_MADE) | {"cell": {"system": "swap"}}).encode(),
    ],
    ids=lambda content: content[:16].decode("latin-1") + f"…{len(content)}",
)
def test_a_damaged_file_is_one_message_with_its_path_and_a_remedy(tmp_path, content):
    path = tmp_path / RESULT
    path.write_bytes(content)
    with pytest.raises(DyparseError, match=r"no result of a run .* remove it") as raised:
        read_result(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("version", [0, FORMAT_VERSION + 1, "1", None])
def test_a_file_of_another_format_says_so(tmp_path, version):
    path = tmp_path / RESULT
    path.write_text(json.dumps(dataclasses.asdict(RESULT_MADE) | {"format_version": version}))
    with pytest.raises(
        DyparseError, match=f"format {version}, .* reads {FORMAT_VERSION}"
    ) as raised:
        read_result(path)
    assert str(raised.value).startswith(f"{path}: ")


# --- setting -------------------------------------------------------------------------------------


def setting_of(*overrides):
    """What a command line has in common with those it can be compared with."""
    return shared_setting(checked(configured(*overrides), TrainOptions))


@pytest.mark.parametrize(
    "override",
    [
        *("seed=7", "treebank=sample", "device=cpu", "threads=1", "output=here"),
        *("system=swap", "system.single_root=false", "exploration=dagger", "loss=hinge"),
    ],
)
def test_what_is_compared_and_where_it_runs_leave_the_name_of_the_setting(override):
    assert setting_name(setting_of(override)) == setting_name(setting_of())


@pytest.mark.parametrize(
    "override",
    [
        *("encoder.hidden=33", "encoder.layers=1", "network.dropout=0.1", "network.hidden=5"),
        *("trainer.epochs=2", "trainer.learning_rate=0.1", "trainer.max_sentences=9"),
        "trainer=debug",
    ],
)
def test_every_other_option_changes_the_name_of_the_setting(override):
    assert setting_name(setting_of(override)) != setting_name(setting_of())


def test_the_name_of_a_setting_does_not_depend_on_the_order_of_options_nor_on_saving(tmp_path):
    setting = setting_of()
    turned = {name: dict(reversed(part.items())) for name, part in reversed(setting.items())}
    assert setting_name(turned) == setting_name(setting)
    result = dataclasses.replace(RESULT_MADE, setting=setting)
    result.save(tmp_path)
    assert (
        read_result(tmp_path / RESULT).setting_name == result.setting_name == setting_name(setting)
    )
    assert "_target_" not in json.dumps(setting)


# --- counts --------------------------------------------------------------------------------------


def test_counts_of_sentences_add_up_to_the_scores(parser):
    parsed = parser.parse(DEV)
    words, scores = align_words(DEV, parsed), attachment_scores(DEV, parsed)
    counts = {name: np.array(column) for name, column in sentence_counts(words).items()}
    sums = {name: int(column.sum()) for name, column in counts.items()}
    assert counts["words"].tolist() == [len(s) for s in DEV]
    assert 100 * sums["heads"] / sums["words"] == pytest.approx(scores.uas)
    assert 100 * sums["labelled"] / sums["words"] == pytest.approx(scores.las)
    both = sums["content"] + sums["predicted_content"]
    assert 200 * sums["content_right"] / both == pytest.approx(scores.clas)
    assert 0 < scores.clas != scores.las
    for sentence, tree, *row in zip(DEV[:20], parsed, *counts.values(), strict=False):
        alone = attachment_scores([sentence], [tree])
        assert [row[1], row[2]] == [
            round(alone.uas * len(sentence) / 100),
            round(alone.las * len(sentence) / 100),
        ]
    assert split_scores(words) == dataclasses.asdict(scores)


def test_counts_of_known_sentences():
    """The second label differs in its subtype only; the third is a content word when predicted."""
    gold = Sentence.from_words(["a", "b", "c"]).with_tree([2, 0, 2], ["det", "root", "obl:tmod"])
    one = gold.with_tree([2, 0, 1], ["nsubj", "root", "obl"])
    other = gold.with_tree([2, 0, 2], ["det", "root", "obl"])
    assert sentence_counts(align_words([gold, gold], [one, other])) == {
        "words": [3, 3],
        "heads": [2, 3],
        "labelled": [1, 2],
        "content": [2, 2],
        "predicted_content": [3, 2],
        "content_right": [1, 2],
    }


# --- watching ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [path.stem for path in yamls("system")])
def test_watching_parses_exactly_as_parsing_does(name):
    parser = fresh_parser(sample("train")[:30], system=systems.load(name))
    watched = watch(parser, DEV)
    assert watched.parsed == list(parser.parse_sentences(DEV))
    assert [s.head for s in watched.parsed] != [s.head for s in DEV]
    moves = Counter(watched.derivations.sentence.tolist())
    assert list(moves) == list(range(len(DEV)))
    assert all(moves[b] <= parser.system.most_moves(len(s)) for b, s in enumerate(DEV))


def test_watching_a_trained_parser_in_many_batches_parses_as_parsing_does(parser, monkeypatch):
    whole = watch(parser, DEV)
    assert whole.parsed == parser.parse(DEV)
    monkeypatch.setattr("dyparse.evaluation.run_result.MAX_TOKENS_PER_BATCH", 50)
    parts = watch(parser, DEV)
    assert [s.head for s in parts.parsed] == [s.head for s in whole.parsed]
    for field in dataclasses.fields(whole.derivations):
        columns = (getattr(each.derivations, field.name) for each in (parts, whole))
        np.testing.assert_array_equal(*columns, field.name)


def test_results_on_a_split_are_made_of_the_parsed_sentences(parser):
    scores, sentences, analysis, parsed = results_on(parser, DEV)
    words = align_words(DEV, parsed)
    assert scores == dataclasses.asdict(attachment_scores(DEV, parsed))
    assert sentences == sentence_counts(words)
    derivations = watch(parser, DEV).derivations
    assert analysis == error_analysis(words, derivations, parser.system.moves)


# --- a run's result ------------------------------------------------------------------------------


def renamed(sentences, prefix):
    """The same trees over words that are nowhere else."""
    return [
        Sentence.from_words(
            [f"{prefix}{b}q{k}" for k in range(len(s))], upos=s.upos, xpos=s.xpos, feats=s.feats
        ).with_tree(s.head, s.label)
        for b, s in enumerate(sentences)
    ]


def kept(directory, parser, splits):
    """The result that a run leaves in a directory with this parser as its model."""
    parser.save(directory / "model", {})
    keep_result(directory, CELL, {"a": 1}, CURVE, splits, Parser.load(directory / "model"))
    return read_result(directory / RESULT)


def test_the_result_of_a_run_has_its_scores_but_no_word_of_the_treebank(tmp_path, parser):
    splits = {
        split: renamed(sample(split)[:12], prefix)
        for split, prefix in (("train", "zyx"), ("dev", "yxz"), ("test", "xzy"))
    }
    result = kept(tmp_path, parser, splits)
    text = (tmp_path / RESULT).read_text()
    assert not any(word in text for word in ("zyx", "yxz", "xzy"))
    assert (result.cell, result.setting, result.curve) == (CELL, {"a": 1}, CURVE)
    assert result.best_epoch == 2  # the first of two that are equally good
    assert result.train_words == sum(map(len, splits["train"]))
    assert result.versions == versions()
    for split, found in (("dev", result.dev), ("test", result.test)):
        expected = attachment_scores(splits[split], parser.parse(splits[split]))
        assert found == dataclasses.asdict(expected)
    assert sum(result.sentences["words"]) == sum(map(len, splits["test"]))
    parsed = list(read_sentences(tmp_path / PARSED, trees=True))
    assert [s.form for s in parsed] == [s.form for s in splits["test"]]
    assert [s.head for s in parsed] == [s.head for s in parser.parse(splits["test"])]


def test_without_a_test_split_dev_takes_its_place(tmp_path, parser):
    result = kept(tmp_path, parser, {"train": DEV[:3], "dev": DEV[3:9]})
    assert result.test == result.dev
    assert result.sentences["words"] == [len(s) for s in DEV[3:9]]


HUGE = 10**400


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *((("analysis",), value) for value in ({}, None, [])),
        *((("analysis", "moves", "SHIFT", "taken"), value) for value in ("1", None, HUGE, -1)),
        *((("analysis", "by_arc_length", "1"), value) for value in ({}, None, 3)),
        *((("analysis", "propagation"), value) for value in ({}, None)),
        *((("curve",), value) for value in ("x", [{}], [], None, [None])),
        *((("test", "las"), value) for value in ("12", HUGE, float("nan"), float("inf"), None)),
        *((("cell", "system"), value) for value in (None, 3)),
        *((("cell", "seed"), value) for value in (None, "1", True)),
        *(((name,), None) for name in ("setting", "versions", "sentences", "dev", "cell")),
        (("sentences", "words"), ["x"]),
        (("sentences", "heads"), [HUGE]),
    ],
    ids=lambda part: str(part)[:30],
)
def test_a_result_that_cannot_be_one_is_a_message(place, value, tmp_path, dyparse_command):
    RESULT_MADE.save(tmp_path)
    content = json.loads((tmp_path / RESULT).read_bytes())
    part = content
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    (tmp_path / RESULT).write_text(json.dumps(content))
    status, _, err = dyparse_command("report", tmp_path)
    assert status == 2
    assert err.startswith(f"error: {tmp_path / RESULT}: no result of a run (")
    assert "remove it, and the cell is run again" in err
    assert [path.name for path in tmp_path.iterdir()] == [RESULT]


@pytest.mark.parametrize("text", ["", "[" * 100_000, "null", "{}", '{"format_version": []}'])
def test_a_file_that_holds_no_result_is_a_message(text, tmp_path):
    (tmp_path / RESULT).write_text(text)
    with pytest.raises(DyparseError, match="result"):
        read_result(tmp_path / RESULT)

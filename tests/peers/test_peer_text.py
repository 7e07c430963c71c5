"""benchmarks/peers from raw text."""

from __future__ import annotations

import io

import dyparse_text
import lineup
import pytest
import run as driver
import text_table
import udpipe_text
from helpers.peers import PEERS, result
from helpers.tiny import sample
from raw_text import RawText, text_of

from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.evaluation.conll18.scores import TITLES

SPLITS = ("train", "dev", "test")


def read_text(text: str) -> list[Sentence]:
    return list(read_sentences(io.StringIO(text), trees=True))


def row(number: int | str, form: str, misc: str = "_") -> str:
    head, label = (0, "root") if number == 1 else (1, "dep")
    tree = "_\t_" if isinstance(number, str) else f"{head}\t{label}"
    return f"{number}\t{form}\t_\t_\t_\t_\t{tree}\t_\t{misc}\n"


def test_text_has_the_spaces_and_paragraphs_of_the_treebank():
    sentences = (
        "# newdoc id = a\n# newpar\n# text = Du pain.\n",
        row("1-2", "Du"),
        *(row(1, "De", "SpaceAfter=No"), row(2, "le"), row(3, "pain", "SpaceAfter=No")),
        row(4, ".") + "\n",
        *(row(1, "Et"), row("2-3", "du", "SpaceAfter=No"), row(2, "de"), row(3, "le") + "\n"),
        row(1, "!", "A=b|SpaceAfter=No") + "\n",
        "# newpar id = 2\n" + row(1, "Oui", "SpaceAfter=No") + "\n",
        row(1, "!") + "\n",
    )
    assert text_of(read_text("".join(sentences))) == "Du pain. Et du!\n\nOui!\n"


def test_parsers_of_text_get_whole_train_and_dev_but_of_test_the_text_only(tmp_path):
    splits = {split: sample(split)[:5] for split in ("train", "dev", "test")}
    files = RawText().write_inputs(splits, tmp_path)
    assert files["train"].read_text() == "".join(s.to_conllu() for s in splits["train"])
    assert files["test"].name == "test.txt"
    assert files["test"].read_text() == text_of(splits["test"])


def test_scores_from_text_are_those_of_conll_2018(tmp_path):
    gold, path = sample("test")[:5], tmp_path / "parsed.conllu"
    joined = gold[0].with_columns({"upos": ["X"] * len(gold[0])})
    path.write_text("".join(s.to_conllu() for s in (joined, *gold[1:])), encoding="utf-8")
    found = RawText().scores(gold, path)["conll18"]
    assert (found["words"], found["lemmas"], found["las"]) == (100, 100, 100)
    assert 0 < found["upos"] < 100
    path.write_text(row(1, "other") + "\n", encoding="utf-8")
    with pytest.raises(driver.RunError, match="the gold text is"):
        RawText().scores(gold, path)


def test_options_of_udpipe_can_be_set_and_a_quick_run_has_one_iteration():
    def options_of(*arguments: str) -> dict[str, object]:
        given = ["--root", "ud", "--output", "o.json", "--task", "text", *arguments]
        peers = lineup.text_peers(driver.command_line().parse_args(given))
        return {row.name: row.options for peer in peers for row in peer.rows}

    assert options_of() == {"udpipe-text": {**udpipe_text.PARTS, "heldout": False}}
    changed = options_of("--quick", "--udpipe-parser", "iterations=3;use_gold_tags=1")
    expected = {**udpipe_text.QUICK, "parser": "iterations=3;use_gold_tags=1", "heldout": False}
    assert changed == {"udpipe-text": expected}
    assert list(options_of("--models", "a", "b", "--dyparse", "fast", "--peers", "spacy")) == [
        "dyparse-text-fast",
        "dyparse-model-1",
        "dyparse-model-2",
    ]


def test_a_model_parses_the_text_of_test_and_is_scored(options, model_directory):
    options.task = "text"
    (line,) = dyparse_text.rows([], [model_directory])
    peer = driver.Peer("dyparse", PEERS / "dyparse_text.py", (), (line,))
    found = driver.Run(options).result(peer, line)
    assert "failed" not in found, found
    assert found["end"]["conll18"]["words"] > 50
    assert found["parsing"]["text"] > 0
    assert found["end"]["reason"].startswith("trained before")
    assert f"| dyparse, {model_directory} |" in text_table.markdown([found])


def test_udpipe_is_trained_from_scratch_and_parses_text_greedily_and_with_a_beam(options):
    pytest.importorskip("ufal.udpipe", reason="ufal.udpipe is not installed")
    options.task = "text"
    (line,) = udpipe_text.rows(udpipe_text.QUICK, heldout=True)
    peer = driver.Peer("udpipe", PEERS / "udpipe_text.py", (), (line,))
    found = driver.Run(options).result(peer, line)
    assert "failed" not in found, found
    assert found["end"]["cpu_seconds"] > 0
    assert [other["name"] for other in found["others"]] == ["beam 5"]


def test_the_table_of_text_has_all_scores_and_a_line_for_the_beam():
    scores = dict.fromkeys(TITLES, 50.0) | {"blex": 12.345}
    end = {"cpu_seconds": 1700.0, "reason": "all iterations", "conll18": scores}
    others = [{"name": "beam 5", "conll18": scores | {"las": 60.0}, "parsing": {"text": 4000.0}}]
    found = result("udpipe-text", 1, end=end, others=others, parsing={"text": 6450.0})
    failed = {"row": "x", "title": "broken", "reads": "text", "failed": "a | b"}
    text = text_table.markdown([found, failed])
    header, _, first, beam, broken = text.split("\n")[:5]
    assert header.split(" | ")[1:14] == list(TITLES.values())
    assert first.split(" | ")[13:16] == ["12.35", "1,702", "6,450"]
    assert beam.startswith("| the same model, beam 5 |")
    assert (beam.split(" | ")[10], beam.split(" | ")[15]) == ("60.00", "4,000")
    assert "failed: a \\| b" in broken
    assert "- the udpipe-text (words): all iterations; it 1.0" in text

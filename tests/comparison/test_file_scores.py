"""Scores of files with any words and their differences; `dyparse score`."""

import csv
import io
import json
import sys

import numpy as np
import pytest
from helpers.messages import assert_one_message
from helpers.tiny import sample

from dyparse.cli.main import main
from dyparse.comparison.file_scores import arcs_by, score_files, scores_of_file
from dyparse.data.conllu import read_sentences
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.evaluation.conll18.parsed_file import parsed_file
from dyparse.evaluation.conll18.scores import TITLES, conll18_scores
from dyparse.evaluation.score_report import score_report
from dyparse.treebank._names import files_of

LABELS = ["nsubj", "nsubj:pass", "case", "punct"]
DEV = sample("dev")[:30]


@pytest.mark.parametrize("space", ["\u00a0", "\u2003\u00a0"])
def test_a_word_of_spaces_at_the_end_belongs_to_the_last_sentence(space):
    def read(*forms):
        row = "{}\t{}\t_\t_\t_\t_\t{}\tdep\t_\t_\n"
        rows = "".join(row.format(n, form, n - 1) for n, form in enumerate(forms, 1))
        return list(read_sentences(io.StringIO(f"{rows}\n"), trees=True))

    gold = [*read("a", "b"), *read("c")]
    file = parsed_file(gold, [*read("ab"), *read("c", space)])
    assert file.parsed_sentence.tolist() == [0, 1, 1]
    assert scores_of_file(file).conll18.words.f1 == pytest.approx(100 * 2 / 6)


def worse(sentences, probability, seed=1):
    """The sentences with some heads and labels replaced; still trees."""
    rng = np.random.default_rng(seed)
    changed = []
    for sentence in sentences:
        head, label = list(sentence.head), list(sentence.label)
        root = head.index(0) + 1
        for word in range(len(sentence)):
            if head[word] and rng.random() < probability:
                label[word] = str(rng.choice(LABELS))
                if word + 1 not in head:  # a leaf
                    head[word] = root
        changed.append(sentence.with_tree(head, label))
    return changed


@pytest.mark.parametrize("punctuation", [True, False])
def test_scores_of_the_same_words_are_those_of_evaluate(punctuation):
    parsed = worse(DEV, 0.4)
    ours = scores_of_file(parsed_file(DEV, parsed), punctuation=punctuation).to_dict()
    theirs = attachment_scores(DEV, parsed, punctuation=punctuation)
    assert 20 < ours["las"] < 95
    assert ours == pytest.approx({name: getattr(theirs, name) for name in ours})


def test_scores_by_class_of_arcs_are_those_of_evaluate():
    parsed = worse(DEV, 0.4)
    file, report = parsed_file(DEV, parsed), score_report(DEV, parsed)
    assert arcs_by(file, "length") == report.by_length
    assert arcs_by(file, "label") == report.by_label


def test_scores_by_class_of_arcs_can_leave_out_punctuation(files, dyparse_command):
    file = parsed_file(DEV, worse(DEV, 0.3))
    for kind in ("label", "length"):
        arcs = arcs_by(file, kind, punctuation=False).values()
        assert sum(scores.gold for scores in arcs) == (~file.gold.punctuation).sum()
        assert sum(scores.predicted for scores in arcs) == (~file.gold.punctuation).sum()
    gold = files[0]
    out = dyparse_command("score", gold, gold, "--by", "label", "--no-punctuation")[1]
    assert "punct" not in out.replace("punctuation", "")
    assert "without punctuation" in out


def test_differences_have_an_interval_and_a_corrected_p():
    files = {
        name: parsed_file(DEV, worse(DEV, probability, seed))
        for name, probability, seed in (("base", 0.3, 1), ("alike", 0.3, 2), ("bad", 0.9, 3))
    }
    base, alike, bad = score_files(files, baseline="base", resamples=500)
    assert (base.difference, base.p, base.verdict) == (None, None, "")
    assert alike.difference.low < alike.difference.mean < alike.difference.high
    assert alike.verdict == ""
    assert bad.verdict == "worse"
    assert bad.difference.mean == pytest.approx(bad.scores.score("las") - base.scores.score("las"))
    assert bad.p == pytest.approx(2 * bad.difference.p_sentences)  # the least of two


@pytest.fixture
def files(tmp_path):
    """Paths of the gold file and of two parsed files."""
    for name, sentences in (("gold", DEV), ("good", worse(DEV, 0.1)), ("bad", worse(DEV, 0.9))):
        text = "".join(sentence.to_conllu() for sentence in sentences)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [tmp_path / name for name in ("gold", "good", "bad")]


def test_dyparse_score_prints_a_row_per_file_and_writes_json_and_csv(
    files, tmp_path, dyparse_command
):
    gold, good, bad = files
    outputs = ("--json", tmp_path / "o.json", "--csv", tmp_path / "o.csv")
    status, out, err = dyparse_command("score", gold, bad, good, "--baseline", good, *outputs)
    assert (status, err) == (0, "")
    own, words, trees = (table.splitlines() for table in out.split("\n\n"))
    header, first, second, note = own
    assert header.split()[:4] == ["file", "UAS", "LAS", "difference"]
    assert first.startswith(str(bad))
    assert "[−" in first
    assert first.endswith("< 0.001")
    assert len(second.split()) == 3
    assert (
        f"Differences in LAS from {good}; p: paired permutation test over sentences, Holm-" in note
    )
    assert [*words[0].split(), *trees[0].split()[1:]] == ["file", *TITLES.values()]
    assert words[1].split()[1:] == ["100.00"] * 8
    assert len(trees) == 4
    content = json.loads((tmp_path / "o.json").read_text())
    assert [row["file"] for row in content["files"]] == [str(bad), str(good)]
    (row, base) = csv.DictReader((tmp_path / "o.csv").open(newline=""))
    assert float(row["difference_las"]) == content["files"][0]["difference_las"]
    assert base["p_corrected"] == ""
    official = content["files"][0]["conll18"]
    assert list(official) == list(TITLES)
    assert float(row["conll18_mlas"]) == official["mlas"]["f1"]


def test_one_file_gets_the_table_of_the_shared_task(files, dyparse_command):
    gold, good, _ = files
    status, out, _ = dyparse_command("score", gold, good)
    assert status == 0
    own, official = out.split("\n\n")
    assert own.splitlines()[0].split() == ["file", "UAS", "LAS"]
    scores = conll18_scores(DEV, worse(DEV, 0.1))
    assert official == f"{scores}\n"
    assert 80 < scores.las.f1 < 100


def test_tables_of_several_files_fit_into_a_hundred_columns(files, monkeypatch, dyparse_command):
    gold, *others = files
    monkeypatch.chdir(gold.parent)
    names = [f"systems/{other.name}/parsed.conllu" for other in others]
    for name, other in zip(names, others, strict=True):
        (gold.parent / name).parent.mkdir(parents=True)
        other.rename(name)
    out = dyparse_command("score", "gold", *names)[1]
    rows = [line for line in out.splitlines() if line.startswith(("file", "systems"))]
    assert len(rows) == 9
    assert max(map(len, rows)) <= 100


def test_names_that_are_not_utf8_are_escaped_in_json_and_csv(files, tmp_path, monkeypatch):
    name = tmp_path / "parsed-\udcff"
    try:
        name.write_bytes(files[1].read_bytes())
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    outputs = ("--json", tmp_path / "o.json", "--csv", tmp_path / "o.csv")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "utf-8"))
    assert main([str(part) for part in ("score", files[0], name, *outputs)]) == 0
    assert b"parsed-\xff" in sys.stdout.buffer.getvalue()  # as it was given
    (row,) = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["files"]
    assert row["file"] == str(name)
    assert r"parsed-\udcff" in (tmp_path / "o.csv").read_text(encoding="utf-8")


def test_one_file_may_be_standard_input_and_scores_by_class_are_added(files, dyparse_command):
    gold, good, _ = files
    status, out, _ = dyparse_command("score", gold, "-", "--by", "length", stdin=good.read_bytes())
    assert status == 0
    assert out.splitlines()[1].startswith("-")
    assert "length  gold  parsed  recall  precision      F1\n" in out
    _, out, _ = dyparse_command("score", gold, good, gold, "--by", "label")
    *_, table = out.split("\n\n")
    assert table.split()[:4] == ["label", "gold", str(good), str(gold)]


def test_the_gold_file_may_be_the_test_split_of_a_treebank(
    files, tmp_path, monkeypatch, dyparse_command
):
    monkeypatch.chdir(tmp_path)
    for split, text in (("train", "no CoNLL-U"), ("test", files[0].read_text())):
        (tmp_path / "ud/UD_Toy-One").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"ud/UD_Toy-One/toy-ud-{split}.conllu").write_text(text)
    for gold in ("UD_Toy-One", "ud/UD_Toy-One"):
        assert dyparse_command("score", gold, "bad") == dyparse_command("score", "gold", "bad")
    assert "100.00" in dyparse_command("score", "sample", files_of("sample")[1][2])[1]
    (tmp_path / "ud/UD_Toy-One/toy-ud-test.conllu").unlink()
    result = dyparse_command("score", "UD_Toy-One", "bad")
    assert_one_message(result, "UD_Toy-One: no test split in it; name a file")


def test_a_parser_may_split_the_text_into_other_words_and_sentences(tmp_path, dyparse_command):
    row = "{}\t{}\t_\t_\t_\t_\t{}\t{}\t_\t_\n"
    first, rest = row.format(1, "New", 0, "root"), row.format(2, "York", 1, "flat")
    (tmp_path / "gold").write_text(f"{first}{rest}\n")
    (tmp_path / "one").write_text(row.format(1, "NewYork", 0, "root") + "\n")
    (tmp_path / "two").write_text(f"{first}\n{row.format(1, 'York', 0, 'root')}\n")
    paths = [tmp_path / name for name in ("gold", "one", "two")]
    status, out, _ = dyparse_command("score", *paths)
    assert status == 0
    trees, words, _ = (table.splitlines() for table in out.split("\n\n"))
    assert words[0].split()[1:4] == ["Tokens", "Sentences", "Words"]
    assert words[1].split()[1:4] == ["0.00", "100.00", "0.00"]
    assert words[2].split()[1:4] == ["100.00", "0.00", "100.00"]
    assert [row.split()[1:3] for row in trees[1:3]] == [["0.00"] * 2, ["50.00"] * 2]


def test_wrong_files_are_one_message_and_nothing_is_written(files, tmp_path, dyparse_command):
    gold, good, _ = files
    short = tmp_path / "short"
    short.write_text(DEV[0].to_conllu())
    out = ("--json", tmp_path / "o.json")
    for arguments, finding in (
        ((gold, short, *out), "nothing more"),
        ((gold, good, good), "given twice"),
        (("-", "-"), "standard input can be read once"),
        ((gold, good, "--baseline", "nosuch"), "--baseline is nosuch, expected one of"),
        ((gold, tmp_path / "nosuch", *out), "no such file"),
        ((gold, good, "--json", gold), "which is read"),
    ):
        assert_one_message(dyparse_command("score", *arguments), finding)
    assert not (tmp_path / "o.json").exists()

"""What the parsers of benchmarks/peers get, and how their trees are scored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import dyparse_itself
import pytest
import run as driver
import udpipe
from conllu_columns import read_columns, read_rows, without_tags, write_trees
from gold_words import GoldWords, plain
from helpers.peers import PEERS, job_in
from helpers.tiny import sample

from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.evaluation.attachment_scores import attachment_scores

SPLITS = ("train", "dev", "test")


def three_words() -> Sentence:
    tree = [(3, "det"), (3, "amod"), (0, "root")]
    bare = Sentence.from_words(["the", "old", "dog"], upos=["DET", "ADJ", "NOUN"])
    return bare.with_tree([h for h, _ in tree], [r for _, r in tree])


def test_test_data_give_nothing_of_the_gold_tree_away(tmp_path):
    gold = sample("test")
    path = tmp_path / "test.conllu"
    path.write_text("".join(plain(s, tree=False) for s in gold), encoding="utf-8")
    seen = read_columns(path)
    assert [s.form for s in seen] == [s.form for s in gold]
    assert [s.upos for s in seen] == [s.upos for s in gold]
    assert {tuple(s.head) for s in seen} == {tuple(range(len(s))) for s in gold}
    assert {r for s in seen for r in s.label} == {"root", "dep"}
    columns = [line.split("\t") for line in path.read_text().split("\n") if line]
    assert {(c[8], c[9]) for c in columns} == {("_", "_")}


def test_training_data_have_words_and_their_trees_only(tmp_path):
    lines = ["# text = x\n", "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"]
    lines += ["1\tde\tde\tADP\tE\t_\t2\tcase\t2:case\tA=b\n"]
    lines += ["2\tle\tle\tDET\tD\tG=m\t0\troot\t_\t_\n", "2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n", "\n"]
    path = tmp_path / "in.conllu"
    path.write_text("".join(lines), encoding="utf-8")
    (sentence,) = read_sentences(str(path), trees=True)
    expected = "1\tde\tde\tADP\tE\t_\t2\tcase\t_\t_\n2\tle\tle\tDET\tD\tG=m\t0\troot\t_\t_\n\n"
    assert plain(sentence, tree=True) == expected


def test_trees_are_written_and_scored_as_dyparse_scores_them(tmp_path):
    gold = sample("test")
    source, trees = tmp_path / "test.conllu", tmp_path / "trees.conllu"
    source.write_text("".join(plain(s, tree=False) for s in gold), encoding="utf-8")
    guesses = [s.with_tree([0] * len(s), s.label) for s in gold]  # many roots, no tree
    write_trees(source, trees, guesses)
    scores = attachment_scores(gold, guesses)
    assert GoldWords().scores(gold, trees) == {"uas": scores.uas, "las": scores.las}
    assert 0 < scores.las < 50


def test_trees_of_other_words_are_not_scored(tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_text(plain(three_words(), tree=False), encoding="utf-8")
    with pytest.raises(driver.RunError, match="other words than test"):
        GoldWords().scores(sample("test"), path)


def test_files_without_tags_have_the_same_words_and_trees_only(tmp_path):
    GoldWords().write_inputs({split: sample(split)[:2] for split in SPLITS}, tmp_path)
    job = job_in(tmp_path)
    for upos in ("_", "form"):
        untagged = without_tags(job, (lambda form: form) if upos == "form" else (lambda _: "_"))
        for split in SPLITS:
            before, after = (
                [row for rows in read_rows(Path(getattr(of, split))) for row in rows]
                for of in (job, untagged)
            )
            assert [r[:2] + r[6:] for r in after] == [r[:2] + r[6:] for r in before]
            forms = [row[1] if upos == "form" else "_" for row in before]
            assert [row[2:6] for row in after] == [["_", form, "_", "_"] for form in forms]


def test_every_parser_has_lines_with_and_without_tags():
    for peer in driver.PEERS.values():
        assert {"UPOS" in row.reads for row in peer.rows} == {True, False}, peer.name


def test_a_line_of_dyparse_says_what_its_model_reads():
    default, gold_tags = dyparse_itself.rows(["default", "gold_tags"])
    assert default.reads == "words, subwords, characters"
    assert gold_tags.reads == "words, subwords, UPOS"
    options = ["encoder.pretrained=DIR", "encoder.features=[subword,upos]"]
    (frozen,) = dyparse_itself.rows([" ".join(["frozen", *options])])
    assert (frozen.name, frozen.reads) == ("dyparse-frozen", "subwords, UPOS")
    assert frozen.options == {"overrides": ["experiment=frozen", *options]}


def test_udpipe_without_tags_does_not_read_them(tmp_path):
    ufal = pytest.importorskip("ufal.udpipe", reason="ufal.udpipe is not installed")
    files = GoldWords().write_inputs({split: sample(split)[:10] for split in SPLITS}, tmp_path)
    (line,) = (row for row in udpipe.ROWS if row.name == "udpipe-static-no-tags")
    job = job_in(tmp_path, options=line.options)
    train = udpipe.read(ufal, files["train"].read_text(encoding="utf-8"))
    model, _ = udpipe.Trainings(ufal, train, job).take(1)
    trees = []
    for name, given in (("tags", job), ("none", without_tags(job))):
        udpipe.parse_file(ufal, model, given, "", tmp_path / name)
        trees.append([(s.head, s.label) for s in read_columns(tmp_path / name)])
    assert trees[0] == trees[1]


def test_peak_memory_is_that_of_the_largest_process():
    child = "bytes(range(1, 251)) * 800_000"  # 200 MB
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])\n"
    script += f"sys.path.insert(0, {str(PEERS)!r})\nimport measurement\n"
    script += "sys.stdout.write(str(measurement.peak_bytes()))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert 200_000_000 < int(done.stdout) < 400_000_000

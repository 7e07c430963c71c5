"""Raw text to trees: from Python and from the command line, in one process and in several."""

from __future__ import annotations

import json

import pytest
from helpers.tiny import fresh_parser, sample

from dyparse.data.conllu import read_sentences
from dyparse.errors import CheckpointError, ConfigError, DyparseWarning
from dyparse.model.parser import Parser
from dyparse.tokenizer import restored_text
from dyparse.tokenizer.learned import Learned

TEXT = "The dog barks. It sleeps!\n\nA  new paragraph\tbegins. “Really?” Yes.\n"
LONG = (TEXT + "\n") * 60
TRAIN = sample("train")[:40]


@pytest.fixture(scope="module")
def tagging_parser():
    """It predicts tags, with random weights, and has a learned tokenizer."""
    heads = ("labels", "upos", "xpos", "feats", "lemma")
    parser = fresh_parser(TRAIN, heads=heads, features=["word"], layers=2)
    choice = Learned(epochs=1, hidden=8, embedding=8)
    return parser.with_tokenizer(choice, choice.train(TRAIN, [], 1))


@pytest.fixture(scope="module")
def tagging_model(tagging_parser, tmp_path_factory):
    directory = tmp_path_factory.mktemp("tagging") / "model"
    tagging_parser.save(directory, {})
    return directory


def read(path, out):
    path.write_text(out, encoding="utf-8", newline="")
    return list(read_sentences(path, trees=True))


@pytest.mark.filterwarnings("ignore:the model reads UPOS")
def test_a_text_gives_a_document_whose_tokens_know_their_place(parser):
    document = parser(TEXT)
    assert document.text == TEXT
    assert [s.text for s in document] == [
        *("The dog barks.", "It sleeps!", "A new paragraph begins.", "“Really?”", "Yes.")
    ]
    for token in document.tokens:
        assert TEXT[token.start : token.end] == token.form
        assert token.head >= 0
    assert restored_text(document) == TEXT
    assert len(json.loads(document.to_json())["sentences"]) == 5
    assert len(parser("")) == 0


def test_a_warning_about_missing_tags_points_at_the_caller(parser):
    for parse in (
        parser,
        lambda text: parser.parse_texts([text]),
        lambda text: parser.parse([text]),
    ):
        with pytest.warns(DyparseWarning, match="the model reads UPOS") as found:
            parse("A dog sleeps.")
        assert found[0].filename == __file__


@pytest.mark.filterwarnings("ignore:the model reads UPOS")
def test_several_texts_give_as_many_documents(parser):
    one, none, two = parser.parse_texts(["A dog. A cat.", " \n", "It sleeps."])
    assert (len(one), len(none), len(two)) == (2, 0, 1)
    assert [s.form for s in parser.parse(["A dog. A cat.", "It sleeps."])] == [
        ["A", "dog", ".", "A", "cat", "."],
        ["It", "sleeps", "."],
    ]


def test_a_model_that_predicts_tags_reads_its_tokenizer_again(
    tagging_parser, tagging_model, tmp_path, dyparse_command
):
    again = Parser.load(tagging_model)
    document = tagging_parser(TEXT)
    assert again(TEXT).to_conllu() == document.to_conllu()
    (tmp_path / "in.txt").write_text(TEXT, encoding="utf-8")
    given = ("parse", tagging_model, tmp_path / "in.txt", "--precision", "float32")
    status, out, err = dyparse_command(*given)
    assert (status, err) == (0, "")
    assert out == document.to_conllu()
    parsed = read(tmp_path / "out.conllu", out)
    assert restored_text(parsed) == TEXT
    assert all(tag != "_" for s in parsed for tag in s.upos)


@pytest.mark.parametrize("input_format", ["text", "lines"])
def test_workers_write_the_bytes_of_one_process(
    tagging_model, tmp_path, dyparse_command, monkeypatch, input_format
):
    monkeypatch.setattr("dyparse.parsing.chunks.CHARACTERS_PER_CHUNK", 1500)
    (tmp_path / "in.txt").write_text(LONG, encoding="utf-8")
    given = ["parse", tagging_model, tmp_path / "in.txt", "--input", input_format]
    status, alone, _ = dyparse_command(*given)
    assert status == 0
    assert dyparse_command(*given, "--workers", 2)[:2] == (0, alone)
    assert restored_text(read(tmp_path / "out.conllu", alone)) == LONG


def test_json_lines_are_those_of_python_with_workers_and_in_a_corpus_too(
    tagging_parser, tagging_model, tmp_path, dyparse_command, monkeypatch, no_ray
):
    monkeypatch.setattr("dyparse.parsing.chunks.CHARACTERS_PER_CHUNK", 1500)
    (tmp_path / "in.txt").write_text(LONG, encoding="utf-8")
    given = ["parse", tagging_model, tmp_path / "in.txt", "--format", "json"]
    given += ["--precision", "float32"]
    status, alone, _ = dyparse_command(*given)
    assert status == 0
    assert alone == "".join(sentence.to_json() + "\n" for sentence in tagging_parser(LONG))
    assert dyparse_command(*given, "--workers", 2)[:2] == (0, alone)
    corpus = ["parse-corpus", *given[1:], "-o", tmp_path / "out"]
    assert dyparse_command(*corpus)[0] == 0
    assert (tmp_path / "out" / "in.jsonl").read_text(encoding="utf-8") == alone
    assert no_ray == ["in.txt"]


def test_a_line_stays_one_sentence_and_a_text_does_not(model_directory, dyparse_command):
    for input_format, sentences in (("lines", 1), ("text", 2)):
        given = ("parse", model_directory, "--input", input_format)
        _, out, _ = dyparse_command(*given, stdin="A dog. A cat.\n")
        assert out.count("# text = ") == sentences


def test_words_with_spaces_between_them_stay_as_they_are(tagging_model, dyparse_command):
    text = "can't stop .\n\nU.S. !?\n"
    status, out, _ = dyparse_command("parse", tagging_model, "--input", "words", stdin=text)
    assert status == 0
    words = [line.split("\t")[1] for line in out.splitlines() if line[:1].isdigit()]
    assert words == text.split()


def test_columns_that_are_given_are_kept_and_the_others_predicted(
    tagging_model, dyparse_command, tmp_path
):
    given = sample("dev")[0]
    upos = ["_", *given.upos[1:]]
    path = tmp_path / "in.conllu"
    path.write_text(given.with_columns({"upos": upos}).to_conllu())
    command = ["parse", tagging_model, path]
    (new,) = read(tmp_path / "new", dyparse_command(*command)[1])
    (kept,) = read(tmp_path / "kept", dyparse_command(*command, "--keep", "upos, lemma")[1])
    assert kept.upos == [new.upos[0], *given.upos[1:]]
    assert kept.lemma == given.lemma
    assert kept.xpos != new.xpos  # it fits the UPOS tags that are given
    status, _, err = dyparse_command(*command, "--keep", "deprel")
    assert (status, err.count("\n")) == (2, 1)
    assert "'deprel', expected some of upos" in err
    with pytest.raises(ConfigError, match="expected some of"):
        Parser.load(tagging_model, keep=["head"])


def test_text_and_other_files_do_not_mix(tagging_model, dyparse_command, tmp_path):
    for name in ("a.txt", "b.conllu"):
        (tmp_path / name).write_text("A dog.\n")
    status, out, err = dyparse_command("parse", tagging_model, *tmp_path.iterdir())
    assert (status, out) == (2, "")
    assert "--input" in err


def test_a_damaged_tokenizer_is_one_message(tagging_parser, tmp_path):
    tagging_parser.save(tmp_path / "model", {})
    (tmp_path / "model" / "tokenizer" / "tokenizer.json").write_text("{}")
    with pytest.raises(CheckpointError, match=r"tokenizer\.json: damaged"):
        Parser.load(tmp_path / "model")

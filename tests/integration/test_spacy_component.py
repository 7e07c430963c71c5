"""The spaCy component: what the parser predicts, on spaCy's tokens; saved with its pipeline."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys

import pytest
import spacy
from helpers.tiny import fresh_parser, sample
from spacy.tokens import Doc
from spacy.training import Example

from dyparse.errors import CheckpointError, ConfigError
from dyparse.integration.spacy_component import make_component
from dyparse.model.checkpoint import read_metrics
from dyparse.model.parser import Parser

TEXT = "The dog barks. It can't sleep, can it? Nobody knows."
TEXTS = [TEXT, "", "One more.", "A cat sleeps. \n\n It dreams.", " \n "]
TAGS = ("labels", "upos", "xpos", "feats", "lemma")


@pytest.fixture(scope="module")
def directory(once):
    """A model that predicts everything; random weights tell words apart as well as trained ones."""

    def make(path):
        parser = fresh_parser(
            sample("train")[:60], heads=TAGS, features=["word", "subword:buckets=400"]
        )
        parser.save(path / "model", {"note": "tagger"})

    return once("spacy", make) / "model"


@pytest.fixture(scope="module")
def parser(directory):
    return Parser.load(directory)


@pytest.fixture(scope="module")
def nlp(directory):
    return pipeline(directory)


def pipeline(directory, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe("dyparse", config={"model": str(directory), **config})
    return nlp


def annotations(doc):
    """All that the component sets, with heads as places in the document."""
    names = ("dep_", "tag_", "pos_", "lemma_", "is_sent_start")
    return [
        (token.text, token.head.i, str(token.morph), *(getattr(token, name) for name in names))
        for token in doc
    ]


def sentences(doc):
    return [[token.text for token in sentence] for sentence in doc.sents]


# --- what is set ---------------------------------------------------------------------------------


def test_every_token_gets_what_the_parser_predicts_for_the_same_words(nlp, parser):
    doc = nlp(TEXT)
    words = [["The", "dog", "barks", "."], ["It", "ca", "n't", "sleep", ",", "can", "it", "?"]]
    words.append(["Nobody", "knows", "."])
    assert sentences(doc) == words
    for span, expected in zip(doc.sents, parser.parse(words), strict=True):
        heads = [0 if token.head == token else token.head.i - span.start + 1 for token in span]
        assert heads == expected.head
        deps = [
            "ROOT" if head == 0 else "dep" if label == "root" else label
            for head, label in zip(expected.head, expected.label, strict=True)
        ]
        assert [token.dep_ for token in span] == deps
        assert [token.tag_ for token in span] == expected.xpos
        assert [token.pos_ for token in span] == expected.upos
        assert [str(token.morph) or "_" for token in span] == expected.feats
        assert [token.lemma_ for token in span] == expected.lemma
    for name in ("DEP", "TAG", "POS", "MORPH", "LEMMA", "SENT_START"):
        assert doc.has_annotation(name, require_complete=True), name


def test_a_trained_root_is_called_as_in_spacy(model_directory):
    nlp = pipeline(model_directory)
    words = ["The", "dog", "barks", "."]
    doc = Doc(nlp.vocab, words=words, pos=["DET", "NOUN", "VERB", "PUNCT"])
    (root,) = (token for token in nlp(doc) if token.head == token)
    assert root.dep_ == "ROOT"


def test_tags_of_the_document_are_read_and_stay_where_the_model_predicts_none(model_directory):
    nlp, parser = pipeline(model_directory), Parser.load(model_directory)
    tagged = list(zip(["The", "dog", "barks", "."], ["DET", "NOUN", "VERB", "PUNCT"], strict=True))
    doc = Doc(nlp.vocab, words=[w for w, _ in tagged], pos=[t for _, t in tagged])
    nlp(doc)
    assert [0 if token.head == token else token.head.i + 1 for token in doc] == parser(tagged).head
    assert [token.pos_ for token in doc] == [tag for _, tag in tagged]
    assert not doc.has_annotation("MORPH")


def test_columns_to_keep_stay_and_others_are_replaced(directory):
    nlp = pipeline(directory, keep=["upos", "lemma"])
    words = ["The", "dog", "barks"]
    given = {"pos": ["X", "X", "VERB"], "lemmas": ["a", "b", "c"], "tags": ["odd"] * 3}
    doc = nlp(Doc(nlp.vocab, words=words, **given))
    assert [token.pos_ for token in doc] == given["pos"]
    assert [token.lemma_ for token in doc] == given["lemmas"]
    assert "odd" not in {token.tag_ for token in doc}


# --- sentences and white space -------------------------------------------------------------------


def test_given_sentence_starts_are_respected(nlp):
    doc = nlp.make_doc(TEXT)
    for token in doc:
        token.is_sent_start = token.i in (0, 2, 9)
    assert [span.start for span in nlp(doc).sents] == [0, 2, 9]


def test_a_component_before_it_may_find_the_sentences(directory):
    nlp = pipeline(directory)
    nlp.add_pipe("sentencizer", before="dyparse", config={"punct_chars": [","]})
    assert [span.start for span in nlp(TEXT).sents] == [0, 9]


def test_where_only_some_starts_are_given_the_tokenizer_finds_the_others(nlp):
    doc = nlp.make_doc(TEXT)
    doc[2].is_sent_start, doc[4].is_sent_start = True, False
    assert [span.start for span in nlp(doc).sents] == [0, 2, 12]


def test_a_sentence_that_starts_within_a_token_starts_with_the_next(nlp, parser):
    words = ["It", "barks.It", "sleeps", "."]
    assert len(parser("It barks. It sleeps.")) == 2
    doc = Doc(
        nlp.vocab, words=["It", "barks. It", "sleeps", "."], spaces=[True, True, False, False]
    )
    assert sentences(nlp(doc)) == [["It", "barks. It"], ["sleeps", "."]]
    whole = Doc(nlp.vocab, words=words, spaces=[True, True, False, False])
    assert "".join(span.text_with_ws for span in nlp(whole).sents) == whole.text


def test_white_space_changes_no_tree_and_hangs_on_the_word_before_it(nlp):
    plain, spaced = nlp("The dog barks. It sleeps."), nlp(" The  dog barks. \n\nIt sleeps. \n")
    words = [token for token in spaced if not token.is_space]
    place = {token.i: number for number, token in enumerate(words)}
    assert [token.is_space for token in spaced].count(True) == 4
    assert [(t.text, place[t.head.i], t.dep_) for t in words] == [
        (t.text, t.head.i, t.dep_) for t in plain
    ]
    for token in spaced:
        if token.is_space:
            assert token.head == spaced[max(token.i - 1, 0 if token.i else 1)]
            assert (token.pos_, token.tag_, token.dep_) == ("SPACE", "_SP", "dep")
            assert token.lemma_ == token.text
    assert len(list(spaced.sents)) == 2


def test_a_given_sentence_may_begin_with_white_space_or_be_nothing_else(nlp):
    doc = nlp.make_doc("It barks. \n It sleeps. \n")
    assert [token.is_space for token in doc] == [0, 0, 0, 1, 0, 0, 0, 1]
    for token in doc:
        token.is_sent_start = token.i in (0, 3, 7)
    doc = nlp(doc)
    assert [span.start for span in doc.sents] == [0, 3, 7]
    assert doc[3].head == doc[4]
    assert (doc[7].head, doc[7].dep_) == (doc[7], "ROOT")


@pytest.mark.parametrize("odd", ["", "_", "a\tb", "a\nb", "a\0b", "\r", "\0"])
def test_odd_tokens_and_tags_do_not_stop_a_pipeline(nlp, odd):
    words, feats = ["a\0b", "New\tYork\n", "c"], [odd and f"A={odd}", "", "B=c"]
    doc = Doc(nlp.vocab, words=words, tags=[odd, "T", "_"], lemmas=[odd] * 3, morphs=feats)
    assert len(list(nlp(doc).sents)) >= 1
    assert doc.has_annotation("DEP", require_complete=True)


@pytest.mark.parametrize(
    ("feats", "morph"),
    [
        ("Foreign", ""),
        ("x|y", ""),
        ("a=b=c", ""),
        ("Case=Nom|Foreign|Number=Sing", "Case=Nom|Number=Sing"),
        ("Case=Acc,Dat", "Case=Acc,Dat"),
    ],
)
def test_features_without_a_name_and_a_value_are_left_out(nlp, monkeypatch, feats, morph):
    def with_feats(sentences):
        return [s.with_columns({"feats": [feats] * len(s)}) for s in sentences]

    parse = Parser.parse
    monkeypatch.setattr(Parser, "parse", lambda parser, given: with_feats(parse(parser, given)))
    assert {str(token.morph) for token in nlp("The dog barks.")} == {morph}


@pytest.mark.parametrize("text", ["", " ", " \n\n "])
def test_documents_without_words_work(nlp, text):
    doc = nlp(text)
    assert doc.text == text
    assert {(token.pos_, token.dep_) for token in doc} <= {("SPACE", "ROOT")}


@pytest.mark.parametrize(
    ("heads", "labels", "attached", "deps"),
    [
        ([0, 0, 0, 0], ["root"] * 4, [0, 0, 0, 0], ["ROOT", "dep", "dep", "dep"]),
        (
            [2, 0, 2, 2],
            ["det", "obj", "root", "punct"],
            [1, 1, 1, 1],
            ["det", "ROOT", "dep", "punct"],
        ),
    ],
)
def test_one_word_is_its_own_head_and_that_word_is_the_root(
    nlp, monkeypatch, heads, labels, attached, deps
):
    def parse(_parser, sentences):
        return [s.with_tree(heads, labels) for s in sentences]

    monkeypatch.setattr(Parser, "parse", parse)
    doc = nlp("The dog barks.")
    assert [token.head.i for token in doc] == attached
    assert [token.dep_ for token in doc] == deps
    assert len(list(doc.sents)) == 1


# --- streams -------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_a_stream_gives_the_same_as_one_text_after_the_other(nlp, batch_size):
    found = [annotations(doc) for doc in nlp.pipe(TEXTS, batch_size=batch_size)]
    assert found == [annotations(nlp(text)) for text in TEXTS]


def test_a_stream_is_parsed_in_batches_of_the_asked_size(nlp, monkeypatch):
    sizes, parse = [], Parser.parse

    def counting(parser, sentences):
        given = list(sentences)
        sizes.append(len(given))
        return parse(parser, given)

    monkeypatch.setattr(Parser, "parse", counting)
    list(nlp.pipe(["It barks. It sleeps."] * 5, batch_size=2))
    assert sizes == [4, 4, 2]


def test_the_error_handler_of_spacy_decides_about_failures(directory, monkeypatch):
    nlp, seen = pipeline(directory), []

    def fail(*_):
        raise RuntimeError("no")

    monkeypatch.setattr(Parser, "parse", fail)
    with pytest.raises(RuntimeError, match="no"):
        nlp(TEXT)
    nlp.set_error_handler(lambda _name, _pipe, docs, _error: seen.extend(docs))
    assert list(nlp.pipe([TEXT, TEXT])) == []
    assert [doc.text for doc in seen] == [TEXT, TEXT]


# --- saving --------------------------------------------------------------------------------------


def test_a_pipeline_on_disk_needs_no_other_directory(directory, tmp_path):
    copied = shutil.copytree(directory, tmp_path / "model")
    nlp = pipeline(copied)
    nlp.to_disk(tmp_path / "saved")  # before any text: the model was not needed yet
    expected = annotations(nlp(TEXT))
    shutil.rmtree(copied)
    assert annotations(spacy.load(tmp_path / "saved")(TEXT)) == expected
    assert annotations(pipeline("gone").from_disk(tmp_path / "saved")(TEXT)) == expected
    assert read_metrics(tmp_path / "saved" / "dyparse") == {"note": "tagger"}
    with pytest.raises(CheckpointError, match="no such model directory"):
        pipeline(copied)(TEXT)


def test_loading_a_pipeline_does_not_look_at_the_model_it_was_made_from(directory, tmp_path):
    copied = shutil.copytree(directory, tmp_path / "model")
    pipeline(copied).to_disk(tmp_path / "saved")
    (copied / "config.yaml").write_text("damaged")
    assert len(spacy.load(tmp_path / "saved")(TEXT)) > 0


def test_a_saved_component_is_a_model_directory_of_data(directory, tmp_path):
    pipeline(directory).to_disk(tmp_path / "saved")
    names = {path.name for path in (tmp_path / "saved" / "dyparse").iterdir()}
    assert names >= {"config.yaml", "model.safetensors", "manifest.sha256"}
    assert Parser.load(tmp_path / "saved" / "dyparse")(["The", "dog"]).head
    weights = tmp_path / "saved" / "dyparse" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    with pytest.raises(CheckpointError, match="damaged"):
        spacy.load(tmp_path / "saved")


def test_a_pipeline_in_bytes_needs_no_directory(directory, tmp_path):
    copied = shutil.copytree(directory, tmp_path / "model")
    nlp = pipeline(copied)
    data, config, expected = nlp.to_bytes(), nlp.config, annotations(nlp(TEXT))
    shutil.rmtree(copied)
    restored = spacy.blank("en").from_config(config).from_bytes(data)
    assert annotations(restored(TEXT)) == expected
    assert restored.get_pipe("dyparse").to_bytes() == nlp.get_pipe("dyparse").to_bytes()


@pytest.mark.parametrize("change", ["remove", "rename", "replace", "number", "text"])
def test_damaged_files_in_bytes_are_refused(directory, tmp_path, monkeypatch, change):
    import srsly

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    component = pipeline(directory).get_pipe("dyparse")
    files = srsly.msgpack_loads(component.to_bytes())
    if change == "remove":
        del files["model.safetensors"]
    elif change == "rename":
        files["../../escaped"] = files["metrics.json"]
    elif change == "number":
        files[1] = files["metrics.json"]
    else:
        files["metrics.json"] = b"{}" if change == "replace" else "{}"
    with pytest.raises(CheckpointError):
        component.from_bytes(srsly.msgpack_dumps(files))
    assert not [path for path in tmp_path.rglob("*") if path.name == "escaped"]


@pytest.mark.parametrize(
    "data",
    [b"", b"\xc1", b"\x01\x02", b"\x91", b"\x81\x90\x01", b"\xa1\xff", b"\x91" * 3000, "text"],
)
def test_bytes_that_hold_no_model_are_refused(directory, data):
    with pytest.raises(CheckpointError, match="the bytes of the component 'dyparse' hold no model"):
        pipeline(directory).get_pipe("dyparse").from_bytes(data)


def test_truncated_bytes_are_refused(directory):
    component = pipeline(directory).get_pipe("dyparse")
    data = component.to_bytes()
    for end in (1, 100, len(data) // 2, len(data) - 1):
        with pytest.raises(CheckpointError):
            component.from_bytes(data[:end])


def test_a_component_goes_to_another_process_as_data(directory, tmp_path):
    copied = shutil.copytree(directory, tmp_path / "model")
    component = pipeline(copied).get_pipe("dyparse")
    assert pickle.loads(pickle.dumps(component)).model == str(copied)  # not loaded yet
    assert component.parser
    data = pickle.dumps(component)
    shutil.rmtree(copied)
    assert pickle.loads(data).parser(["The", "dog"]) == component.parser(["The", "dog"])


def test_the_config_is_kept(directory, tmp_path):
    nlp = pipeline(directory, keep=["upos"])
    expected = {"factory": "dyparse", "model": str(directory), "device": "cpu", "keep": ["upos"]}
    assert nlp.config["components"]["dyparse"] == expected
    nlp.to_disk(tmp_path / "saved")
    loaded = spacy.load(tmp_path / "saved")
    assert loaded.config["components"]["dyparse"] == expected
    assert loaded.get_pipe("dyparse").parser.keep == ("upos",)


# --- errors, and how it is found -----------------------------------------------------------------


def test_a_missing_model_is_one_clear_message(directory, tmp_path):
    with pytest.raises(CheckpointError, match=r"nowhere: no such model directory; training prints"):
        pipeline(tmp_path / "nowhere")(TEXT)
    nlp = spacy.blank("en")
    nlp.add_pipe("dyparse")
    with pytest.raises(
        ConfigError, match=r"'dyparse' has no model; use nlp\.add_pipe\(.*\"model\""
    ):
        nlp(TEXT)
    with pytest.raises(ConfigError, match="keep has 'deps'"):
        pipeline(directory, keep=["deps"])(TEXT)


def test_spacy_finds_it_without_an_import(directory):
    program = (
        "import sys, spacy; nlp = spacy.blank('en'); "
        "print([name for name in sys.modules if name.startswith('dyparse.model')]); "
        f"nlp.add_pipe('dyparse', config={{'model': {str(directory)!r}}}); print(len(nlp('A dog')))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n2\n", done.stderr


def test_dyparse_alone_does_not_import_spacy():
    program = "import sys, dyparse, dyparse.model.parser; print('spacy' in sys.modules)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_spacy_knows_what_it_assigns(nlp):
    assert "token.head" in nlp.get_pipe_meta("dyparse").assigns
    assert make_component.__doc__
    assert nlp.analyze_pipes()["problems"] == {"dyparse": []}


def test_spacy_scores_its_trees(nlp):
    doc = nlp(TEXT)
    scores = nlp.evaluate([Example(nlp.make_doc(TEXT), doc)])
    assert scores["dep_las"] == scores["tag_acc"] == scores["lemma_acc"] == scores["sents_f"] == 1

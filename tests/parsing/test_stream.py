"""The parse loop: CoNLL-U of every sentence, counts, and tags that are missing."""

from __future__ import annotations

import gc
import io

import pytest
from helpers.tiny import sample

from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError
from dyparse.parsing.settings import Settings, load_parser
from dyparse.parsing.stream import Totals, parse_stream, warn_of_missing_tags, write_sentences

DEV = sample("dev")[:5]
BARE = Sentence.from_words(["no", "tags"])


@pytest.fixture
def settings(model_directory):
    return Settings(model=str(model_directory))


def test_sentences_come_out_in_order_and_are_counted(parser, settings):
    totals = Totals()
    pieces = list(parse_stream(parser, DEV, settings, totals))
    assert pieces == [sentence.to_conllu().encode() for sentence in parser.parse(DEV)]
    assert (totals.sentences, totals.words) == (5, sum(map(len, DEV)))
    assert totals.missing == ()


def test_the_first_sentence_without_tags_is_noted_when_it_is_read(parser, settings):
    noted = []
    totals = Totals(on_missing=noted.append)

    def sentences():
        yield DEV[0]
        assert not noted
        yield BARE
        assert noted == [("UPOS",)]
        yield BARE
        raise TreebankError("malformed")

    with pytest.raises(TreebankError, match="malformed"):
        list(parse_stream(parser, sentences(), settings, totals))
    assert noted == [totals.missing] == [("UPOS",)]


def test_no_garbage_is_looked_for_while_windows_of_sentences_are_read(settings):
    """Sentences are no garbage of the kind that is looked for; the model is not looked through."""
    before, was_frozen = gc.get_threshold(), gc.get_freeze_count()
    try:
        load_parser(settings)
        assert gc.get_freeze_count() > was_frozen
        assert gc.isenabled()
        looked = sum(generation["collections"] for generation in gc.get_stats())
        held = [sentence.with_columns({"upos": sentence.upos}) for sentence in DEV * 1000]
        assert sum(generation["collections"] for generation in gc.get_stats()) == looked
        assert len(held) == 5000
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def test_totals_note_the_first_missing_columns_only():
    noted = []
    totals = Totals(on_missing=noted.append)
    for columns in ([], ["UPOS", "FEATS"], [], ["XPOS"]):
        totals.note_missing(columns)
    assert noted == [("UPOS", "FEATS")]
    assert totals.missing == ("UPOS", "FEATS")


def test_the_warning_names_all_columns_in_one_line(capsys):
    warn_of_missing_tags(("UPOS", "FEATS"))
    err = capsys.readouterr().err
    assert err.startswith("warning: the model reads UPOS and FEATS, which the input lacks: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n\r\n"])
def test_a_blank_line_is_between_pieces_and_the_end_stays(end):
    out = io.BytesIO()
    write_sentences([b"1\ta" + end.encode()] * 2, out)
    between = end if len(end) > 1 else "\n\n"
    assert out.getvalue().decode() == f"1\ta{between}1\ta{end}"

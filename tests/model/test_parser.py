"""The parser: whatever people have at hand in, trees in order out."""

import re
import warnings
from pathlib import Path

import conllu
import pytest
import torch
from helpers.tiny import fresh_parser, sample
from helpers.trees import assert_tree

import dyparse
from dyparse import system as systems
from dyparse.data.document import Document
from dyparse.data.sentence import NONE, Sentence
from dyparse.errors import ConfigError, DyparseWarning, TreebankError
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.evaluation.exhaustive import are_trees, root_children

TEXT = "The dog sleeps, and it's Mary's 3 one."
WORDS = ["A", "cat", "sleeps", "."]
DEV = sample("dev")[:60]
pytestmark = pytest.mark.filterwarnings("ignore:the model reads UPOS")


def test_a_trained_parser_finds_most_heads(parser):
    scores = attachment_scores(DEV, parser.parse(DEV))
    assert scores.uas > 60
    assert scores.las > 45


def test_strings_words_token_lists_and_sentences_are_parsed_side_by_side(parser):
    token_list = conllu.parse(DEV[0].to_conllu())[0]
    inputs = [TEXT, WORDS, tuple(WORDS), token_list, DEV[1]]
    parsed = parser.parse(inputs)
    assert [s.form for s in parsed] == [
        ["The", "dog", "sleeps", ",", "and", "it's", "Mary's", "3", "one", "."],
        WORDS,
        WORDS,
        DEV[0].form,
        DEV[1].form,
    ]
    for sentence in parsed:
        assert_tree(sentence)
    assert parsed[1].head == parsed[2].head
    assert parsed[3].head == parser.parse([DEV[0]])[0].head
    assert parsed[4].sent_id == DEV[1].sent_id


SINGLE = {
    "text": TEXT,
    "words": WORDS,
    "pairs": list(zip(WORDS, ["DET", "NOUN", "VERB", "PUNCT"], strict=True)),
    "TokenList": conllu.parse(DEV[0].to_conllu())[0],
    "Sentence": DEV[0],
}


@pytest.mark.parametrize("form", SINGLE)
def test_one_sentence_gives_one_and_a_list_gives_a_list(parser, form):
    single = SINGLE[form]
    one = parser(single)
    if form == "text":
        assert isinstance(one, Document)
        assert parser.parse([single]) == parser.parse(single) == list(one)
    else:
        assert isinstance(one, Sentence)
        assert_tree(one)
        assert parser([single]) == parser.parse([single]) == [one]
        assert parser(iter([single, single])) == [one, one]


def test_a_list_of_strings_is_the_words_of_one_sentence_never_many(parser):
    assert parser(WORDS).form == WORDS
    with pytest.raises(
        ValueError, match=r"'A dog' has white space; .*`parser.parse_texts\(texts\)`"
    ):
        parser(["Yes.", "A dog"])
    with pytest.raises(ValueError, match=r"looks like the words of one .* `parser\(words\)`"):
        parser.parse(["The", "dog", "barks."])
    assert [s.form for s in parser.parse(["Yes", "A dog"])] == [["Yes"], ["A", "dog"]]
    texts = map(Sentence.from_text, ["Yes.", "No."])
    assert [s.form for s in parser.parse(texts)] == [["Yes", "."], ["No", "."]]


def test_pairs_are_words_with_upos_tags(parser):
    tags = ["DET", "NOUN", "VERB", "PUNCT"]
    pairs = SINGLE["pairs"]
    parsed = parser(pairs)
    assert (parsed.form, parsed.upos) == (WORDS, tags)
    assert parser([pairs, pairs]) == [parsed, parsed]
    with pytest.raises(ValueError, match="looks like the words of one sentence"):
        parser.parse(pairs)
    with pytest.raises(ValueError, match=r"'DT' of 'The' is not a UPOS tag; .*xpos=tags"):
        parser([("The", "DT"), ("dog", "NN")])


def test_lists_of_strings_are_sentences_of_words_unless_they_look_like_pairs(parser):
    for two_words in ([["The", "dog"], ["A", "cat"]], [["Malcolm", "X"], ["Plan", "X"]]):
        assert [s.form for s in parser(two_words)] == two_words
        assert [s.form for s in parser.parse(two_words)] == two_words
        assert parser(two_words[0]).form == two_words[0]
    assert parser(["O", "_"]).form == ["O", "_"]
    from_json = [list(pair) for pair in SINGLE["pairs"]]
    for given in (from_json, [from_json], from_json[:1], from_json[0]):
        with pytest.raises((ValueError, TypeError), match="tuples"):
            parser(given)
    for given in (("Malcolm", "X"), [("dog", "NOUN", "NN")]):
        with pytest.raises(ValueError, match="looks like one word with tags"):
            parser(given)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (None, TypeError, "cannot parse None; expected a text, a list of words"),
        (7, TypeError, "cannot parse 7"),
        (b"The dog", TypeError, "cannot parse b'The dog'"),
        ({"The": "DET"}, TypeError, "cannot parse {'The': 'DET'}"),
        ([["a", ["b"]]], TypeError, r"cannot parse \['a', \['b'\]\]"),
        (DEV[0][:2], TypeError, "cannot parse <Token 1"),
        ([], ValueError, "nothing to parse; give a sentence"),
        (Path("dev.conllu"), TypeError, r"is a path; read the file first, with .*read_sentences"),
        ("dev.conllu", ValueError, r"name of a file, not a text; read the file first"),
        (DEV[0].to_conllu(), ValueError, r"is CoNLL-U, not a text; give `conllu.parse\(text\)`"),
        (["The", ("dog", "NOUN")], TypeError, "mixes words with other things"),
        (["The dog barks.", DEV[0]], TypeError, "mixes words with other things"),
    ],
)
def test_what_is_not_clear_is_refused_with_the_remedy(parser, given, error, message):
    with pytest.raises(error, match=message):
        parser(given)


def test_missing_tags_are_warned_about_where_the_parser_is_called(parser):
    for call in (lambda: parser(WORDS), lambda: parser.parse([DEV[0], WORDS])):
        with pytest.warns(DyparseWarning, match="reads UPOS, .* much worse trees; tag") as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parser(SINGLE["pairs"])
        parser(DEV)


def test_a_parser_and_its_parts_print_in_short(parser):
    assert re.fullmatch(
        r"<Parser: arc_eager, bilstm over word, subword, upos; [\d,]+ parameters on cpu>",
        repr(parser),
    )
    assert re.match(
        r"<Vocabulary: \d+ word, 0 subword, \d+ upos, \d+ labels>", repr(parser.vocabulary)
    )
    assert len(repr(parser.parts)) < 1000


def test_nothing_gives_nothing_and_a_generator_is_read(parser):
    assert parser.parse([]) == []
    assert parser.parse(iter([])) == []
    from_generator = parser.parse(words for words in (WORDS, ["Yes"]))
    assert from_generator == parser.parse([WORDS, ["Yes"]])


def test_the_result_reads_back_with_conllu(parser):
    parsed = parser.parse([TEXT, WORDS, *DEV[:5]])
    read = conllu.parse("".join(s.to_conllu() for s in parsed))
    assert len(read) == len(parsed)
    for tokens, sentence in zip(read, parsed, strict=True):
        words = [token for token in tokens if isinstance(token["id"], int)]
        assert [token["form"] for token in words] == sentence.form
        assert [token["head"] for token in words] == sentence.head
        assert [token["deprel"] for token in words] == sentence.label
    assert read[0].metadata["text"] == TEXT
    spaces = [token["misc"].get("SpaceAfter") for token in read[0]]
    assert spaces.count("No") == 3  # the last one ends the text


def test_heads_of_the_input_do_not_matter(parser):
    bare = [s.with_tree([NONE] * len(s), ["_"] * len(s)) for s in DEV]
    wild = [s.with_tree([1] * len(s), ["x"] * len(s)) for s in DEV]
    trees = [(s.head, s.label) for s in parser.parse(DEV)]
    assert [(s.head, s.label) for s in parser.parse(bare)] == trees
    assert [(s.head, s.label) for s in parser.parse(wild)] == trees


def test_the_input_is_left_alone(parser):
    before = [(s.to_conllu(), list(s.head), list(s.label)) for s in DEV]
    tokens = conllu.parse(DEV[0].to_conllu())[0]
    text = tokens.serialize()
    parser.parse([*DEV, tokens])
    assert [(s.to_conllu(), s.head, s.label) for s in DEV] == before
    assert tokens.serialize() == text


@pytest.mark.parametrize("most", [1, 50, 100_000])
def test_order_and_trees_do_not_depend_on_the_batches(parser, most):
    parsed = list(parser.parse_sentences(DEV, max_tokens_per_batch=most))
    one_by_one = [parser.parse([sentence])[0] for sentence in DEV]
    assert [s.sent_id for s in parsed] == [s.sent_id for s in DEV]
    same = sum(a.head == b.head for a, b in zip(parsed, one_by_one, strict=True))
    assert same >= len(DEV) - 1  # scores may differ in the last bit


def test_a_stream_is_parsed_before_it_ends(parser):
    read = 0

    def stream():
        nonlocal read
        for k in range(60_000):
            read = k + 1
            yield sentence

    sentence = Sentence.from_words(["word"] * 50)
    parsed = parser.parse_sentences(stream())
    assert next(parsed).form == sentence.form
    assert read < 2_000


def test_a_sentence_of_three_thousand_words_is_parsed(parser):
    words = [form for s in sample("train") for form in s.form][:3000]
    (parsed,) = parser.parse([words])
    assert len(parsed) == 3000
    assert_tree(parsed)


def test_unknown_words_and_one_word_sentences_are_parsed(parser):
    for sentence in parser.parse([["Hm"], ["的"], ["x" * 5000, "\U0001f642"], ["#"], ["\u00a0"]]):
        assert_tree(sentence)


@pytest.mark.parametrize("given", ["", "   ", [], [""], ["a\tb"], ["a\nb"]])
def test_what_makes_no_sentence_is_refused(parser, given):
    with pytest.raises(TreebankError):
        parser.parse([given])


@pytest.mark.parametrize("given", [[1, 2], [None], [["a", "b"]]])
def test_what_is_no_sentence_at_all_is_refused_with_what_was_expected(parser, given):
    with pytest.raises(TypeError, match="expected a text, a list of words"):
        parser.parse([given])


def test_parsing_leaves_no_gradient_and_no_training_mode(parser):
    parser.model.train()
    first = parser.parse(DEV)
    assert not parser.model.training
    assert parser.parse(DEV) == first
    assert all(parameter.grad is None for parameter in parser.model.parameters())


@pytest.mark.parametrize(
    ("options", "roots"),
    [({"root": "first"}, 1), ({"root": "last"}, 1), ({"root": "first", "single_root": False}, 9)],
)
def test_every_option_of_the_system_gives_trees(options, roots):
    parser = fresh_parser(DEV, system=systems.load("arc_eager", **options))
    for sentence in parser.parse(DEV):
        head = torch.tensor([[0, *sentence.head]]).numpy()
        assert are_trees(head)[0]
        assert 1 <= root_children(head)[0] <= max(roots, 1) or roots > 1


@pytest.mark.parametrize(
    ("features", "missing"),
    [
        (["word", "subword"], []),
        (["word", "upos"], ["UPOS"]),
        (["upos", "xpos", "feats"], ["UPOS", "XPOS", "FEATS"]),
    ],
)
def test_tags_that_the_encoder_reads_and_the_input_lacks_are_named(features, missing):
    parser = fresh_parser(DEV[:5], features=features)
    assert parser.missing_columns(Sentence.from_text(TEXT)) == missing
    assert parser.missing_columns(DEV[0]) == []


def test_load_takes_a_path_or_a_string(model_directory):
    one, other = dyparse.load(str(model_directory)), dyparse.load(model_directory)
    assert one.parse(TEXT) == other.parse(TEXT)


def test_a_device_that_is_not_there_is_told(model_directory):
    with pytest.raises(ConfigError, match=r"device is 'nosuch'.*try device=cpu"):
        dyparse.load(model_directory, device="nosuch")

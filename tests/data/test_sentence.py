import io
import json
from itertools import product

import conllu
import pytest
from helpers.random_conllu import files, trees
from hypothesis import given, settings
from hypothesis import strategies as st

from dyparse.data.conllu import Block, read_sentences, to_sentence
from dyparse.data.sentence import NONE, Sentence
from dyparse.errors import TreebankError

TEXT = """\
# sent_id = hand-1
# a free comment
# a free comment
# text = Vámonos al mar
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\tV\tMood=Imp\t0\troot\t0:root\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t1:obj\t_
2.1\tnada\t_\t_\t_\t_\t_\t_\t1:x\tEmpty=Yes
3-4\tal\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
3\ta\ta\tADP\t_\t_\t5\tcase\t5:case\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t5:det\t_
5\tmar\tmar\tNOUN\tN\tGender=Masc\t1\tobl\t1:obl\tA=B

"""


def sentence_of(text: str) -> Sentence:
    return to_sentence(Block("x.conllu", 1, text.encode().splitlines(keepends=True)), trees=True)


def with_heads(head: list[int]) -> Sentence:
    return Sentence.from_words(["w"] * len(head)).with_tree(head, ["dep"] * len(head))


def test_columns_are_those_of_words_only():
    sentence = sentence_of(TEXT)
    assert len(sentence) == 5
    assert sentence.form == ["Vamos", "nos", "a", "el", "mar"]
    assert sentence.upos == ["VERB", "PRON", "ADP", "DET", "NOUN"]
    assert sentence.xpos == ["V", "_", "_", "_", "N"]
    assert sentence.feats == ["Mood=Imp", "_", "_", "_", "Gender=Masc"]
    assert sentence.head == [0, 1, 5, 5, 1]
    assert sentence.label == ["root", "obj", "case", "det", "obl"]
    assert sentence.sent_id == "hand-1"
    assert [sentence.lines[i][0] for i in sentence.word_lines] == list("12345")


def test_another_tree_changes_head_and_deprel_of_words_and_nothing_else():
    head, label = [2, 0, 2, 3, NONE], ["a", "b", "c", "d", "_"]
    changed = sentence_of(TEXT).with_tree(head, label)
    assert (changed.head, changed.label) == (head, label)
    expected = (
        TEXT.replace("\t0\troot\t", "\t2\ta\t")
        .replace("\t1\tobj\t", "\t0\tb\t")
        .replace("\t5\tcase\t", "\t2\tc\t")
        .replace("\t5\tdet\t", "\t3\td\t")
        .replace("\t1\tobl\t", "\t_\t_\t")
    )
    assert changed.to_conllu() == expected


def test_with_tree_leaves_the_sentence_itself_alone():
    sentence = sentence_of(TEXT)
    sentence.with_tree([0] * 5, ["x"] * 5)
    assert sentence.to_conllu() == TEXT
    assert sentence.head == [0, 1, 5, 5, 1]


def test_a_tree_of_another_length_is_refused():
    with pytest.raises(ValueError, match="5 words; got 4 of head"):
        sentence_of(TEXT).with_tree([0] * 4, ["x"] * 5)


@settings(deadline=None)
@given(files(), st.data())
def test_taking_a_tree_away_and_giving_it_back_restores_the_bytes(text, data):
    for sentence in read_sentences(io.BytesIO(text.encode()), trees=True):
        n = len(sentence)
        other = data.draw(st.lists(st.integers(0, n), min_size=n, max_size=n))
        changed = sentence.with_tree(other, ["other"] * n)
        assert changed.with_tree(sentence.head, sentence.label) == sentence


def test_words_become_a_sentence_that_reads_back():
    sentence = Sentence.from_words(["#", "a b", "…"], upos=["SYM", "X", "PUNCT"], text="#a  b\n…")
    assert sentence.head == [NONE] * 3
    text = sentence.with_tree([2, 0, 2], ["x", "root", "y"]).to_conllu()
    assert text.startswith("# text = #a b …\n1\t#\t_\tSYM\t_\t_\t2\tx\t_\t_\n")
    assert text.endswith("\n\n")
    assert sentence_of(text).form == ["#", "a b", "…"]


def test_words_without_a_space_after_them_are_marked_in_misc():
    sentence = Sentence.from_words(["Yes", "!"], space_after=[False, True])
    misc = [line.rstrip().split("\t")[-1] for line in sentence.lines[:2]]
    assert misc == ["SpaceAfter=No", "_"]


@pytest.mark.parametrize("words", [[], [""], ["a", "b\tc"], ["a\nb"], ["a\r"]])
def test_words_that_make_no_conllu_are_refused(words):
    with pytest.raises(TreebankError):
        Sentence.from_words(words)


def test_tags_of_another_number_than_words_are_refused():
    with pytest.raises(ValueError, match="2 values each"):
        Sentence.from_words(["a", "b"], upos=["X"])
    with pytest.raises(ValueError, match="2 values each"):
        Sentence.from_words(["a", "b"], space_after=[True])


def test_a_token_list_of_conllu_keeps_words_ranges_and_metadata():
    tokens = conllu.parse(TEXT)[0]
    sentence = Sentence.from_token_list(tokens)
    expected = sentence_of(TEXT)
    assert sentence.form == expected.form
    assert sentence.feats == expected.feats
    assert sentence.head == expected.head
    assert sentence.sent_id == "hand-1"
    lines = [line for line in TEXT.splitlines() if line[:1] != "#"]
    assert [line for line in sentence.to_conllu().splitlines() if line[:1] != "#"] == lines


def test_a_token_list_with_few_fields_and_wild_heads_has_no_tree():
    tokens = conllu.TokenList([{"id": 1, "form": "a"}, {"id": 2, "form": "b", "head": 9}])
    sentence = Sentence.from_token_list(tokens)
    assert (sentence.form, sentence.upos, sentence.head) == (["a", "b"], ["_", "_"], [NONE, NONE])


@pytest.mark.parametrize(
    "tokens", [[], [{"form": "a"}], [{"id": 2, "form": "a"}], [{"id": 1, "form": ""}]]
)
def test_a_token_list_that_makes_no_conllu_is_refused(tokens):
    with pytest.raises(TreebankError):
        Sentence.from_token_list(conllu.TokenList(tokens))


def crosses(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return min(a) < min(b) < max(a) < max(b)


def test_projective_means_that_no_two_arcs_cross():
    verdicts = set()
    for n in range(1, 6):
        for head in product(range(n + 1), repeat=n):
            if any(h == word for word, h in enumerate(head, 1)):
                continue
            arcs = [(h, word) for word, h in enumerate(head, 1)]
            expected = not any(crosses(a, b) for a in arcs for b in arcs)
            assert with_heads(list(head)).is_projective() == expected, head
            verdicts.add(expected)
    assert verdicts == {True, False}


@settings(deadline=None)
@given(trees(max_words=12))
def test_a_random_tree_is_projective_unless_arcs_cross(head):
    arcs = [(h, word) for word, h in enumerate(head, 1)]
    assert with_heads(head).is_projective() != any(crosses(a, b) for a in arcs for b in arcs)


def test_changed_columns_are_written_over_the_lines_and_others_stay():
    sentence = sentence_of(TEXT)
    tagged = sentence.with_columns({"upos": [f"T{k}" for k in range(5)]})
    assert [row[3] for row in rows_of(tagged)] == ["T0", "T1", "T2", "T3", "T4"]
    assert [row[:3] + row[4:] for row in rows_of(tagged)] == [
        row[:3] + row[4:] for row in rows_of(sentence)
    ]
    both = tagged.with_tree([0] * 5, ["x"] * 5)
    assert [(row[3], row[6], row[7]) for row in rows_of(both)][1] == ("T1", "0", "x")
    feats = {"label": ["y"] * 5, "feats": ["A=B"] * 5, "head": [2] * 5}  # neighbours, in any order
    assert rows_of(sentence.with_columns(feats))[1][5:8] == ["A=B", "2", "y"]
    with pytest.raises(ValueError, match="5 words; got 1 of upos"):
        sentence.with_columns({"upos": ["X"]})


def rows_of(sentence):
    """The lines of the words, split into columns."""
    lines = sentence.to_conllu().splitlines()
    return [line.split("\t") for line in lines if line.split("\t")[0].isdecimal()]


def test_tokens_are_views_of_the_columns_and_of_the_lines():
    sentence = sentence_of(TEXT)
    tokens = list(sentence)
    assert [token.id for token in tokens] == [1, 2, 3, 4, 5]
    assert [token.lemma for token in tokens] == ["ir", "nosotros", "a", "el", "mar"]
    for name in ("form", "upos", "xpos", "feats", "head", "label"):
        assert [getattr(token, name) for token in tokens] == getattr(sentence, name)
    assert (sentence[-1], sentence[1:3]) == (tokens[4], tokens[1:3])
    assert (tokens[4].misc, tokens[4].deps) == ("A=B", "1:obl")
    with pytest.raises(IndexError):
        sentence[5]


def test_tokens_know_their_tree():
    sentence = sentence_of(TEXT)
    assert sentence.root == sentence[0]
    assert sentence.root.parent is None
    assert sentence[4].children == sentence[2:4]
    assert {sentence[2].parent, sentence[3].parent} == {sentence[4]}
    changed = sentence.with_tree([5, 1, 5, 5, 0], ["x"] * 5)
    assert changed.root.form == "mar"
    assert changed.root != sentence[4]  # a token of another sentence
    bare = Sentence.from_words(["a"])
    assert (bare.root, bare[0].parent, bare[0].children) == (None, None, [])


def test_the_text_is_that_of_the_comment_or_of_words_and_ranges():
    without = TEXT.replace("# text = Vámonos al mar\n", "")
    assert sentence_of(TEXT).text == "Vámonos al mar"
    assert sentence_of(without).text == "Vámonos almar"  # SpaceAfter=No
    assert sentence_of("\ufeff" + without.replace("\n", "\r\n")).text == "Vámonos almar"
    assert sentence_of("\ufeff# text = A  b" + TEXT[TEXT.index("\n1-2") :]).text == "A  b"
    assert Sentence.from_words(["Oh", "no", "!"], space_after=[True, False, True]).text == "Oh no!"
    assert [t.space_after for t in Sentence.from_text("Oh no!")] == [True, False, True]


def test_json_has_the_fields_of_conllu_with_null_for_what_is_missing():
    parts = json.loads(sentence_of(TEXT).to_json())
    assert list(parts) == ["sent_id", "text", "tokens", "multiword_tokens"]
    assert (parts["sent_id"], len(parts["tokens"])) == ("hand-1", 5)
    assert parts["tokens"][4] == {
        "id": 5,
        "form": "mar",
        "lemma": "mar",
        "upos": "NOUN",
        "xpos": "N",
        "feats": "Gender=Masc",
        "head": 1,
        "deprel": "obl",
        "deps": "1:obl",
        "misc": "A=B",
        "start": None,
        "end": None,
    }
    (bare,) = json.loads(Sentence.from_words(["_"]).to_json())["tokens"]
    assert bare == dict.fromkeys(parts["tokens"][0]) | {"id": 1, "form": "_"}


def test_json_has_the_places_of_tokens_and_lists_multiword_tokens():
    marked = TEXT.replace("\tSpaceAfter=No\n", "\tSpaceAfter=No|TokenRange=8:10\n").replace(
        "\tA=B\n", "\tA=B|TokenRange=10:13\n"
    )
    for text in (marked, "\ufeff" + marked.replace("\n", "\r\n")):
        parts = json.loads(sentence_of(text).to_json())
        places = [(token["start"], token["end"]) for token in parts["tokens"]]
        assert places == [(None, None), (None, None), (8, 10), (8, 10), (10, 13)]
        first, second = parts["multiword_tokens"]
        none = {"misc": None, "start": None, "end": None}
        assert first == {"first": 1, "last": 2, "form": "Vámonos", **none}
        assert (second["first"], second["last"], second["form"]) == (3, 4, "al")
        assert (second["misc"], second["start"]) == ("SpaceAfter=No|TokenRange=8:10", 8)


def test_json_has_the_columns_that_were_changed():
    changed = sentence_of(TEXT).with_tree([2, 0, 2, 3, NONE], ["a", "b", "c", "d", "_"])
    tokens = json.loads(changed.to_json())["tokens"]
    assert [token["head"] for token in tokens] == [2, 0, 2, 3, None]
    assert [token["deprel"] for token in tokens] == ["a", "b", "c", "d", None]


def test_a_token_list_comes_back_as_the_same_sentence():
    sentence = sentence_of(TEXT).with_tree([2, 0, 2, 3, 2], ["a", "b", "c", "d", "e"])
    tokens = sentence.to_token_list()
    assert isinstance(tokens, conllu.TokenList)
    assert tokens.metadata["text"] == "Vámonos al mar"
    assert tokens[0]["id"] == (1, "-", 2)
    again = Sentence.from_token_list(tokens)
    assert (again.head, again.label, again.feats) == (sentence.head, sentence.label, sentence.feats)
    with pytest.raises(TreebankError, match=r"'1.+a  b.+' has two spaces in a row"):
        Sentence.from_words(["a  b"]).to_token_list()  # would be two columns


@settings(deadline=None)
@given(files())
def test_every_sentence_that_can_be_read_has_text_json_and_tokens(text):
    for sentence in read_sentences(io.BytesIO(text.encode()), trees=True):
        tokens = json.loads(sentence.to_json())["tokens"]
        assert [token["form"] for token in tokens] == sentence.form
        assert sum(len(token.children) for token in sentence) == len(sentence) - 1
        assert sentence.text
        assert len(repr(sentence)) < 1000  # 80 characters, escaped
        try:
            words = [t for t in sentence.to_token_list() if isinstance(t["id"], int)]
        except TreebankError as error:
            assert "two spaces in a row" in str(error)  # noqa: PT017 - few have them
        else:
            assert [t["head"] for t in words] == sentence.head


def test_a_sentence_and_its_tokens_print_in_short():
    sentence = sentence_of(TEXT)
    assert repr(sentence) == "<Sentence of 5 words: 'Vámonos al mar'>"
    assert repr(sentence[4]) == "<Token 5 'mar' NOUN obl of 1>"
    assert str(sentence[4]) == "mar"
    assert str(sentence) == TEXT.rstrip()
    assert len(repr(Sentence.from_words(["word"] * 3000))) < 200


def test_a_notebook_draws_the_tree_and_shows_text_where_there_is_none():
    picture = sentence_of(TEXT)._repr_svg_()
    assert picture.startswith("<svg")
    assert ">obl<" in picture
    assert ">NOUN<" in picture
    assert Sentence.from_words(["a"])._repr_svg_() is None
    assert with_heads([0, 2])._repr_svg_() is None  # its own head

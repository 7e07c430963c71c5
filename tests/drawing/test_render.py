"""Arrows, labels and words of a drawing, and the marks of crossing and differing arcs."""

import re

import pytest
from helpers.pictures import SVG, assert_inside, groups, marked, parsed, points, texts, tree
from helpers.tiny import sample

from dyparse.data.sentence import NONE
from dyparse.drawing.layout import LEAST_WIDTH, LONGEST_WORD, Tree
from dyparse.drawing.render import CROSSING, WRONG_HEAD, WRONG_LABEL
from dyparse.drawing.svg import tree_picture
from dyparse.drawing.text import clean

NASTY = ["<b>&\"'", "]]>", "\x00\x1b[31m", "\ud800", "\uffff", "a\u202eb", "שלום", "日本語", "ééé"]


@pytest.mark.parametrize("width", [None, LEAST_WIDTH])
def test_every_arc_has_one_arrow_its_label_and_both_ends(width):
    sentence = max(sample("dev")[:8], key=len)
    gold = Tree("gold", sentence.form, sentence.head, sentence.label, sentence.upos)
    picture = tree_picture([gold, gold], width=width)
    for number in range(2):
        arcs = groups(picture, number)
        assert list(range(1, len(sentence) + 1)) == sorted(arcs)
        for word, pieces in arcs.items():
            tips = [p for g in pieces for p in g.findall(f"{SVG}path[@class='dtree-tip']")]
            labels = [t.text for g in pieces for t in g.findall(f"{SVG}text[@class='dtree-label']")]
            assert len(tips) == 1
            assert labels == [sentence.label[word - 1]]
            assert {g.get("data-head") for g in pieces} == {str(sentence.head[word - 1])}
            assert len(pieces) == 1 or (width and len(pieces) == 2)
    assert sorted(texts(picture, "dtree-word")) == sorted(sentence.form * 2)
    assert sorted(texts(picture, "dtree-tag")) == sorted(sentence.upos * 2)


def test_an_arrow_points_from_head_to_dependent():
    ends = {}
    for word, (group,) in groups(tree_picture([tree([2, 0, 2])])).items():
        line = list(points(group.find(f"{SVG}path[@class='dtree-line']").get("d")))
        ((tip, _), *_) = points(group.find(f"{SVG}path[@class='dtree-tip']").get("d"))
        ends[word] = line[0][0], line[-1][0], tip
    assert ends[1][0] == ends[1][2] < ends[1][1]
    assert ends[3][0] < ends[3][1] == ends[3][2]
    assert ends[2][0] == ends[2][1] == ends[2][2], "the root's arrow comes from above"


def test_a_word_without_a_head_has_no_arc():
    picture = tree_picture([tree([NONE, 0, 2])])
    assert sorted(groups(picture)) == [2, 3]
    assert texts(picture, "dtree-word") == ["word1", "word2", "word3"]
    assert "word1 1, dep1 without a head" in picture


@pytest.mark.parametrize(
    ("heads", "crossing"),
    [
        ([2, 0, 4, 2, 6, 2], set()),
        ([5, 5, 5, 5, 0, 1], {5, 6}),  # the arc of the last word crosses the root's
        ([3, 4, 0, 3], {1, 2, 3}),
        ([0, 4, 1, 1], {2, 3}),
        ([3, 5, 0, 3, 3], {1, 2, 3}),
    ],
)
def test_arcs_that_cross_are_marked_and_no_others(heads, crossing):
    picture = tree_picture([tree(heads)])
    assert marked(picture, CROSSING) == crossing
    assert ("crosses another arc" in texts(picture, "dtree-key")) == bool(crossing)


def test_differences_are_marked_exactly_where_heads_or_labels_differ():
    gold = tree([2, 0, 2, 3])
    other = Tree("one", gold.forms, [2, 0, 4, 2], ["x", "dep2", "x", "dep4"])
    same = Tree("two", gold.forms, gold.heads, gold.labels)
    picture = tree_picture([gold, other, same])
    assert [marked(picture, WRONG_HEAD, k) for k in range(3)] == [set(), {3, 4}, set()]
    assert [marked(picture, WRONG_LABEL, k) for k in range(3)] == [set(), {1}, set()]
    assert texts(picture, WRONG_HEAD) == ["word3", "word4"]
    assert texts(picture, WRONG_LABEL) == ["word1"]
    assert texts(picture, "dtree-key") == ["wrong head", "right head, wrong label"]
    assert texts(picture, "dtree-title") == [
        "gold",
        "one · 2 wrong heads, 1 wrong label",
        "two · the same tree",
    ]
    assert "word3 3: x of word4 4; gold: dep3 of word2 2" in picture
    assert texts(tree_picture([gold, same]), "dtree-key") == []


def test_words_of_two_trees_are_aligned_one_above_the_other():
    gold, other = tree([2, 0, 2, 3]), tree([0, 1, 1, 1], "other", label="a-very-long-label")
    places = {}
    for text in parsed(tree_picture([gold, other])).iter(f"{SVG}text"):
        if "dtree-word" in text.get("class"):
            places.setdefault(text.text, []).append((text.get("x"), float(text.get("y"))))
    assert len(places) == 4
    for (above, y), (below, lower) in places.values():
        assert above == below
        assert y < lower


def test_marks_at_borders_name_the_word_at_the_other_end():
    heads = [0, *range(1, 40)]
    heads[39] = 1
    picture = tree_picture([tree(heads)], width=LEAST_WIDTH)
    assert "word40 40" in texts(picture, "dtree-to-right")
    assert "word1 1" in texts(picture, "dtree-to-left")
    assert texts(picture, "dtree-number") == [str(k) for k in range(1, 41)]
    assert not texts(tree_picture([tree(heads)]), "dtree-number")


@pytest.mark.parametrize("width", [None, LEAST_WIDTH])
def test_any_characters_in_words_labels_and_titles_give_well_formed_xml(width):
    heads = [0, *range(1, len(NASTY))]
    nasty = Tree("<&\x01\ud800>", NASTY, heads, NASTY[::-1], NASTY)
    picture = tree_picture([nasty, nasty], width=width, caption="&<\udc80")
    picture.encode()
    assert sorted(texts(picture, "dtree-word")) == sorted([*map(clean, NASTY)] * 2)
    assert texts(picture, "dtree-caption") == ["&<\ufffd"]
    assert parsed(picture).find(f"{SVG}title").text == "&<\ufffd"
    assert "\u2068שלום\u2069 7" in parsed(picture).find(f"{SVG}desc").text
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\uffff]", picture)
    assert_inside(picture)


def test_a_long_word_is_shortened_but_complete_in_its_tooltip():
    long = "https://" + "x" * 300
    picture = tree_picture([Tree("", [long, "b"], [0, 1], ["root", "dep"])])
    assert texts(picture, "dtree-word")[0].endswith("…")
    assert float(parsed(picture).get("width")) < 2 * LONGEST_WORD
    assert any(long in title.text for title in parsed(picture).iter(f"{SVG}title"))

"""Words, arcs and labels are inside the picture and do not overlap."""

import itertools

import pytest
from helpers.pictures import SIZES, SVG, assert_inside, groups, parsed, points, tree
from helpers.random_conllu import trees as random_heads
from helpers.tiny import UD
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import NONE, Sentence
from dyparse.drawing.layout import (
    LABEL_PAD,
    LABEL_SIZE,
    LEAST_WIDTH,
    Tree,
    arcs_of,
    crossing_words,
    pieces_of,
    rows_of,
)
from dyparse.drawing.svg import tree_picture
from dyparse.drawing.text import text_width


@st.composite
def comparisons(draw_value, max_words=14):
    """One to three trees of the same words, with long and short labels."""
    heads = draw_value(random_heads(max_words=max_words))
    lengths = st.lists(st.integers(1, 40), min_size=len(heads), max_size=len(heads))
    forms = ["w" * length for length in draw_value(lengths)]
    chosen = [heads]
    for _ in range(draw_value(st.integers(0, 2))):
        other = draw_value(random_heads(max_words=max_words).filter(lambda h: len(h) >= len(heads)))
        chosen.append([head if head <= len(heads) else NONE for head in other[: len(heads)]])
    return [
        Tree(f"tree {k}", forms, heads, ["m" * length for length in draw_value(lengths)])
        for k, heads in enumerate(chosen)
    ]


def crosses(one, other):
    """Whether two arcs (head, dependent) cross."""
    (a, b), (c, d) = sorted(one), sorted(other)
    return a < c < b < d or c < a < d < b


@given(random_heads(max_words=9))
def test_crossing_words_are_those_found_by_comparing_all_pairs_of_arcs(heads):
    arcs = {word: (head, word) for word, head in enumerate(heads, 1)}
    expected = {w for w in arcs if any(crosses(arcs[w], arcs[other]) for other in arcs)}
    assert crossing_words(heads) == expected
    sentence = Sentence.from_words(["w"] * len(heads)).with_tree(heads, ["_"] * len(heads))
    assert sentence.is_projective() == (not expected)


def test_the_label_of_a_root_with_many_dependents_is_inside_the_picture():
    star = Tree("", ["w"] * 9, [0] + [1] * 8, ["m" * 4] + ["m"] * 8)
    assert_inside(tree_picture([star]))


@settings(deadline=None)
@given(comparisons(), st.sampled_from([None, LEAST_WIDTH, 800]))
def test_nothing_is_outside_the_picture_and_rows_keep_to_the_width(trees, width):
    picture = tree_picture(trees, width=width, caption="c" * 200)
    assert assert_inside(picture) <= (width or 1e9)


@settings(deadline=None)
@given(comparisons(), st.sampled_from([float("inf"), LEAST_WIDTH]))
@example([Tree("", ["a"] * 40, [*range(2, 41), 0], ["m"] * 40)], LEAST_WIDTH)
def test_arcs_above_the_same_words_have_different_heights_and_inner_ones_are_lower(trees, width):
    rows = rows_of(trees, width)
    assert [word for row in rows for word in row.x] == list(range(1, len(trees[0].forms) + 1))
    for row, shown in itertools.product(rows, trees):
        pieces = pieces_of(arcs_of(shown), row)
        assert len({piece.arc.word for piece in pieces}) == len(pieces)
        assert all(piece.right - piece.left > LABEL_PAD - 0.01 for piece in pieces)
        for one, other in itertools.permutations(pieces, 2):
            if one.left < other.right and other.left < one.right:
                assert one.level != other.level
            if one.arc.left <= other.arc.left and other.arc.right <= one.arc.right:
                assert one.level > other.level


@settings(deadline=None)
@given(comparisons(), st.sampled_from([None, LEAST_WIDTH]))
def test_words_and_labels_do_not_overlap(trees, width):
    for kind in ("dtree-word", "dtree-label"):
        spans = []
        for text in parsed(tree_picture(trees, width=width)).iter(f"{SVG}text"):
            if kind in text.get("class").split():
                half = text_width(text.text, SIZES[kind]) / 2
                spans.append((text.get("y"), float(text.get("x")) - half, half * 2))
        for (y, x, wide), (other_y, other_x, _) in itertools.pairwise(sorted(spans)):
            assert y != other_y or x + wide < other_x + 0.2


@settings(deadline=None)
@given(comparisons(), st.sampled_from([None, LEAST_WIDTH]))
@example([Tree("", ["a"] * 4, [3, 4, 0, 3], ["m" * 10, "m", "m", "m"])], None)  # a line crosses it
def test_a_label_is_between_the_ends_of_its_arc(trees, width):
    picture = tree_picture(trees, width=width)
    for number, shown in enumerate(trees):
        for word, pieces in groups(picture, number).items():
            for group in pieces if shown.heads[word - 1] else ():
                line = group.find(f"{SVG}path[@class='dtree-line']").get("d")
                xs = [x for x, _ in points(line)]
                for label in group.findall(f"{SVG}text[@class='dtree-label']"):
                    half = text_width(label.text, LABEL_SIZE) / 2
                    assert min(xs) < float(label.get("x")) - half
                    assert float(label.get("x")) + half < max(xs)


def test_a_sentence_of_1500_words_can_be_drawn():
    heads = [0, *range(1, 1500)]
    assert tree_picture([tree(heads)]).count("dtree-label") > 1500
    assert_inside(tree_picture([tree(heads)], width=900))


@pytest.mark.skipif(not UD.is_dir(), reason="no UD treebanks here")
def test_sentences_of_ud_treebanks_are_drawn_within_the_width():
    files = sorted(UD.glob("*/*-dev.conllu"))
    for path in files:
        for sentence in itertools.islice(read_sentences(path, trees=True), 12):
            shown = Tree("", sentence.form, sentence.head, sentence.label, sentence.upos)
            assert assert_inside(tree_picture([shown], width=900)) <= 900

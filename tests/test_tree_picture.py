"""Pictures of trees: what is drawn, that it is well-formed and inside, and the command for it."""

import itertools
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from random_conllu import trees as random_heads
from tiny import UD, sample

from dyparse.sentence import NONE, Sentence
from dyparse.tree_picture import (
    CROSSING,
    LABEL_PAD,
    LABEL_SIZE,
    LEAST_WIDTH,
    LONGEST_WORD,
    SMALL_SIZE,
    STYLE,
    TITLE_SIZE,
    WORD_SIZE,
    WRONG_HEAD,
    WRONG_LABEL,
    Tree,
    arcs_of,
    clean,
    crossing_words,
    draw,
    html_page,
    pieces_of,
    rows_of,
    shortened,
    svg,
    text_width,
    tree_picture,
)
from dyparse.treebank.conllu_file import read_sentences

SVG = "{http://www.w3.org/2000/svg}"
DEV = sample("dev")[:8]
NASTY = [
    "<b>&\"'",
    "]]>",
    "\x00\x1b[31m",
    "\ud800",
    "\uffff",
    "a\u202eb",
    "שלום",
    "日本語",
    "é" * 3,
]
SIZES = {"dtree-word": WORD_SIZE, "dtree-tag": SMALL_SIZE, "dtree-number": SMALL_SIZE}
SIZES |= {"dtree-caption": TITLE_SIZE, "dtree-title": TITLE_SIZE, "dtree-label": LABEL_SIZE}
SIZES |= {"dtree-key": LABEL_SIZE, "dtree-to-left": SMALL_SIZE, "dtree-to-right": SMALL_SIZE}
STARTS = ("dtree-caption", "dtree-title", "dtree-key", "dtree-to-right")
NUMBER = r"-?\d+(?:\.\d)?"


def tree(heads, title="gold", words="word", label="dep"):
    """A tree whose words and labels are numbered."""
    numbers = range(1, len(heads) + 1)
    return Tree(title, [f"{words}{k}" for k in numbers], heads, [f"{label}{k}" for k in numbers])


def parsed(text):
    return ElementTree.fromstring(text)


def groups(picture, number=0):
    """The groups of the arcs of a tree, or of their pieces, by dependent."""
    found = {}
    for group in parsed(picture).iter(f"{SVG}g"):
        if group.get("data-tree") == str(number):
            found.setdefault(int(group.get("data-word")), []).append(group)
    return found


def marked(picture, kind, number=0):
    """The dependents of arcs of a class."""
    arcs = groups(picture, number).items()
    return {word for word, pieces in arcs if all(kind in p.get("class").split() for p in pieces)}


def texts(picture, kind):
    return [t.text for t in parsed(picture).iter(f"{SVG}text") if kind in t.get("class").split()]


def points(path):
    """The points of a path that is absolute but for the triangle of an arrow and the legend."""
    x = y = 0.0
    for letter, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        values = [float(number) for number in re.findall(NUMBER, numbers)]
        if letter in "MQ":
            for x, y in zip(values[::2], values[1::2], strict=True):
                yield x, y
        elif letter in "HVhlv":
            x = {"H": values[0], "h": x + values[0], "l": x + values[0]}.get(letter, x)
            y = {"V": values[0], "l": y + values[-1]}.get(letter, y)
            yield x, y
        else:
            assert letter == "z"


def boxes(picture):
    """About where the elements are: (left, top, right, bottom)."""
    for element in parsed(picture).iter():
        kind = element.tag.removeprefix(SVG)
        if kind == "path":
            xs, ys = zip(*points(element.get("d")), strict=True)
            yield min(xs), min(ys), max(xs), max(ys)
        elif kind == "rect":
            x, y = float(element.get("x", 0)), float(element.get("y", 0))
            yield x, y, x + float(element.get("width")), y + float(element.get("height"))
        elif kind == "text":
            name = element.get("class").split()[0]
            x, y, wide = (
                float(element.get("x")),
                float(element.get("y")),
                text_width(element.text, SIZES[name]),
            )
            left = x if name in STARTS else x - wide if name == "dtree-to-left" else x - wide / 2
            yield left, y - 0.8 * SIZES[name], left + wide, y + 0.25 * SIZES[name]


def assert_inside(picture):
    _, _, width, height = map(float, parsed(picture).get("viewBox").split())
    for left, top, right, bottom in boxes(picture):
        assert left >= -0.1
        assert top >= -0.1
        assert right <= width + 0.1
        assert bottom <= height + 0.1
    return width


def crosses(one, other):
    """Whether two arcs (head, dependent) cross."""
    (a, b), (c, d) = sorted(one), sorted(other)
    return a < c < b < d or c < a < d < b


# --- what is drawn -------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [None, LEAST_WIDTH])
def test_every_arc_has_one_arrow_its_label_and_both_ends(width):
    sentence = max(DEV, key=len)
    gold = Tree("gold", sentence.form, sentence.head, sentence.relation, sentence.upos)
    picture = tree_picture([gold, gold], width=width)
    for number in range(2):
        arcs = groups(picture, number)
        assert list(range(1, len(sentence) + 1)) == sorted(arcs)
        for word, pieces in arcs.items():
            tips = [p for g in pieces for p in g.findall(f"{SVG}path[@class='dtree-tip']")]
            labels = [t.text for g in pieces for t in g.findall(f"{SVG}text[@class='dtree-label']")]
            assert len(tips) == 1
            assert labels == [sentence.relation[word - 1]]
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
    assert ends[2][0] == ends[2][1] == ends[2][2], "the root's comes from above"


def test_a_word_without_a_head_has_no_arc():
    picture = tree_picture([tree([NONE, 0, 2])])
    assert sorted(groups(picture)) == [2, 3]
    assert texts(picture, "dtree-word") == ["word1", "word2", "word3"]
    assert "word1 1, dep1 without a head" in picture


@pytest.mark.parametrize(
    ("heads", "crossing"),
    [
        ([2, 0, 4, 2, 6, 2], set()),
        ([5, 5, 5, 5, 0, 1], {5, 6}),  # the arc of the last word passes over the root
        ([3, 4, 0, 3], {1, 2, 3}),
        ([0, 4, 1, 1], {2, 3}),
        ([3, 5, 0, 3, 3], {1, 2, 3}),
    ],
)
def test_arcs_that_cross_are_marked_and_no_others(heads, crossing):
    picture = tree_picture([tree(heads)])
    assert marked(picture, CROSSING) == crossing
    assert ("crosses another arc" in texts(picture, "dtree-key")) == bool(crossing)


@given(random_heads(max_words=9))
def test_crossing_arcs_are_those_that_cross_in_pairs(heads):
    arcs = {word: (head, word) for word, head in enumerate(heads, 1)}
    expected = {w for w in arcs if any(crosses(arcs[w], arcs[other]) for other in arcs)}
    assert crossing_words(heads) == expected
    sentence = Sentence.from_words(["w"] * len(heads)).with_tree(heads, ["_"] * len(heads))
    assert sentence.is_projective() == (not expected)


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


def test_trees_stand_one_above_the_other_word_by_word():
    gold, other = tree([2, 0, 2, 3]), tree([0, 1, 1, 1], "other", label="a-very-long-label")
    places = {}
    for text in parsed(tree_picture([gold, other])).iter(f"{SVG}text"):
        if "dtree-word" in text.get("class"):
            places.setdefault(text.text, []).append((text.get("x"), float(text.get("y"))))
    assert len(places) == 4
    for (above, y), (below, lower) in places.values():
        assert above == below
        assert y < lower


def test_marks_at_borders_name_the_other_end():
    heads = [0, *range(1, 40)]
    heads[39] = 1
    picture = tree_picture([tree(heads)], width=LEAST_WIDTH)
    assert "word40 40" in texts(picture, "dtree-to-right")
    assert "word1 1" in texts(picture, "dtree-to-left")
    assert texts(picture, "dtree-number") == [str(k) for k in range(1, 41)]
    assert not texts(tree_picture([tree(heads)]), "dtree-number")


# --- text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [None, LEAST_WIDTH])
def test_nasty_words_labels_and_titles_are_well_formed(width):
    heads = [0, *range(1, len(NASTY))]
    nasty = Tree("<&\x01\ud800>", NASTY, heads, NASTY[::-1], NASTY)
    picture = tree_picture([nasty, nasty], width=width, caption="&<\udc80")
    picture.encode()
    assert texts(picture, "dtree-word")[: len(NASTY)] == [clean(word) for word in NASTY]
    assert texts(picture, "dtree-caption") == ["&<\ufffd"]
    assert parsed(picture).find(f"{SVG}title").text == "&<\ufffd"
    assert "\u2068שלום\u2069 7" in parsed(picture).find(f"{SVG}desc").text
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\uffff]", picture)
    assert_inside(picture)


@given(st.text(max_size=30))
def test_any_text_is_clean_and_fits_when_shortened(text):
    short = shortened(text, 60, 10)
    assert text_width(short, 10) <= 60
    assert short == clean(text) or (short[-1] == "…" and clean(text).startswith(short[:-1]))
    ElementTree.fromstring(f"<a>{clean(text).replace('&', '').replace('<', '')}</a>")


def test_widths_know_east_asian_letters_and_accents():
    assert text_width("日本", 10) > text_width("ab", 10)
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("", 10) == 0


def test_a_long_word_is_shortened_and_whole_in_its_tooltip():
    long = "https://" + "x" * 300
    picture = tree_picture([Tree("", [long, "b"], [0, 1], ["root", "dep"])])
    assert texts(picture, "dtree-word")[0].endswith("…")
    assert float(parsed(picture).get("width")) < 2 * LONGEST_WORD
    assert any(long in title.text for title in parsed(picture).iter(f"{SVG}title"))


# --- places --------------------------------------------------------------------------------------


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


def test_the_label_of_a_root_with_many_dependents_is_inside():
    star = Tree("", ["w"] * 9, [0] + [1] * 8, ["m" * 4] + ["m"] * 8)
    assert_inside(tree_picture([star]))


@settings(deadline=None)
@given(comparisons(), st.sampled_from([None, LEAST_WIDTH, 800]))
def test_nothing_is_outside_the_picture_and_rows_keep_the_width(trees, width):
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
@example([Tree("", ["a"] * 4, [3, 4, 0, 3], ["m" * 10, "m", "m", "m"])], None)  # a line meets it
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


def test_the_picture_of_a_long_sentence_is_made_in_time():
    heads = [0, *range(1, 1500)]
    assert tree_picture([tree(heads)]).count("dtree-label") > 1500
    assert_inside(tree_picture([tree(heads)], width=900))


@pytest.mark.skipif(not UD.is_dir(), reason="no UD treebanks here")
def test_real_sentences_are_drawn_inside_the_width():
    files = sorted(UD.glob("*/*-dev.conllu"))
    for path in files:
        for sentence in itertools.islice(read_sentences(path, trees=True), 12):
            shown = Tree("", sentence.form, sentence.head, sentence.relation, sentence.upos)
            assert assert_inside(tree_picture([shown], width=900)) <= 900


# --- SVG and HTML --------------------------------------------------------------------------------


def test_the_same_trees_give_the_same_bytes():
    trees = [tree([2, 0, 2]), tree([0, 1, 2], "other")]
    assert tree_picture(trees) == tree_picture(trees)
    program = (
        "import sys; from dyparse.tree_picture import *\n"
        f"sys.stdout.buffer.write(tree_picture({trees!r}).encode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONHASHSEED": "7"},
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == tree_picture(trees)


def test_every_class_has_the_prefix_and_there_is_no_id():
    picture = tree_picture([tree([3, 4, 0, 3]), tree([2, 0, 2, 3], "other")], width=600)
    names = re.findall(r'class="([^"]+)"', picture)
    assert all(name.startswith("dtree") for value in names for name in value.split())
    assert all(".dtree" in line for line in STYLE.splitlines())
    assert not re.search(r'\bid="', picture)


def test_a_picture_for_a_page_leaves_the_style_to_the_page():
    trees = [tree([2, 0, 2])]
    assert "<style>" in tree_picture(trees)
    inline = tree_picture(trees, standalone=False)
    assert "<style>" not in inline
    assert "xmlns" not in inline
    page = "".join(html_page([draw(trees, caption="a"), draw(trees, caption="b")], "<page>"))
    assert page.count("<svg") == page.count("</svg>") == 2
    assert page.count(STYLE) == 1
    assert "<title>&lt;page&gt;</title>" in page
    assert "overflow-x:auto" in page


def test_several_drawings_are_stacked_in_one_picture():
    drawings = [draw([tree([2, 0, 2])], caption="a"), draw([tree([0, 1])], caption="b")]
    root = parsed(svg(drawings))
    assert float(root.get("height")) == pytest.approx(sum(d.height for d in drawings), abs=0.1)
    assert float(root.get("width")) == pytest.approx(max(d.width for d in drawings), abs=0.1)
    tops = [g.get("transform") for g in root.findall(f"{SVG}g")]
    assert tops == ["translate(0 0)", f"translate(0 {drawings[0].height:.1f})".replace(".0)", ")")]


@pytest.mark.parametrize(
    ("make", "finding"),
    [
        (lambda: tree([1]), "head 1 of word 1"),
        (lambda: tree([0, 3]), "expected another of 0..2"),
        (lambda: tree([0, -2]), "head -2"),
        (lambda: Tree("t", ["a"], [0], []), "1 words, 1 heads, 0 labels"),
        (lambda: Tree("t", ["a", "b"], [0, 1], ["x", "y"], ["N"]), "1 tags"),
        (lambda: tree_picture([]), "nothing to draw"),
        (lambda: tree_picture([Tree("t", [], [], [])]), "nothing to draw"),
        (lambda: tree_picture([tree([0]), tree([0], "b", "other")]), "different words"),
        (lambda: tree_picture([tree([0])], width=LEAST_WIDTH - 1), "width is"),
    ],
)
def test_what_cannot_be_drawn_is_refused(make, finding):
    with pytest.raises(ValueError, match=re.escape(finding)):
        make()


# --- command -------------------------------------------------------------------------------------


@pytest.fixture
def command(dyparse_command):
    return lambda *arguments, **options: dyparse_command("draw", *arguments, **options)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text("".join(sentence.to_conllu() for sentence in DEV))
    return path


@pytest.fixture
def predicted(tmp_path):
    """The same sentences; in the first, word 1 has another label."""
    first = DEV[0].with_tree(DEV[0].head, ["other", *DEV[0].relation[1:]])
    path = tmp_path / "predicted.conllu"
    path.write_text("".join(sentence.to_conllu() for sentence in [first, *DEV[1:]]))
    return path


def captions(picture):
    return texts(picture, "dtree-caption")


def test_the_first_sentence_is_drawn_to_standard_output_and_others_if_asked_for(command, file):
    status, out, err = command(file)
    assert (status, err) == (0, "")
    assert captions(out) == [DEV[0].identifier]
    assert sorted(groups(out)) == list(range(1, len(DEV[0]) + 1))
    assert sorted(texts(out, "dtree-tag")) == sorted(DEV[0].upos)
    assert captions(command(file, "--sentence", 3)[1]) == [DEV[2].identifier]
    both = command(file, "--sentence", DEV[4].identifier, "--sentence", 2)[1]
    assert captions(both) == [DEV[4].identifier, DEV[1].identifier]
    assert len(captions(command(file, "--all")[1])) == len(DEV)
    assert captions(command("-", "--sentence", 2, stdin=file.read_text())[1]) == captions(
        command(file, "--sentence", 2)[1]
    )


def test_a_picture_is_drawn_without_torch_numba_and_numpy(file):
    program = f"import sys, dyparse.cli as c; c.main(['draw', {str(file)!r}]); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    picture, _, modules = done.stdout.partition("</svg>")
    assert picture.startswith("<svg")
    assert "dyparse.tree_picture" in modules.split()
    assert not {"torch", "numba", "numpy"} & set(modules.split())


def test_output_is_svg_or_html_as_the_name_ends_and_appears_whole(command, file, tmp_path):
    picture, page = tmp_path / "out.svg", tmp_path / "out.html"
    picture.write_text("old")
    assert command(file, "-o", picture) == (0, "", "")
    assert picture.read_text(encoding="utf-8") == command(file)[1]
    assert command(file, "--all", "-o", page) == (0, "", "")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert text.count("<svg") == len(DEV)
    assert {p.name for p in tmp_path.iterdir()} == {"gold.conllu", "out.svg", "out.html"}


@pytest.mark.parametrize("name", ["out.svg", "out.html"])
def test_an_error_leaves_the_old_file(command, file, tmp_path, name):
    out = tmp_path / name
    out.write_text("old")
    file.write_text(file.read_text() + "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    status, said, err = command(file, "--all", "-o", out)
    assert (status, said) == (2, "")
    assert err.startswith(f"error: {file}:")
    assert out.read_text() == "old"
    assert {p.name for p in tmp_path.iterdir()} == {"gold.conllu", name}
    assert command(file, "-o", out)[0] == 0, "faults elsewhere are no matter"


def test_other_files_stand_below_and_differences_are_marked(command, file, predicted):
    status, out, err = command(file, "--with", predicted, "--with", file)
    assert (status, err) == (0, "")
    assert [len(groups(out, k)) for k in range(3)] == [len(DEV[0])] * 3
    assert [marked(out, WRONG_LABEL, k) for k in range(3)] == [set(), {1}, set()]
    assert not any(marked(out, WRONG_HEAD, k) for k in range(3))
    names = [title.partition(" ·")[0] for title in texts(out, "dtree-title")]
    assert names[:3] == [str(file), str(predicted), str(file)], "two files of the same name"
    one = command(file, "--with", predicted)[1]
    assert texts(one, "dtree-title")[:2] == ["gold.conllu", "predicted.conllu · 1 wrong label"]


def test_the_width_is_heeded_and_0_never_wraps(command, file):
    width = float(parsed(command(file, "--width", 600)[1]).get("width"))
    assert width <= 600
    wide = command(file, "--width", 0)[1]
    assert float(parsed(wide).get("width")) > 1000
    assert not texts(wide, "dtree-number")


def test_tags_are_left_out_where_there_are_none(command):
    sentence = Sentence.from_words(["a", "b"]).with_tree([0, 1], ["root", "dep"])
    status, out, _ = command("-", stdin=sentence.to_conllu())
    assert status == 0
    assert captions(out) == ["sentence 1"]
    assert texts(out, "dtree-tag") == []


@pytest.mark.parametrize(
    ("options", "finding"),
    [
        (["--sentence", "99"], "no sentence '99'; expected a number 1..8"),
        (["--sentence", "1", "--all"], "--all and --sentence exclude each other"),
        (["--width", "-1"], "--width is -1"),
        (["--width", "50"], f"--width is 50, expected {LEAST_WIDTH} or more, or 0"),
        (["-o", "tree.png"], "--output is tree.png, expected a name in .svg or .html"),
        (["-o", "no/where/tree.svg"], "no/where"),
        (["--with", "nosuch"], "nosuch: no such file"),
        (["--with", "-", "--with", "-"], "standard input can be read once"),
    ],
)
def test_a_wrong_option_is_one_message(command, file, options, finding):
    status, out, err = command(file, *options)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert finding in err


def test_files_with_other_sentences_or_words_are_refused(command, file, tmp_path):
    other = tmp_path / "other.conllu"
    other.write_text("".join(sentence.to_conllu() for sentence in DEV[:-1]))
    status, out, err = command(file, "--with", other)
    assert (status, out) == (2, "")
    assert f"{other}: 7 sentences, but 8 in {file}; compare" in err
    other.write_text(file.read_text().replace("\tfriend\tfriend\t", "\tfoe\tfoe\t"))
    assert command(file, "--with", other, "--sentence", 1)[0] == 0
    status, out, err = command(file, "--with", other, "--sentence", 2)
    assert (status, out) == (2, "")
    assert f"{other}:" in err
    assert "word 2 is 'foe', but 'friend' in" in err
    other.write_text("".join(sentence.to_conllu() for sentence in [DEV[1], *DEV[1:]]))
    assert "word 2 is " in command(file, "--with", other)[2]


def test_a_sentence_with_more_words_is_refused(command, tmp_path):
    paths = []
    for count in (2, 3):
        words = Sentence.from_words(["a"] * count)
        paths.append(tmp_path / f"{count}.conllu")
        heads = list(range(count))
        paths[-1].write_text(words.with_tree(heads, ["root", "x", "x"][:count]).to_conllu())
    assert "word 3 is 'a', but missing in" in command(paths[0], "--with", paths[1])[2]
    assert "word 3 is missing, but 'a' in" in command(paths[1], "--with", paths[0])[2]


def test_help_has_examples(command):
    status, out, _ = command("--help")
    assert status == 0
    assert "dyparse draw dev.conllu -o tree.svg" in out

import io
import itertools
import re
import sys

import pytest
from helpers.malformed import FILES, MALFORMED, ODD, SOUND, rows, without_trees
from helpers.random_conllu import files, token_lines, trees
from helpers.sound_reading import is_tree
from helpers.tiny import UD
from hypothesis import given, settings
from hypothesis import strategies as st

from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import NONE, Sentence
from dyparse.errors import TreebankError

REAL = sorted(UD.glob("*/*.conllu"))
needs_ud = pytest.mark.skipif(not REAL, reason=f"no UD treebanks at {UD}; set DYPARSE_UD")


def sentences_of(text: str | bytes, *, trees: bool = True) -> list[Sentence]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(read_sentences(io.BytesIO(data), trees=trees))


@settings(deadline=None)
@given(files())
def test_what_is_read_is_written_byte_for_byte(text):
    for with_trees in (True, False):
        read = sentences_of(text, trees=with_trees)
        assert "".join(sentence.to_conllu() for sentence in read).encode() == text.encode()


@settings(deadline=None)
@given(files())
def test_line_numbers_and_word_lines_point_at_the_words(text):
    lines = text.encode().split(b"\n")
    for sentence in sentences_of(text):
        for word, index in enumerate(sentence.word_lines):
            columns = lines[sentence.line_number - 1 + index].decode().rstrip("\r").split("\t")
            assert columns[1] == sentence.form[word]
            assert columns[5] == sentence.feats[word]
            assert columns[6:8] == [str(sentence.head[word]), sentence.label[word]]


@settings(deadline=None)
@given(trees(max_words=20), st.data())
def test_every_tree_is_accepted(head, data):
    lines = data.draw(token_lines(head))
    (sentence,) = sentences_of("\n".join(lines) + "\n\n")
    assert sentence.head == head


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_heads_are_accepted_if_and_only_if_they_form_one_tree(n):
    for head in itertools.product(range(n + 2), repeat=n):
        text = rows(*(f"{word} w {h} x" for word, h in enumerate(head, 1)))
        if max(head) <= n and is_tree(head):
            assert sentences_of(text)[0].head == list(head)
        else:
            with pytest.raises(TreebankError, match=r"^<stream>:[1-4]: .*; expected"):
                sentences_of(text)


@settings(deadline=None)
@given(trees(max_words=10), st.data())
def test_a_tree_with_one_head_moved_below_itself_is_rejected(head, data):
    word = data.draw(st.integers(1, len(head)))
    below = {word}
    while grown := {d for d, h in enumerate(head, 1) if h in below} - below:
        below |= grown
    head[word - 1] = data.draw(st.sampled_from(sorted(below)))
    with pytest.raises(TreebankError, match=r"cycle|its own head|no word has head 0"):
        sentences_of(rows(*(f"{w} w {h} x" for w, h in enumerate(head, 1))))


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_sentence_is_named_with_its_line_and_a_remedy(name, tmp_path):
    case, path = MALFORMED[name], tmp_path / "bad.conllu"
    path.write_bytes(case.data)
    place = re.escape(case.place(path))
    for with_trees in (True, False):
        if with_trees or name in FILES:
            with pytest.raises(TreebankError, match=f"^{place}.*{case.finding}") as caught:
                list(read_sentences(path, trees=with_trees))
            assert "expected" in str(caught.value)
            assert len(str(caught.value)) < len(str(path)) + 400
        else:
            read = sentences_of(case.data, trees=with_trees)
            assert "".join(sentence.to_conllu() for sentence in read).encode() == case.data


@pytest.mark.parametrize("name", ODD)
def test_odd_files_that_are_sound_are_read_and_written_byte_for_byte(name):
    for with_trees in (True, False):
        read = sentences_of(ODD[name], trees=with_trees)
        assert "".join(sentence.to_conllu() for sentence in read) == ODD[name]


def test_the_message_has_file_line_sentence_finding_expectation_and_remedy(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(SOUND + "# sent_id = s-2\n" + rows("1 a 0 root", "2 b 5 x"))
    with pytest.raises(TreebankError) as caught:
        list(read_sentences(path, trees=True))
    assert str(caught.value) == (
        f"{path}:7: sentence 's-2': head '5' of word 2 is outside the sentence; expected a number "
        "in 0..2; correct HEAD, or look for a missing word or a wrong sentence boundary"
    )


@pytest.mark.parametrize(
    ("head", "label", "deps"),
    [("_", "_", "_"), ("77", "x", "???"), ("", "", ""), ("1", "", "_")],
)
def test_without_trees_head_deprel_and_deps_may_be_anything(head, label, deps):
    text = f"1\ta\t_\tX\t_\t_\t{head}\t{label}\t{deps}\t_\n\n"
    (sentence,) = sentences_of(text, trees=False)
    assert (sentence.form, sentence.head, sentence.label) == (["a"], [NONE], ["_"])
    assert sentence.to_conllu() == text
    parsed = sentence.with_tree([0], ["root"]).to_conllu()
    assert parsed == f"1\ta\t_\tX\t_\t_\t0\troot\t{deps}\t_\n\n"


@pytest.mark.parametrize("form", ["10  000", "a  b  c", "  ", " a", "a ", "\u00a0", "\u3000\u3000"])
def test_spaces_inside_a_column_do_not_split_it(form):
    text = f"1\t{form}\tx  y\tX\t_\t_\t0\troot\t_\t \n\n"
    (sentence,) = sentences_of(text)
    assert (sentence.form, sentence.upos) == ([form], ["X"])


def test_a_path_that_cannot_be_read_is_refused(tmp_path, monkeypatch):
    with pytest.raises(TreebankError, match="is a directory"):
        list(read_sentences(tmp_path, trees=True))
    with pytest.raises(TreebankError, match="no such file"):
        list(read_sentences(tmp_path / "none.conllu", trees=True))

    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("dyparse.data.conllu.open", denied, raising=False)
    with pytest.raises(TreebankError, match=r"\(Permission denied\); check the path and its perm"):
        list(read_sentences(tmp_path / "x.conllu", trees=True))


@pytest.mark.parametrize("first", ["# sent_id = s\n" + SOUND, SOUND])
def test_a_byte_order_mark_is_accepted_and_kept(first):
    text = "\ufeff" + first
    (sentence,) = sentences_of(text)
    assert sentence.form == ["a", "b", "c"]
    assert sentence.sent_id == ("s" if first != SOUND else "")
    assert sentence.with_tree(sentence.head, sentence.label).to_conllu() == text


def test_reading_is_streaming():
    endless = (line.encode() for _ in itertools.count() for line in SOUND.splitlines(keepends=True))
    read = read_sentences(endless, trees=True)
    assert [next(read).line_number for _ in range(3)] == [1, 5, 9]


def test_standard_input_is_read_as_utf8_whatever_the_locale(monkeypatch):
    data = SOUND.replace("b", "é").replace("\n", "\r\n").encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii"))
    (sentence,) = read_sentences(sys.stdin, trees=True)
    assert sentence.path == "<stdin>"
    assert sentence.to_conllu().encode() == data


def test_a_text_stream_is_read_and_its_undecodable_bytes_refused():
    (sentence,) = read_sentences(io.StringIO(SOUND), trees=True)
    assert sentence.to_conllu() == SOUND
    bad = SOUND.replace("b", "é").encode("latin-1")
    with pytest.raises(TreebankError, match="expected UTF-8"):
        list(read_sentences(io.TextIOWrapper(io.BytesIO(bad), encoding="utf-8"), trees=True))
    escaped = io.TextIOWrapper(io.BytesIO(bad), encoding="utf-8", errors="surrogateescape")
    with pytest.raises(TreebankError, match="is not UTF-8"):
        list(read_sentences(escaped, trees=True))


@needs_ud
def test_real_treebanks_are_sound_and_copied_byte_for_byte():
    for path in UD.glob("*/*-ud-dev.conllu"):
        copy = "".join(sentence.to_conllu() for sentence in read_sentences(path, trees=True))
        assert copy.encode() == path.read_bytes(), path


@needs_ud
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_parsing_a_real_treebank_changes_heads_and_labels_only(
    dyparse_command, model_directory, path, tmp_path
):
    out = tmp_path / "out.conllu"
    status, _, err = dyparse_command("parse", model_directory, path, "-o", out)
    assert (status, "error" in err) == (0, False)
    before, after = path.read_bytes(), out.read_bytes()
    assert without_trees(after) == without_trees(before)
    assert after != before

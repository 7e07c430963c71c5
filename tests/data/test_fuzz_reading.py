"""Reading any bytes gives a clear error, or sound sentences that are written back unchanged."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from helpers.fuzz_cases import cases
from helpers.random_damage import damaged_files, sound_files
from helpers.sound_reading import changed_columns, check_bytes, outcome
from hypothesis import event, given
from hypothesis import strategies as st

from dyparse.data.conllu import Source

WORD = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
FOUND = {  # faults that these tests once found
    "comments at the end of a file": b"#",
    "comments and a line end": WORD + b"\n#\n",
    "a carriage return": b"\r",
    "carriage returns doubled before the first sentence": b"\r\r\n\r\n" + WORD,
}
FROM_TEXT: list[Callable[[bytes], Source]] = [
    lambda data: io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="\n"),
    lambda data: io.TextIOWrapper(io.BytesIO(data), "utf-8", "surrogateescape", newline="\n"),
    lambda data: io.StringIO(data.decode(errors="surrogateescape"), newline="\n"),
]


@pytest.mark.parametrize("name", FOUND)
def test_faults_once_found_stay_fixed(name):
    assert not check_bytes(FOUND[name])


@cases(few=150, many=20_000)
def test_damaged_files_are_read_soundly_or_refused(fuzz):
    @given(damaged_files())
    def check(data):
        event("read" if check_bytes(data) else "refused")

    fuzz(check)


@cases(few=150, many=55_000)
def test_random_bytes_are_read_soundly_or_refused(fuzz):
    pieces = st.lists(st.sampled_from([b"\t", b"\n", b"\r\n", b"1", b"_\t", b"#", b"0\t"]))
    values = st.one_of(st.sampled_from([b"_", b"a b"]), st.binary(min_size=1, max_size=3))
    one_word = st.tuples(st.just(b"1"), *[values] * 5, st.just(b"0"), *[values] * 3)

    @given(st.one_of(st.binary(max_size=300), pieces.map(b"".join), one_word.map(b"\t".join)))
    def check(data):
        event("read" if check_bytes(data) else "refused")

    fuzz(check)


@cases(few=50, many=5_000)
def test_files_and_text_streams_are_read_like_bytes(fuzz, tmp_path):
    path = tmp_path / "x.conllu"

    @given(st.one_of(sound_files(), damaged_files()), st.sampled_from(FROM_TEXT), st.booleans())
    def check(data, from_text, trees):
        read, error = outcome(io.BytesIO(data), trees=trees)
        path.write_bytes(data)
        for source in (path, str(path)):
            again, its_error = outcome(source, trees=trees)
            assert its_error == error.replace("<stream>", str(path), 1)
            assert [s.to_conllu() for s in again] == [s.to_conllu() for s in read]
        again, its_error = outcome(from_text(data), trees=trees)
        assert bool(its_error) == bool(error)
        assert [s.lines for s in again] == [s.lines for s in read][: len(again)]

    fuzz(check)


@cases(few=50, many=5_000)
def test_a_new_tree_changes_head_and_deprel_alone_and_is_read_back(fuzz):
    @given(st.one_of(sound_files(), damaged_files()), st.randoms(use_true_random=False))
    def check(data, random):
        for sentence in outcome(io.BytesIO(data), trees=False)[0]:
            order = random.sample(range(1, len(sentence) + 1), len(sentence))
            head = [0] * len(sentence)
            for k, word in enumerate(order[1:], 1):
                head[word - 1] = order[random.randrange(k)]
            text = sentence.with_tree(head, ["é:x"] * len(sentence)).to_conllu()
            (again,), error = outcome(io.BytesIO(text.encode()), trees=False)
            assert not error
            assert (again.form, again.feats) == (sentence.form, sentence.feats)
            assert changed_columns("".join(sentence.lines), text) <= {6, 7}
            assert [again.lines[k].split("\t")[6] for k in again.word_lines] == list(map(str, head))

    fuzz(check)

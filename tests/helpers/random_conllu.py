"""Random CoNLL-U for property tests: trees of any shape, odd characters, ranges, empty nodes."""

from __future__ import annotations

from hypothesis import strategies as st

# everything UTF-8 can encode, with unusual white space, but nothing that ends a line or column
_text = st.text(
    st.one_of(
        st.sampled_from("ab #=-._\u00a0\u2028\u3000\x0b\x85\ufeff"),
        st.characters(codec="utf-8", exclude_characters="\t\n\r\0"),
    ),
    min_size=1,
    max_size=6,
)
_value = st.one_of(st.just("_"), _text)


@st.composite
def trees(draw: st.DrawFn, max_words: int = 8) -> list[int]:
    """Heads of words 1..n that make one tree with one root, projective or not."""
    n = draw(st.integers(1, max_words))
    order = draw(st.permutations(range(1, n + 1)))
    head = [0] * n
    for position, word in enumerate(order[1:], 1):
        head[word - 1] = order[draw(st.integers(0, position - 1))]
    return head


@st.composite
def token_lines(draw: st.DrawFn, head: list[int] | None = None) -> list[str]:
    """The lines of one sentence without comments and line ends."""
    head = draw(trees()) if head is None else head
    lines: list[str] = _empty_nodes(draw, 0)
    range_end = 0
    for word, its_head in enumerate(head, 1):
        if word > range_end and draw(st.integers(0, 4)) == 0:
            range_end = draw(st.integers(word, len(head)))
            lines.append("\t".join([f"{word}-{range_end}", draw(_text), *["_"] * 7, draw(_value)]))
        values = [draw(_text), *(draw(_value) for _ in range(4)), str(its_head)]
        label = draw(_text.filter(lambda text: text != "_"))
        lines.append("\t".join([str(word), *values, label, draw(_value), draw(_value)]))
        lines += _empty_nodes(draw, word)
    return lines


def _empty_nodes(draw: st.DrawFn, word: int) -> list[str]:
    count = draw(st.sampled_from([0, 0, 0, 0, 1, 2]))
    return ["\t".join([f"{word}.{k}", *["_"] * 7, "1:x", "_"]) for k in range(1, count + 1)]


@st.composite
def files(draw: st.DrawFn) -> str:
    """A whole file, with everything that a byte-for-byte copy could lose."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = draw(st.sampled_from(["", "\ufeff"])) + end * draw(st.integers(0, 2))
    for number in range(draw(st.integers(1, 3))):
        comments = [f"# sent_id = s{number}", *draw(st.lists(_text.map("#".__add__), max_size=2))]
        lines = [*draw(st.sampled_from([[], comments])), *draw(token_lines())]
        text += "".join(line + end for line in lines) + end * draw(st.integers(1, 3))
    without_end = text.rstrip("\r\n")
    return draw(st.sampled_from([text, without_end, without_end + end]))

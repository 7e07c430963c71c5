"""The tokenizer that knows rules only."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dyparse.tokenizer import tokenize
from dyparse.tokenizer.plain import Plain


@pytest.mark.parametrize(
    "text",
    [
        "One. | Two! | Three?",
        "He came (at last.) | She left.",
        '"Who?" he said. | "I did!" | She laughed.',
        "J. R. Smith came. | He left.",
        "It costs 3.50 now. | 40% less.",
        "See www.a.org for the U.S. version of it.",
        "Wait... | Now! | …and so on",
        "यह घर है। | वह बाग है।",
        "これは本です。| あれはペンです。",
        "ما اسمك؟ | اسمي سمير.",
        "Kas see? | Jah!!! | Hea.",
    ],
)
def test_sentences_end_at_stops(text: str) -> None:
    sentences = list(tokenize(Plain(), text.replace("| ", "")))
    assert [s.text for s in sentences] == [part.strip() for part in text.split("|")]


def test_there_is_nothing_to_learn_or_to_save() -> None:
    tokenizer = Plain().train([], [], seed=1)
    assert tokenizer.files() == {}
    assert Plain().build({}) == tokenizer
    with pytest.raises(ValueError, match=r"has no files; found x\.json"):
        Plain().build({"x.json": b""})


def test_torch_is_not_needed() -> None:
    program = (
        "import sys; from dyparse.tokenizer import tokenize; "
        "from dyparse.tokenizer.plain import Plain; "
        "assert len(list(tokenize(Plain(), 'Yes. No.'))) == 2; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

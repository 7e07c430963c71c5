"""Any text is well-formed XML once cleaned, fits once shortened, and has a plausible width."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from dyparse.drawing.text import clean, shortened, text_width


@given(st.text(max_size=30))
def test_any_text_can_be_cleaned_and_shortened_to_fit(text):
    short = shortened(text, 60, 10)
    assert text_width(short, 10) <= 60
    assert short == clean(text) or (short[-1] == "…" and clean(text).startswith(short[:-1]))
    ElementTree.fromstring(f"<a>{clean(text).replace('&', '').replace('<', '')}</a>")


def test_east_asian_letters_are_wide_and_accents_take_no_space():
    assert text_width("日本", 10) > text_width("ab", 10)
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("", 10) == 0

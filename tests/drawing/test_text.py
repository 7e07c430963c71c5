"""Texts of pictures: any text is well-formed, fits, and has about its width."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from dyparse.drawing.text import clean, shortened, text_width


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

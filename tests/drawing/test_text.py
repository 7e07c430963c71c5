"""Any text is well-formed XML once cleaned, fits once shortened, and has a plausible width."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyparse.drawing.text import clean, shortened, text_width


@given(st.text(max_size=30))
def test_any_text_can_be_cleaned_and_shortened_to_fit(text):
    short = shortened(text, 60, 10)
    assert text_width(short, 10) <= 60
    assert short == clean(text) or (short[-1] == "…" and clean(text).startswith(short[:-1]))
    ElementTree.fromstring(f"<a>{clean(text).replace('&', '').replace('<', '')}</a>")


@pytest.mark.parametrize(
    ("word", "measured"),
    [
        ("மன்மோகன்சிங்கை", 1029),
        ("ஔவையார்", 647),
        ("विश्वविद्यालय", 453),
        ("ऑस्ट्रेलिया", 389),
        ("ഐക്യരാഷ്ട്രസഭ", 835),
        ("విశ్వవిద్యాలయం", 641),
        ("বিশ্ববিদ্যালয়", 489),
        ("ඖෂධ", 305),
        ("กรุงเทพมหานคร", 697),
        ("شش", 211),
        ("الاقتصادية", 414),
        ("外交部", 300),
        ("широкоформатный", 1017),
        ("cafe\u0301", 213),
        ("WWW", 297),
        ("⚽⚽", 250),
    ],
)
def test_no_word_is_wider_in_a_browser_and_none_is_given_twice_its_width(word, measured):
    """Measured in Chromium at 100 pixels, the widest of Noto Sans, Lohit and DejaVu Sans."""
    assert measured <= text_width(word, 100) < 2 * measured


def test_accents_and_joiners_take_no_space():
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("\u200d\ufe0f", 10) == text_width("", 10) == 0


def test_a_word_is_not_cut_off_between_a_letter_and_its_sign():
    assert shortened("கொகொகொகொ", 62, 10) == "கொகொ…"
    letter, sign = "கொ"
    for room in range(20, 80):
        short = shortened("கொ" * 4, room, 10).removesuffix("…")
        assert short.count(letter) == short.count(sign)

"""Words by Unicode rules."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyparse.data.sentence import Sentence
from dyparse.data.word_rules import word_spans

SCRIPTS = {  # text with its words marked by bars where no space is
    "hindi": "राम ने सीता को किताब दी| । क्या आप हिन्दी बोलते हैं| ? मुझे १२,५०० रुपये चाहिए| ।",
    "marathi": "तो मुलगा शाळेत गेला| . त्याची आई घरी आहे| !",
    "tamil": 'அவன் நேற்று சென்னைக்கு வந்தான்| . நீங்கள் தமிழ் பேசுகிறீர்களா| ? "|ஆம்|"|, என்றாள்| .',
    "telugu": "నేను పుస్తకం చదువుతున్నాను| . మీరు ఎక్కడ ఉన్నారు| ?",
    "bengali": "আমি বাংলায় কথা বলি| । তুমি কেমন আছ| ?",
    "thai": "ฉันชอบอ่านหนังสือ ที่บ้าน (|กรุงเทพฯ|) น้ำแข็ง 25 บาท",
    "khmer": "ខ្ញុំស្រលាញ់អ្នក| ។",
    "arabic": "ذَهَبَ الوَلَدُ إِلى المَدْرَسَةِ| ، ثُمَّ عادَ| . كَمْ عُمْرُكَ| ؟ ١٢٫٥ بالمئة",
    "persian": "من کتاب‌ها را می‌خوانم| . شما کجا می‌روید| ؟",
    "hebrew": 'בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם| . צה"ל הודיע| : "|לא|"| . ג׳ורג׳ בא| .',
    "french": unicodedata.normalize("NFD", "Le café d\u2019été , à Łódź| . Ångström-Skala"),
    "vietnamese": unicodedata.normalize("NFD", "Tôi đang học tiếng Việt| , ở Hà Nội| ."),
    "yoruba": unicodedata.normalize("NFD", "Ọjọ́ dára| , ẹ ṣé| ."),
}


def words_of(text):
    return [text[start:end] for start, end in word_spans(text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The dog barks.", "The dog barks ."),
        ("Don't worry, it's 40% off!", "Don't worry , it's 40% off !"),
        ("It costs 1,000.50 at 12:30.", "It costs 1,000.50 at 12:30 ."),
        ("My mother-in-law (from Łódź)...", "My mother-in-law ( from Łódź ) ..."),
        ('He said: "no" -- twice', 'He said : " no " -- twice'),
        ("«Да», сказал он…", "« Да » , сказал он …"),
        ("  spaces\taround \n", "spaces around"),
        ("don’t", "don’t"),
        ("See https://a.org/b?c=d, or www.x.se.", "See https://a.org/b?c=d , or www.x.se ."),
        ("Mail an.na+x@mail.example.org!", "Mail an.na+x@mail.example.org !"),
        ("The U.S. won at 3 a.m. today.", "The U.S. won at 3 a.m. today ."),
        ("from 2000-2004, on 1/2/2003", "from 2000-2004 , on 1/2/2003"),
        ("What?! No!!! ====", "What ? ! No !!! ===="),
        ("paral·lel 👩🏽\u200d🚀🇸🇪!", "paral·lel 👩🏽\u200d🚀 🇸🇪 !"),
        ("a\u200bb \u200b\u200bc", "a\u200b b \u200b\u200b c"),
        ("\u0301a \ufeffb so\u00adft", "\u0301a \ufeffb so\u00adft"),
    ],
)
def test_words_numbers_and_punctuation_are_separated(text, words):
    assert words_of(text) == words.split(" ")


@pytest.mark.parametrize("script", SCRIPTS)
def test_letters_keep_their_marks(script):
    marked = SCRIPTS[script]
    expected = [word for chunk in marked.split() for word in chunk.split("|") if word]
    found = words_of(marked.replace("| ", "|").replace("|", ""))
    common = set(found) & set(expected)
    assert 2 * len(common) / (len(set(found)) + len(set(expected))) > 0.95
    assert not any(unicodedata.category(word[0]).startswith("M") for word in found)


def test_white_space_after_each_word_is_recorded():
    sentence = Sentence.from_text("Yes, (no) .")
    assert sentence.form == ["Yes", ",", "(", "no", ")", "."]
    assert [token.space_after for token in sentence] == [False, True, False, False, True, True]


def test_blank_text_has_no_words():
    assert word_spans(" \t\n") == []


@given(st.text())
def test_only_white_space_is_lost_and_no_word_contains_any(text):
    words = words_of(text)
    assert "".join(words) == "".join(text.split())
    assert all(word and not any(c.isspace() for c in word) for word in words)


@pytest.mark.parametrize("word", ["3rd", "1990s", "4x4", "5km", "2nd-hand"])
def test_a_word_that_begins_with_a_digit_is_one_word(word):
    assert words_of(f"a {word} b") == ["a", word, "b"]


@pytest.mark.parametrize("unit", ["a+", "a.", "1,", "a@b.", "http://", "-'", "www.", "x@", 'א"'])
def test_time_grows_with_the_length_only(unit):
    text = unit * (50_000 // len(unit))
    assert "".join(words_of(text)) == text

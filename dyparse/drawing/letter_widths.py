"""Widths of letters in the sans-serif fonts of a browser, rather too wide than too narrow."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from functools import lru_cache

UNUSUAL = {  # letters that are narrower or wider than others of their script
    **dict.fromkeys("iIjl.,:;'| ", 0.36),
    **dict.fromkeys("mwMW@%#&æœÆƕωжшщю—…", 1.02),
    **dict.fromkeys("ŒǶЖШЩЮФ", 1.12),
    **dict.fromkeys("سشصضښ", 1.25),
}
SPACELESS = ("Mn", "Me", "Cf")  # categories of accents and invisible characters
SYMBOLS = ("Sm", "So", "No", "Nl")
SCRIPTS = (  # first code point, then the widths of small letters or those of one case, and capitals
    (0x0000, 0.64, 0.79),  # Latin, digits, punctuation
    (0x0370, 0.72, 0.84),  # Greek
    (0x0400, 0.72, 0.88),  # Cyrillic
    (0x0530, 0.92, 0.90),  # Armenian
    (0x0590, 0.74, 0.74),  # Hebrew
    (0x0600, 0.75, 0.75),  # Arabic
    (0x0700, 1.10, 1.10),  # Syriac, Thaana, N'Ko
    (0x0F00, 0.80, 0.80),  # Tibetan
    (0x1000, 1.20, 1.20),  # Burmese
    (0x10A0, 0.90, 0.92),  # Georgian
    (0x1200, 1.15, 1.15),  # Ethiopic, Cherokee, Khmer, Mongolian
    (0x1D00, 0.72, 0.84),  # Latin and Greek, extended
    (0x2010, 0.64, 1.08),  # punctuation, letter-like symbols
    (0x2C00, 0.95, 1.10),  # Glagolitic, Coptic
    (0xA000, 1.10, 1.10),
    (0x12000, 2.60, 2.60),  # Cuneiform
    (0x13000, 1.40, 1.40),  # Egyptian
    (0x1D400, 1.10, 1.10),
)
STARTS = [first for first, *_ in SCRIPTS]
# The scripts of India, Sinhala, Thai and Lao, where letters and signs differ most: each letter
# alone and what a sign adds to a letter, in tenths of the font size, in base 36. The widest of
# Noto Sans, Lohit and DejaVu Sans.
INDIC_START = 0x0900
INDIC = (
    "000488b5569976666bbbb8867777888666686767666867665578867676030533"  # U+0900
    "3245500003333033a00000008868668697004677777777776388bb8868668676"  # U+0940
    "705609c67899700890089877786798b668668766607968776080007776000633"  # U+0980
    "33230004400771600000000300007607970000777777777766676783757565g0"  # U+09C0
    "000408b997700006800787788777767677776676706676776077067076001033"  # U+0A00
    "3000000000000000000000000787707000000077777777770067f03000000000"  # U+0A40
    "000409c7779b89099c0cc6877788988666697767707689775088078787000733"  # U+0A80
    "3411000003033000c000000000000000b7000077777777774900000009hhhhhh"  # U+0AC0
    "004508a888987008900798888877878788888788708979888098078887000630"  # U+0B00
    "300000066008800000000e030000880987770077777777777735868900000000"  # U+0B40
    "00090cdc7bg00088b0aal9000b80b0c8000h90008d80009a79ab9bcedg000073"  # U+0B80
    "15900097c0gek000c000000b0000000000000079baaba8cc99aadnbekgc00000"  # U+0BC0
    "0463g887b8bf907780888686b8888da868898777707788bd697787677b00ga51"  # U+0C00
    "44858011105541000000040088700b00id040088888888880000000b7358889a"  # U+0C40
    "6g64b997adgea08880888697a8898fa878897888708888cf7987087878005784"  # U+0C80
    "858b504960ch97000000052000000b90ge110077777777770690000000000000"  # U+0CC0
    "ff646fhai7f9c0dek08dfba9ebcfahf67deea9799bace78b87987abcdc9ff553"  # U+0D00
    "34434076f0cbf0ad00007b88dcbafkee9d8800999b8ad8acbbe99dehmcfb8cbc"  # U+0D40
    "005307bab878ddhbg88f99e000a9999b888fdca8999caa869a07889a99870900"  # U+0D80
    "8989a8900000000434000000577dbbc600000049dg86947d0096h00000000000"  # U+0DC0
    "0666777666669977679977676777778877656675786786665055000000000007"  # U+0E00
    "474445600000000666887769778c000000000000000000000000000000000000"  # U+0E40
    "087070a6777077a77ab977796777889987770707777977787066000000f00700"  # U+0E80
    "4756507000000000777777777900cc8700000000000000000000000000000000"  # U+0EC0
)


@lru_cache(maxsize=4096)
def letter_width(character: str) -> float:
    """Width of a character in a line of text, relative to the font size."""
    code = ord(character)
    if character in UNUSUAL:
        return UNUSUAL[character]
    category = unicodedata.category(character)
    if INDIC_START <= code < INDIC_START + len(INDIC):
        tenths = int(INDIC[code - INDIC_START], 36)
        if tenths or category.startswith("M"):
            return tenths / 10
    if category in SPACELESS:
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.6 if category == "So" else 1.05  # emoji are wider
    if category in SYMBOLS:
        return 0.86 if character.isascii() else 1.3
    _, small, capital = SCRIPTS[bisect_right(STARTS, code) - 1]
    return capital if category in ("Lu", "Lt") else small

"""ISO 639 codes of the languages of Universal Dependencies, by the names of its treebanks."""

import re

LISTED = """
Afrikaans af, Albanian sq, Ancient Greek grc, Ancient Hebrew hbo, Arabic ar, Armenian hy,
Basque eu, Belarusian be, Breton br, Bulgarian bg, Catalan ca, Chinese zh,
Classical Armenian xcl, Classical Chinese lzh, Coptic cop, Croatian hr, Czech cs, Danish da,
Dutch nl, English en, Erzya myv, Estonian et, Faroese fo, Finnish fi, French fr, Galician gl,
Georgian ka, German de, Gothic got, Greek el, Hebrew he, Hindi hi, Hungarian hu, Icelandic is,
Indonesian id, Irish ga, Italian it, Japanese ja, Kazakh kk, Korean ko, Kurmanji kmr, Kyrgyz ky,
Latin la, Latvian lv, Lithuanian lt, Maltese mt, Manx gv, Marathi mr, Naija pcm, North Sami se,
Norwegian no, Old Church Slavonic cu, Old East Slavic orv, Old French fro, Persian fa,
Polish pl, Portuguese pt, Romanian ro, Russian ru, Sanskrit sa, Scottish Gaelic gd, Serbian sr,
Sindhi sd, Slovak sk, Slovenian sl, Spanish es, Swedish sv, Tamil ta, Telugu te, Thai th,
Turkish tr, Ukrainian uk, Upper Sorbian hsb, Urdu ur, Uyghur ug, Vietnamese vi, Welsh cy,
Western Armenian hyw, Wolof wo
"""
CODES = dict(pair.rsplit(" ", 1) for pair in " ".join(LISTED.split()).split(", "))


def language_code(treebank: str) -> str | None:
    """The code of the language that a treebank's name tells, as `UD_English-LinES` or the file name
    `en_lines-ud-train` do; None if it does not.
    """
    if of_directory := re.fullmatch(r"UD_([A-Za-z_]+)-\w+", treebank):
        return CODES.get(of_directory[1].replace("_", " "))
    of_file = re.match(r"([a-z]{2,3})_\w+-ud-", treebank)
    return of_file[1] if of_file else None

"""Words with their tags: closed classes, and open ones from a lemma."""

from __future__ import annotations

from sample_grammar.tree import Word

_ARTICLE = {"the": "Definite=Def|PronType=Art", "a": "Definite=Ind|PronType=Art"}
_DETERMINERS = {
    **_ARTICLE,
    "an": _ARTICLE["a"],
    "this": "Number=Sing|PronType=Dem",
    "that": "Number=Sing|PronType=Dem",
    "these": "Number=Plur|PronType=Dem",
    "those": "Number=Plur|PronType=Dem",
    "some": "PronType=Ind",
    "every": "PronType=Tot",
    "each": "PronType=Tot",
    "all": "PronType=Tot",
    "no": "PronType=Neg",
}
_LEMMAS = {"an": "a", "these": "this", "those": "that"}

# nominative: accusative, genitive, reflexive, person, number, gender
PRONOUNS = {
    "he": ("him", "his", "himself", 3, "Sing", "Masc"),
    "she": ("her", "her", "herself", 3, "Sing", "Fem"),
    "they": ("them", "their", "themselves", 3, "Plur", ""),
    "I": ("me", "my", "myself", 1, "Sing", ""),
    "we": ("us", "our", "ourselves", 1, "Plur", ""),
    "you": ("you", "your", "yourself", 2, "Sing", ""),
    "it": ("it", "its", "itself", 3, "Sing", "Neut"),
}


def determiner(form: str, relation: str = "det") -> Word:
    xpos = "PDT" if relation == "det:predet" else "DT"
    return Word(form, _LEMMAS.get(form, form), "DET", xpos, _DETERMINERS[form], relation)


def pronoun(nominative: str, case: str) -> Word:
    """A personal pronoun; case is Nom, Acc, Gen or Reflex."""
    accusative, genitive, reflexive, person, number, gender = PRONOUNS[nominative]
    feats = {"Number": number, "Person": str(person), "PronType": "Prs"}
    feats["Case"] = "Acc" if case == "Reflex" else case
    if gender:
        feats["Gender"] = gender
    if case == "Gen":
        feats["Poss"] = "Yes"
    if case == "Reflex":
        feats["Reflex"] = "Yes"
    forms = {"Nom": nominative, "Acc": accusative, "Gen": genitive, "Reflex": reflexive}
    column = "|".join(f"{name}={feats[name]}" for name in sorted(feats))
    xpos = "PRP$" if case == "Gen" else "PRP"
    relation = "nmod:poss" if case == "Gen" else "nsubj"
    lemma = reflexive if case == "Reflex" else nominative
    return Word(forms[case], lemma, "PRON", xpos, column, relation)


def indefinite(form: str) -> Word:
    """someone, everything, nobody..."""
    kind = "Neg" if form.startswith("no") else "Tot" if form.startswith("every") else "Ind"
    return Word(form, form, "PRON", "NN", f"Number=Sing|PronType={kind}", "nsubj")


def wh_pronoun(form: str, role: str) -> Word:
    """who, what, which, that, whom, whose; role is Int or Rel."""
    if form == "whose":
        return Word(form, form, "PRON", "WP$", f"Poss=Yes|PronType={role}", "nmod:poss")
    xpos = "WDT" if form in ("which", "that") else "WP"
    lemma = "who" if form == "whom" else form
    return Word(form, lemma, "PRON", xpos, f"PronType={role}", "obj")


def wh_adverb(form: str, role: str) -> Word:
    return Word(form, form, "ADV", "WRB", f"PronType={role}", "advmod")


def adposition(form: str) -> Word:
    return Word(form, form, "ADP", "IN", "_", "case")


def particle(form: str) -> Word:
    xpos = "RB" if form in ("away", "back") else "RP"
    return Word(form, form, "ADV" if xpos == "RB" else "ADP", xpos, "_", "compound:prt")


def marker(form: str) -> Word:
    if form == "to":
        return Word("to", "to", "PART", "TO", "_", "mark")
    if form == "when":
        return wh_adverb("when", "Int")
    return Word(form, form, "SCONJ", "IN", "_", "mark")


def conjunction(form: str) -> Word:
    return Word(form, form, "CCONJ", "CC", "_", "cc")


def adverb(form: str) -> Word:
    feats = {
        "never": "PronType=Neg", "always": "PronType=Tot", "here": "PronType=Dem",
        "there": "PronType=Dem", "then": "PronType=Dem", "now": "PronType=Dem",
        "sometimes": "PronType=Ind", "well": "Degree=Pos",
    }.get(form, "_")  # fmt: skip
    return Word(form, form, "ADV", "RB", feats, "advmod")


def adjective(form: str, lemma: str = "", degree: str = "Pos") -> Word:
    xpos = {"Pos": "JJ", "Cmp": "JJR", "Sup": "JJS"}[degree]
    return Word(form, lemma or form, "ADJ", xpos, f"Degree={degree}", "amod")


def proper(form: str, relation: str = "flat") -> Word:
    feats = "Abbr=Yes|Number=Sing" if form.endswith(".") else "Number=Sing"
    return Word(form, form, "PROPN", "NNP", feats, relation)


def common(lemma: str, plural: str = "") -> Word:
    """A noun; in the plural where one is given."""
    if plural:
        return Word(plural, lemma, "NOUN", "NNS", "Number=Plur")
    return Word(lemma, lemma, "NOUN", "NN", "Number=Sing")


def number(form: str) -> Word:
    style = "Digit" if form[0].isdigit() else "Word"
    return Word(form, form, "NUM", "CD", f"NumForm={style}|NumType=Card", "nummod")


def auxiliary(form: str, relation: str = "aux") -> Word:
    """A modal, or the place of a form of be, have, do."""
    return Word(form, form, "AUX", "MD", "VerbForm=Fin", relation)


def negation(form: str = "not") -> Word:
    is_clitic = form == "n't"
    return Word(
        form, "not", "PART", "RB", "Polarity=Neg", "advmod", joined=is_clitic, close=is_clitic
    )


def possessive(host: str) -> Word:
    """The clitic of `Anna's`, `the brothers'`."""
    form = "'" if host.endswith("s") else "'s"
    return Word(form, "'s", "PART", "POS", "_", "case", joined=True, close=True)


def there() -> Word:
    return Word("there", "there", "PRON", "EX", "_", "expl")


def comma() -> Word:
    return Word(",", ",", "PUNCT", ",", "_", "punct", close=True)


def semicolon() -> Word:
    return Word(";", ";", "PUNCT", ",", "_", "punct", close=True)


def colon() -> Word:
    return Word(":", ":", "PUNCT", ":", "_", "punct", close=True)


def stop(form: str) -> Word:
    return Word(form, form, "PUNCT", ".", "_", "punct", close=True)


def quote(xpos: str) -> Word:
    """An opening (``) or closing ('') quotation mark."""
    opening = xpos == "``"
    return Word('"', '"', "PUNCT", xpos, "_", "punct", close=not opening, opening=opening)


def interjection(form: str) -> Word:
    feats = {"yes": "Polarity=Pos", "no": "Polarity=Neg"}.get(form, "_")
    return Word(form, form, "INTJ", "UH", feats, "discourse")

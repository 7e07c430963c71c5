"""Inflection of verbs, and formation of words that no list holds."""

from __future__ import annotations

from sample_grammar import lexicon
from sample_grammar.dice import Dice
from sample_grammar.lexicon import Noun, noun
from sample_grammar.tree import Word
from sample_grammar.verbs import Verb

BE = Verb("be", "was", "been", (), (), ())
HAVE = Verb("have", "had", "had", (), (), ())
DO = Verb("do", "did", "done", (), (), ())

_PRESENT = {"be": "is", "have": "has", "do": "does"}
_BE = {(1, "Sing"): ("am", "was"), (3, "Sing"): ("is", "was")}
_DOUBLED = [
    "run",
    "swim",
    "sit",
    "put",
    "cut",
    "let",
    "stop",
    "plan",
    "forget",
    "rob",
    "begin",
    "admit",
]


def third_person(lemma: str) -> str:
    if lemma in _PRESENT:
        return _PRESENT[lemma]
    if lemma.endswith(("s", "x", "ch", "sh", "go")):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + "s"


def ing_form(lemma: str) -> str:
    if lemma == "be":
        return "being"
    if lemma == "die":
        return "dying"
    if lemma.endswith("e") and not lemma.endswith("ee"):
        return lemma[:-1] + "ing"
    return lemma + (lemma[-1] if lemma in _DOUBLED else "") + "ing"


def inflect(word: Word, verb: Verb, form: str, person: int = 3, number: str = "Sing") -> Word:
    """Give the word a form of the verb; `form` is present, past, or one of those listed below."""
    word.lemma = verb.lemma
    agreement = f"Number={number}|Person={person}"
    if form in ("present", "past"):
        is_third = (person, number) == (3, "Sing")
        present = third_person(verb.lemma) if is_third else verb.lemma
        past = verb.past
        if verb.lemma == "be":
            present, past = _BE.get((person, number), ("are", "were"))
        word.form = present if form == "present" else past
        word.xpos = "VBD" if form == "past" else "VBZ" if is_third else "VBP"
        tense = "Pres" if form == "present" else "Past"
        word.feats = f"Mood=Ind|{agreement}|Tense={tense}|VerbForm=Fin"
        return word
    word.form, word.xpos, word.feats = {
        "infinitive": (verb.lemma, "VB", "VerbForm=Inf"),
        "imperative": (verb.lemma, "VB", "Mood=Imp|VerbForm=Fin"),
        "ing": (ing_form(verb.lemma), "VBG", "Tense=Pres|VerbForm=Part"),
        "ger": (ing_form(verb.lemma), "VBG", "VerbForm=Ger"),
        "perfect": (verb.participle, "VBN", "Tense=Past|VerbForm=Part"),
        "passive": (verb.participle, "VBN", "Tense=Past|VerbForm=Part|Voice=Pass"),
    }[form]
    return word


class Coiner:
    """Makes words that no list holds, so that every split has some of its own."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice

    def _syllable(self) -> str:
        return self.dice.pick(lexicon.ONSETS) + self.dice.pick(lexicon.VOWELS)

    def surname(self) -> str:
        ending = self.dice.pick(lexicon.CODAS) + self.dice.pick(lexicon.SURNAME_ENDINGS)
        return (self._syllable() + ending).capitalize()

    def place(self) -> str:
        middle = self._syllable() if self.dice.chance(0.4) else ""
        ending = self.dice.pick(lexicon.CODAS[:5]) + self.dice.pick(lexicon.PLACE_ENDINGS)
        return (middle + self._syllable() + ending).capitalize()

    def noun(self, model: Noun) -> Noun:
        """A closed compound of the same kind, `rainhouse`, or a trade, `harpmender`."""
        if model.kind == "person" and self.dice.chance(0.7):
            stem = self.dice.pick(lexicon.PERSON_STEMS)
            return noun(stem + self.dice.pick(lexicon.PERSON_ENDINGS), "person")
        first = self.dice.pick(lexicon.COMPOUND_PARTS)
        return model._replace(lemma=first + model.lemma, plural=first + model.plural)

    def verb(self, model: Verb) -> Verb:
        prefix = self.dice.pick(lexicon.VERB_PREFIXES)
        return model._replace(
            lemma=prefix + model.lemma,
            past=prefix + model.past,
            participle=prefix + model.participle,
        )

    def adjective(self, model: str) -> str:
        if self.dice.chance(0.5):
            return self.dice.pick(lexicon.ADJECTIVE_PREFIXES) + model
        return self.dice.pick(lexicon.COMPOUND_PARTS) + self.dice.pick(
            ["less", "like", "y", "proof"]
        )

"""Conjugation: tense, auxiliaries, negation and their contractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sample_grammar import words
from sample_grammar.dice import Dice
from sample_grammar.morphology import BE, DO, HAVE, inflect
from sample_grammar.nominal import Phrase
from sample_grammar.tree import Word
from sample_grammar.verbs import Verb

_MODALS = {
    "will": 4,
    "can": 3,
    "would": 3,
    "should": 2,
    "could": 2,
    "must": 1,
    "may": 1,
    "might": 1,
}
_AUXILIARY = {"h": HAVE, "b": BE, "p": BE, "d": DO}
_FORM_AFTER = {"m": "infinitive", "h": "perfect", "b": "ing", "p": "passive", "d": "infinitive"}
_CLITICS = {"will": "'ll", "would": "'d", "am": "'m", "is": "'s", "are": "'re", "have": "'ve"}
_NEGATED = {
    "do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "can", "will", "would",
    "should", "could", "must",
}  # fmt: skip
_CUT = {"can": "ca", "will": "wo"}


@dataclass
class Gap:
    """Where the filler of a relative or a question belongs."""

    host: Word
    relation: str
    preposition: Word | None = None


@dataclass
class Predicate:
    """What is said of a subject, not yet conjugated."""

    head: Word
    verb: Verb
    subjects: Sequence[str]
    is_passive: bool = False
    is_copular: bool = False
    gap: Gap | None = None

    @property
    def subject_relation(self) -> str:
        return "nsubj:pass" if self.is_passive else "nsubj"


class Conjugation:
    """Gives predicates their forms."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice

    def conjugated(
        self, predicate: Predicate, mode: str, subject: Phrase | None = None, tense: str = ""
    ) -> Word:
        """The head with its auxiliaries before it; a subject goes before those."""
        auxiliaries = self.conjugate(predicate, mode, subject, tense)
        lead = [subject.word.as_(predicate.subject_relation)] if subject else []
        if mode == "infinitive":
            lead.append(words.marker("to"))
        predicate.head.before[:0] = [*lead, *auxiliaries]
        return predicate.head

    def conjugate(
        self,
        predicate: Predicate,
        mode: str,
        subject: Phrase | None = None,
        tense: str = "",
        lead: str = "",
    ) -> list[Word]:
        """Set the verb's form; return auxiliaries, copula and negation in order.

        `lead` is `do` in questions, which want an auxiliary.
        """
        pattern, is_negated = self.pattern(predicate, mode, lead)
        form = {"finite": tense or self.tense(), "bare": "infinitive"}.get(mode, mode)
        person, number = (subject.person, subject.number) if subject else (3, "Sing")
        chain: list[Word] = []
        for symbol in pattern:
            word = words.auxiliary(self.dice.weigh(_MODALS), "aux:pass" if symbol == "p" else "aux")
            if symbol != "m":
                inflect(word, _AUXILIARY[symbol], form, person, number)
            chain.append(word)
            form = _FORM_AFTER[symbol]
        if predicate.is_copular:
            chain.append(inflect(words.auxiliary("", "cop"), BE, form, person, number))
        else:
            inflect(predicate.head, predicate.verb, form, person, number)
        if is_negated and chain:
            chain.insert(1, words.negation())
        self.contract(chain, subject, may_lean=not lead)
        return chain

    def tense(self) -> str:
        return self.dice.weigh({"past": 7, "present": 3})

    def pattern(self, predicate: Predicate, mode: str, lead: str) -> tuple[str, bool]:
        """Which auxiliaries, as letters: modal, have, be, passive be, do; and whether negated."""
        pattern, is_negated = "", False
        if mode == "finite":
            pattern = self.dice.weigh({"": 12, "m": 2.5, "h": 2, "b": 1.5, "mh": 0.4, "hb": 0.4})
            is_negated = self.dice.chance(0.12)
        if predicate.is_copular:
            pattern = pattern.replace("b", "")
        if predicate.is_passive:
            pattern = pattern.replace("hb", "h") + "p"
        if not pattern and not predicate.is_copular and (is_negated or lead):
            pattern = "d"
        return pattern, is_negated

    def contract(self, chain: list[Word], subject: Phrase | None, *, may_lean: bool) -> None:
        """Write `don't` or `she'll` where the words allow it (`may_lean`: on the subject)."""
        if not chain:
            return
        first, second = chain[0], chain[1] if len(chain) > 1 else None
        if second is not None and second.lemma == "not":
            if first.form in _NEGATED and self.dice.chance(0.7):
                first.form = _CUT.get(first.form, first.form)
                chain[1] = words.negation("n't")
            return
        has_host = subject is not None and subject.is_pronoun and "Prs" in subject.word.feats
        if has_host and may_lean and first.form in _CLITICS and self.dice.chance(0.5):
            first.form, first.joined, first.close = _CLITICS[first.form], True, True

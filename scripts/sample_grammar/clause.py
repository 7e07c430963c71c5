"""Finite clauses: subjects, coordination, adverbial clauses, extraposition."""

from __future__ import annotations

from sample_grammar import lexicon, words
from sample_grammar.conjugation import Predicate
from sample_grammar.morphology import BE, inflect
from sample_grammar.nominal import Nominals, Phrase
from sample_grammar.predicate import Predicates, shift_last, shift_weight
from sample_grammar.tree import Word

EXTRAPOSED = 0.5  # how often a modifier of a subject moves behind a light predicate
_MARKERS = {
    "when": 5,
    "because": 5,
    "if": 3,
    "while": 3,
    "before": 3,
    "after": 3,
    "although": 2,
    "until": 2,
}
_LIGHT = 2  # dependents after a predicate that a modifier of the subject still steps over
_FORMS = {
    "VB": "infinitive",
    "VBG": "ing",
    "VBN": "perfect",
    "VBD": "past",
    "VBZ": "present",
    "VBP": "present",
}


class Clauses:
    """Draws finite clauses; gives noun phrases and predicates what they embed."""

    def __init__(self, nominals: Nominals, predicates: Predicates) -> None:
        self.nominals = nominals
        self.predicates = predicates
        self.dice = nominals.dice
        self.likely = nominals.likely
        predicates.clause = self.clause

    def clause(self, depth: int) -> Word:
        """A declarative clause, its adjunct clauses and coordinated clauses included."""
        style = self.dice.weigh(
            {
                "plain": 30,
                "there": 1.5,
                "it": 1.0 * 0.5**depth,
                "outer": 0.8 * 0.5**depth,
                "csubj": 0.8 * 0.5**depth,
            }
        )
        make = {
            "there": self.existential,
            "it": self.expletive,
            "outer": self.outer,
            "csubj": self.clausal_subject,
        }
        head = make[style](depth) if style in make else self.plain(depth)
        if self.likely(0.17, depth):
            self.adverbial(head, depth)
        if self.likely(0.12, depth):
            self.front(head, depth)
        if self.likely(0.11, depth):
            self.add_clause(head, depth)
        return head

    def plain(self, depth: int) -> Word:
        predicate = self.predicates.predicate(depth)
        subject = self.nominals.phrase(predicate.subjects, depth + 1, "Nom")
        head = self.predicates.conjugated(predicate, "finite", subject)
        is_light = 1 <= len(head.after) <= _LIGHT or predicate.is_passive
        if is_light and self.dice.chance(EXTRAPOSED * shift_weight(subject.word)):
            shift_last(subject.word, head)
        elif self.likely(0.14, depth):
            self.add_predicate(predicate, subject, depth)
        return head

    def add_predicate(self, first: Predicate, subject: Phrase, depth: int) -> None:
        """Coordinate a second verb phrase under the same subject and auxiliaries."""
        second = self.predicates.predicate(depth + 1)
        if first.is_copular or first.is_passive or second.is_copular or second.is_passive:
            return
        form = _FORMS[first.head.xpos]
        inflect(second.head, second.verb, form, subject.person, subject.number)
        second.head.before.insert(
            0, words.conjunction(self.dice.weigh({"and": 7, "but": 2, "or": 1}))
        )
        if self.dice.chance(0.15):
            second.head.before.insert(0, words.comma())
        first.head.after.append(second.head.as_("conj"))

    def add_clause(self, head: Word, depth: int) -> None:
        """Coordinate a second clause; often without a comma, so that it may seem a noun phrase."""
        second = self.plain(depth + 1).as_("conj")
        second.before.insert(0, words.conjunction(self.dice.weigh({"and": 6, "but": 3, "or": 1})))
        if self.dice.chance(0.55):
            second.before.insert(0, words.comma())
        head.after.append(second)

    def adverbial(self, head: Word, depth: int) -> None:
        """Hang an adverbial clause on the head, before or after it."""
        is_first = self.dice.chance(0.35)
        style = self.dice.weigh({"finite": 5, "purpose": 2, "without": 1, "participle": 1.5})
        if style == "finite":
            inner = self.plain(depth + 1)
            inner.before.insert(0, words.marker(self.dice.weigh(_MARKERS)))
        elif style == "purpose":
            inner = self.predicates.nonfinite("infinitive", depth + 1)
        elif style == "without":
            inner = self.predicates.nonfinite("ger", depth + 1)
            inner.before.insert(
                0, words.marker(self.dice.pick(["without", "by", "before", "after"]))
            )
        else:
            inner = self.predicates.nonfinite("ing", depth + 1)
        inner.as_("advcl")
        if is_first:
            inner.after.append(words.comma())
            head.before.insert(0, inner)
        else:
            if style == "participle" or self.dice.chance(0.15):
                inner.before.insert(0, words.comma())
            head.after.append(inner)

    def front(self, head: Word, depth: int) -> None:
        """Start the clause with an adverb or a prepositional phrase."""
        if self.dice.chance(0.3):
            word = words.adverb(self.dice.frequent(lexicon.SENTENCE_ADVERBS))
            word.after.append(words.comma())
        else:
            adjuncts = self.predicates.adjuncts
            word = adjuncts.time(depth) if self.dice.chance(0.6) else adjuncts.place(depth)
            if self.dice.chance(0.6):
                word.after.append(words.comma())
        head.before.insert(0, word)

    def existential(self, depth: int) -> Word:
        """`there were two men in the garden`"""
        head = Word("be", "be", "VERB", "VB")
        subject = self.nominals.common(
            self.dice.pick(["person", "animal", "idea", "building"]), depth
        )
        if subject.word.before and subject.word.before[0].relation in ("det", "nmod:poss"):
            article = "some" if subject.word.xpos == "NNS" else "a"
            subject.word.before[0] = words.determiner(article)
        inflect(head, BE, self.predicates.tense(), 3, subject.number)
        head.before.append(words.there())
        head.after.append(subject.word.as_("nsubj"))
        if self.dice.chance(0.6):
            head.after.append(self.predicates.adjuncts.place(depth))
        if len(head.after) > 1 and self.dice.chance(EXTRAPOSED * shift_weight(subject.word)):
            shift_last(subject.word, head)
        return head

    def expletive(self, depth: int) -> Word:
        """`it is clear that ...`, `it was hard to ...`"""
        if self.dice.chance(0.5):
            head = words.adjective(self.dice.frequent(lexicon.CLAUSE_ADJECTIVES))
            inner = self.plain(depth + 1)
            inner.before.insert(0, words.marker("that"))
        else:
            head = words.adjective(self.dice.frequent(lexicon.EASY_ADJECTIVES))
            inner = self.predicates.nonfinite("infinitive", depth + 1)
        head.before[:] = [words.pronoun("it", "Nom").as_("expl"), *self.copula(head)]
        head.after.append(inner.as_("csubj"))
        return head

    def copula(self, head: Word, number: str = "Sing") -> list[Word]:
        subject = Phrase(head, "idea", number=number)
        return self.predicates.conjugate(
            Predicate(head, BE, (), is_copular=True), "finite", subject
        )

    def outer(self, depth: int) -> Word:
        """`the problem is that ...`"""
        subject = self.nominals.common(self.dice.pick(["idea", "fact"]), depth + 2)
        head = self.plain(depth + 1)
        head.before[:0] = [
            subject.word.as_("nsubj:outer"),
            *self.copula(head, subject.number),
            words.marker("that"),
        ]
        return head

    def clausal_subject(self, depth: int) -> Word:
        """`reading novels was useful`"""
        head = words.adjective(self.dice.frequent(lexicon.EASY_ADJECTIVES))
        subject = self.predicates.nonfinite("ger", depth + 1).as_("csubj")
        head.before[:] = [subject, *self.copula(head)]
        return head

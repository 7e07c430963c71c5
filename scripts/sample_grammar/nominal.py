"""Noun phrases: determiners, adjectives, compounds, possessors, complements, coordination."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sample_grammar import lexicon, words
from sample_grammar.dice import Dice
from sample_grammar.lexicon import NOUNS, Noun
from sample_grammar.morphology import Coiner
from sample_grammar.tree import Word

PEOPLE = ("person", "kin", "group")
NOISE = 0.12  # how often a taste is ignored
COINED = 0.17  # how often an open-class word is a new one
DEPTH_DECAY = 0.55

_ABSTRACT = ("manner", "period", "topic", "idea", "plan", "fact")  # coin none of these
_PLAIN_KINDS = [k for k in NOUNS if k not in ("manner", "period", "material", "fact", "plan")]


@dataclass
class Phrase:
    """A noun phrase: its head, what it denotes, how it agrees."""

    word: Word
    kind: str
    person: int = 3
    number: str = "Sing"
    is_pronoun: bool = False


class Nominals:
    """Draws noun phrases. The clause grammar sets what hangs clauses on nouns."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.coiner = Coiner(dice)
        self.clausal_modifier: Callable[[Phrase, int], None]
        self.relative: Callable[[Phrase, int], None]

    def likely(self, probability: float, depth: int) -> bool:
        """Chance that falls with depth."""
        return self.dice.chance(probability * DEPTH_DECAY**depth)

    def phrase(self, kinds: Sequence[str], depth: int, case: str = "Acc") -> Phrase:
        """A noun phrase that denotes one of the kinds, possibly coordinated."""
        kind = self.dice.frequent(kinds) if kinds else "person"
        if self.dice.chance(NOISE):
            kind = self.dice.pick(_PLAIN_KINDS)
        if kind in PEOPLE and self.dice.chance(0.28 if case == "Nom" else 0.14):
            return self.pronoun(case)
        first = self.simple(kind, depth)
        if self.likely(0.2, depth):
            self.coordinate(first, kinds, depth)
        return first

    def coordinate(self, first: Phrase, kinds: Sequence[str], depth: int) -> None:
        """Add a conjunct or two; mostly of the same kind."""
        count = 2 if self.dice.chance(0.15) else 1
        for k in range(count):
            kind = (
                first.kind if self.dice.chance(0.8) else self.dice.pick(list(kinds) or ["person"])
            )
            second = self.simple(kind, depth + 1).word.as_("conj")
            is_last = k == count - 1
            lead = [words.conjunction(self.dice.weigh({"and": 8, "or": 1}))] if is_last else []
            if count == 2:
                lead.insert(0, words.comma())
            second.before[:0] = lead
            first.word.after.append(second)
        if count == 1 and self.dice.chance(0.08):
            both = words.conjunction("both").as_("cc:preconj")
            second.before[0].form = second.before[0].lemma = "and"
            first.word.before.insert(0, both)
        first.number = "Plur"

    def pronoun(self, case: str) -> Phrase:
        if self.dice.chance(0.15):
            start = self.dice.pick(["some", "every", "no"])
            word = words.indefinite(
                start + self.dice.pick(["one", "body"] if start != "no" else ["body"])
            )
            return Phrase(word, "person", is_pronoun=True)
        weights = {"she": 4, "he": 4, "they": 3, "I": 2, "we": 2, "you": 1, "it": 1}
        nominative = self.dice.weigh(weights)
        person, number = words.PRONOUNS[nominative][3:5]
        return Phrase(words.pronoun(nominative, case), "person", person, number, is_pronoun=True)

    def simple(self, kind: str, depth: int) -> Phrase:
        """One conjunct: a name or a common noun with its modifiers."""
        if kind == "person" and self.dice.chance(0.24):
            return self.person_name(depth)
        if kind == "place" and self.dice.chance(0.3):
            city = self.dice.frequent(lexicon.CITIES)
            name = self.coiner.place() if self.dice.chance(0.6) else city
            return Phrase(words.proper(name), "place")
        return self.common(kind, depth)

    def person_name(self, depth: int) -> Phrase:
        names = lexicon.FIRST_NAMES[self.dice.pick(["Fem", "Masc"])]
        style = self.dice.weigh({"first": 5, "full": 3, "title": 3})
        if style == "title":
            word = words.proper(self.coiner.surname())
            word.before.append(words.proper(self.dice.frequent(lexicon.TITLES), "nmod:desc"))
        else:
            word = words.proper(self.dice.frequent(names))
            if style == "full":
                word.after.append(words.proper(self.coiner.surname(), "flat"))
        phrase = Phrase(word, "person")
        if depth < 3 and self.likely(0.3, depth):
            self.comment(phrase, depth)
        return phrase

    def comment(self, phrase: Phrase, depth: int) -> None:
        """Add an apposition or a relative clause between commas."""
        if phrase.word.upos == "PROPN" and self.dice.chance(0.3):
            self.relative(phrase, depth + 1)
            added = phrase.word.after[-1]
        else:
            added = self.renamed(phrase, depth + 1)
            phrase.word.after.append(added)
        added.before.insert(0, words.comma())
        added.after.append(words.comma())

    def renamed(self, phrase: Phrase, depth: int) -> Word:
        """`Anna, a doctor,` or `my brother, Tom,`"""
        if phrase.word.upos == "PROPN":
            return self.common(self.dice.weigh({"person": 3, "kin": 2}), depth).word.as_("appos")
        return self.person_name(depth + 2).word.as_("appos")

    def noun(self, kind: str) -> Noun:
        noun = self.dice.frequent(NOUNS[kind])
        is_coined = kind not in _ABSTRACT and self.dice.chance(COINED)
        return self.coiner.noun(noun) if is_coined else noun

    def common(self, kind: str, depth: int) -> Phrase:
        """A common noun with determiner, adjectives, compounds and what follows it."""
        noun = self.noun(kind)
        is_plural = bool(noun.plural) and self.dice.chance(0.32)
        word = words.common(noun.lemma, noun.plural if is_plural else "")
        phrase = Phrase(word, kind, number="Plur" if is_plural else "Sing")
        self.compound(word, kind)
        if self.dice.chance(0.24):
            word.before[:0] = self.adjectives(kind)
        self.determine(phrase, noun, depth)
        host = self.pair(phrase, depth) if self.likely(0.07, depth) else word
        self.complements(host, noun, depth)
        if self.likely(0.8 if kind in ("plan", "fact") else 0.27, depth):
            self.clausal_modifier(replace(phrase, word=host), depth + 1)
        elif kind in ("person", "kin") and depth < 3 and self.likely(0.06, depth):
            self.comment(phrase, depth)
        return phrase

    def pair(self, phrase: Phrase, depth: int) -> Word:
        """`old men and women`; what follows may hang on either noun. Returns which."""
        noun = self.noun(phrase.kind)
        while noun.lemma == phrase.word.lemma:
            noun = self.noun(phrase.kind)
        has_plural = phrase.number == "Plur" and noun.plural
        second = words.common(noun.lemma, noun.plural if has_plural else "").as_("conj")
        second.before.append(words.conjunction(self.dice.weigh({"and": 5, "or": 1})))
        if self.dice.chance(0.2):
            second.before.extend(self.adjectives(phrase.kind))
        phrase.word.after.append(second)
        phrase.number = "Plur"
        return second if self.likely(0.6, depth) else phrase.word

    def compound(self, word: Word, kind: str) -> None:
        """`stone wall`, `village school`; a third noun hangs on either."""
        if kind in ("person", "kin", "topic", "manner", "period") or not self.dice.chance(0.1):
            return
        first = self.noun(self.dice.pick(["material", "place", "building", "food", "event"]))
        modifier = words.common(first.lemma).as_("compound")
        word.before.insert(0, modifier)
        if self.dice.chance(0.15):
            outer = words.common(self.noun(self.dice.pick(["material", "place"])).lemma).as_(
                "compound"
            )
            (modifier if first.kind in ("building", "event") else word).before.insert(0, outer)

    def adjectives(self, kind: str) -> list[Word]:
        is_person = kind in ("person", "kin") and self.dice.chance(0.7)
        pool = lexicon.PERSON_ADJECTIVES if is_person else lexicon.ADJECTIVES
        word = self.adjective(pool)
        if self.dice.chance(0.15):
            word.before.append(words.adverb(self.dice.frequent(lexicon.DEGREE_ADVERBS)))
        if self.dice.chance(0.08):
            second = self.adjective(pool).as_("conj")
            second.before.append(words.conjunction(self.dice.pick(["and", "but"])))
            word.after.append(second)
        elif self.dice.chance(0.15):
            return [word, words.adjective(self.dice.frequent(lexicon.COLOURS))]
        return [word]

    def adjective(self, pool: Sequence[str]) -> Word:
        lemma = self.dice.frequent(pool)
        if self.dice.chance(COINED):
            lemma = self.coiner.adjective(lemma)
        if lemma in lexicon.COMPARATIVES and self.dice.chance(0.08):
            return words.adjective(lexicon.COMPARATIVES[lemma], lemma, "Cmp")
        return words.adjective(lemma)

    def determine(self, phrase: Phrase, noun: Noun, depth: int) -> None:
        """Put a determiner, a number or a possessor in front."""
        word, is_plural = phrase.word, phrase.number == "Plur"
        weights = {"the": 10.0, "poss": 2.0, "'s": 1.6 * DEPTH_DECAY**depth, "this": 1.0}
        weights |= (
            {"bare": 4.0, "number": 3.0, "all": 0.4} if is_plural else {"a": 6.0, "every": 0.6}
        )
        if not noun.plural:
            weights = {"bare": 6.0, "the": 3.0, "poss": 1.0, "some": 0.7}
        if noun.kind == "kin":
            weights |= {"poss": 9.0, "'s": 4.0}
        choice = self.dice.weigh(weights)
        if choice == "poss":
            nominative = self.dice.pick(["he", "she", "they", "I", "we", "you"])
            word.before.insert(0, words.pronoun(nominative, "Gen"))
        elif choice == "'s":
            owner = self.simple(self.dice.weigh({"person": 5, "kin": 2, "animal": 1}), depth + 3)
            last = list(owner.word.block())[-1]
            owner.word.after.append(words.possessive(last.form))
            word.before.insert(0, owner.word.as_("nmod:poss"))
        elif choice == "number":
            figure = str(self.dice.number(11, 400))
            form = figure if self.dice.chance(0.25) else self.dice.frequent(lexicon.NUMBERS)
            word.before[:0] = [*self._definite(0.2), words.number(form)]
        elif choice == "all":
            word.before[:0] = [words.determiner("all", "det:predet"), words.determiner("the")]
        elif choice != "bare":
            form = {"this": "these" if is_plural else self.dice.pick(["this", "that"])}.get(
                choice, choice
            )
            word.before.insert(0, words.determiner(form))

    def _definite(self, probability: float) -> list[Word]:
        return [words.determiner("the")] if self.dice.chance(probability) else []

    def complements(self, word: Word, noun: Noun, depth: int) -> None:
        """Prepositional phrases that the noun likes, each on the noun itself."""
        own = lexicon.NOUN_COMPLEMENTS.get(noun.lemma)
        likes = own if own and self.dice.chance(0.85) else lexicon.KIND_COMPLEMENTS.get(noun.kind)
        if not likes or not self.likely(0.65 if own else 0.45, depth):
            return
        pairs = [tuple(like.split(":")) for like in likes.split()]
        for _ in range(2 if self.dice.chance(0.12) else 1):
            preposition, kind = self.dice.frequent(pairs)
            word.after.append(self.prepositional(preposition, kind, depth + 1).as_("nmod"))

    def prepositional(self, preposition: str, kind: str, depth: int) -> Word:
        """The noun of a prepositional phrase, its preposition in front."""
        phrase = self.phrase([kind], depth)
        phrase.word.before.insert(0, words.adposition(preposition))
        return phrase.word

"""Adjuncts of a verb: prepositional phrases, adverbs, expressions of time."""

from __future__ import annotations

from sample_grammar import lexicon, words
from sample_grammar.dice import Dice
from sample_grammar.nominal import NOISE, Nominals
from sample_grammar.tree import Word
from sample_grammar.verbs import Verb

CLAUSAL = ("ccomp", "xcomp")


class Adjuncts:
    """Draws adjuncts and hangs them on a verb."""

    def __init__(self, nominals: Nominals) -> None:
        self.nominals = nominals
        self.dice: Dice = nominals.dice

    def add(self, head: Word, verb: Verb, depth: int, *, after_clause: bool) -> None:
        """Hang up to two adjuncts on the verb, before or after a clausal complement."""
        count = self.dice.weigh({0: 9, 1: 9, 2: 2}) if depth < 2 else self.dice.weigh({0: 3, 1: 1})
        chosen = [self.adjunct(verb, depth) for _ in range(count)]
        for adjunct in {adjunct.form: adjunct for adjunct in chosen}.values():
            if adjunct.xpos == "RB" and adjunct.form.endswith("ly") and self.dice.chance(0.35):
                head.before.append(adjunct)
            elif head.after and head.after[-1].relation in CLAUSAL and not after_clause:
                head.after.insert(len(head.after) - 1, adjunct)
            else:
                head.after.append(adjunct)
        if self.dice.chance(0.07):
            head.before.append(words.adverb(self.dice.frequent(lexicon.FREQUENCY_ADVERBS)))

    def adjunct(self, verb: Verb, depth: int) -> Word:
        style = self.dice.weigh(
            {"favourite": 6, "place": 1.5, "time": 2.5, "manner": 2, "adverb": 1.5}
        )
        if style == "favourite" and verb.adjuncts:
            return self.favourite(verb, depth)
        if style == "place":
            return self.place(depth)
        if style == "manner":
            return words.adverb(self.dice.frequent(lexicon.MANNER_ADVERBS))
        if style == "adverb":
            pool = self.dice.pick([lexicon.TIME_ADVERBS, lexicon.PLACE_ADVERBS])
            return words.adverb(self.dice.frequent(pool))
        return self.time(depth)

    def favourite(self, verb: Verb, depth: int) -> Word:
        """A prepositional phrase that the verb likes; now and then any."""
        if self.dice.chance(NOISE):
            return self.place(depth)
        preposition, kind = self.dice.frequent(verb.adjuncts)
        return self.nominals.prepositional(preposition, kind, depth + 1).as_("obl")

    def place(self, depth: int) -> Word:
        kind = self.dice.pick(["place", "building", "furniture", "vehicle"])
        near = {"furniture": ["on", "under", "beside"], "vehicle": ["in", "behind"]}
        preposition = self.dice.pick(near.get(kind, ["in", "near", "behind", "in"]))
        return self.nominals.prepositional(preposition, kind, depth + 1).as_("obl")

    def time(self, depth: int) -> Word:
        style = self.dice.weigh({"day": 3, "year": 2, "month": 1, "bare": 4, "event": 3, "ago": 1})
        if style == "event":
            preposition = self.dice.pick(["after", "before", "during"])
            return self.nominals.prepositional(preposition, "event", depth + 1).as_("obl")
        if style in ("day", "month"):
            name = self.dice.pick(lexicon.DAYS if style == "day" else lexicon.MONTHS)
            word = words.proper(name, "obl")
            word.before.append(words.adposition("on" if style == "day" else "in"))
            return word
        if style == "year":
            word = words.number(str(self.dice.number(1780, 2019))).as_("obl")
            word.before.append(words.adposition(self.dice.pick(["in", "since", "in"])))
            return word
        return self._period(style)

    def _period(self, style: str) -> Word:
        """`last week`, `yesterday`, `two years ago`."""
        if style == "bare" and self.dice.chance(0.5):
            return words.common(self.dice.pick(["yesterday", "today", "tomorrow"])).as_(
                "obl:unmarked"
            )
        noun = self.dice.frequent(lexicon.NOUNS["period"])
        if style == "bare":
            word = words.common(noun.lemma).as_("obl:unmarked")
            last = words.adjective(self.dice.pick(["last", "next"]))
            word.before.append(last if self.dice.chance(0.6) else words.determiner("every"))
            return word
        span = words.common(noun.lemma, noun.plural).as_("obl:unmarked")
        span.before.append(words.number(self.dice.frequent(lexicon.NUMBERS)))
        ago = words.adverb("ago")
        ago.before.append(span)
        return ago

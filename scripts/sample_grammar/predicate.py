"""Predicates: a verb, or what a copula links, with its arguments and adjuncts."""

from __future__ import annotations

from collections.abc import Callable

from sample_grammar import words
from sample_grammar.adjunct import Adjuncts
from sample_grammar.conjugation import Conjugation, Predicate
from sample_grammar.morphology import BE
from sample_grammar.nominal import COINED, NOISE, PEOPLE, Nominals
from sample_grammar.tree import Word
from sample_grammar.verbs import VERBS, Verb

FRAMES = {
    "transitive": 34.0, "intransitive": 15, "copular": 9, "prepositional": 6, "ditransitive": 6,
    "placing": 5, "particle": 4, "linking": 3, "small clause": 3, "clausal": 10, "control": 8,
    "object control": 5, "causative": 3, "gerund": 3, "asking": 2,
}  # fmt: skip
EMBEDDING = {"clausal", "control", "object control", "causative", "gerund", "asking"}
PASSIVE = 0.16
HEAVY_SHIFT = 0.4  # how often a modifier of the object moves behind the adjuncts


def shift_last(source: Word, host: Word) -> None:
    """Move the last modifier of `source` behind everything of `host`; it keeps its head."""
    moved = source.after.pop()
    moved.head = source
    host.after.append(moved)


def shift_weight(source: Word) -> float:
    """How readily the last thing in the noun phrase stands far from it; 0 if never."""
    last = source.after[-1] if source.after else None
    if last is None or last.head is not None:
        return 0.0
    return {"acl:relcl": 1.0, "acl": 0.8, "nmod": 0.3}.get(last.relation, 0.0)


class Predicates:
    """Draws predicates. The clause grammar sets `clause` and `question` for finite complements."""

    def __init__(self, nominals: Nominals) -> None:
        self.nominals = nominals
        self.dice = nominals.dice
        self.adjuncts = Adjuncts(nominals)
        conjugation = Conjugation(nominals.dice)
        self.conjugated, self.conjugate = conjugation.conjugated, conjugation.conjugate
        self.tense = conjugation.tense
        self.clause: Callable[[int], Word]
        self.question: Callable[[int], Word]

    def predicate(self, depth: int) -> Predicate:
        """Any predicate; embedding ones get rarer with depth."""
        weights = {f: w * (0.45**depth if f in EMBEDDING else 1) for f, w in FRAMES.items()}
        frame = self.dice.weigh(weights)
        if frame == "copular":
            return self.copular(depth)
        return self.verbal(frame, self.verb(frame), depth)

    def verb(self, frame: str, wanted: str = "", role: str = "objects") -> Verb:
        """A verb of the frame; mostly one whose objects (or subjects) may be of the kind wanted."""
        pool = VERBS[frame]
        if wanted and not self.dice.chance(NOISE):
            fitting = [v for v in pool if any(k.split("/")[-1] == wanted for k in getattr(v, role))]
            pool = fitting or pool
        verb = self.dice.frequent(pool)
        if frame in ("transitive", "intransitive") and self.dice.chance(COINED):
            return self.nominals.coiner.verb(verb)
        return verb

    def verbal(self, frame: str, verb: Verb, depth: int) -> Predicate:
        head = Word(verb.lemma, verb.lemma, "VERB", "VB")
        predicate = Predicate(head, verb, verb.subjects)
        self.complement(frame, predicate, depth)
        self.adjuncts.add(head, verb, depth, after_clause=self.dice.chance(0.15))
        if frame in ("transitive", "placing") and not predicate.is_passive:
            obj = head.after[0]
            if len(head.after) > 1 and self.dice.chance(HEAVY_SHIFT * shift_weight(obj)):
                shift_last(obj, head)
        return predicate

    def complement(self, frame: str, predicate: Predicate, depth: int) -> None:
        """Hang on the head what the frame asks for."""
        head, verb = predicate.head, predicate.verb
        if frame in ("transitive", "placing"):
            self.object_or_passive(predicate, depth)
            if frame == "placing":
                head.after.append(self.adjuncts.favourite(verb, depth))
        elif frame == "particle":
            self.particle(predicate, depth)
        elif frame == "ditransitive":
            self.ditransitive(head, verb, depth)
        elif frame == "prepositional":
            preposition, kind = self.dice.frequent(verb.objects).split("/")
            head.after.append(self.nominals.prepositional(preposition, kind, depth + 1).as_("obl"))
        elif frame == "linking":
            head.after.append(self.adjective_phrase("person", depth).as_("xcomp"))
        elif frame == "small clause":
            head.after.append(self.object(verb, depth))
            head.after.append(self.adjective_phrase("", depth).as_("xcomp"))
        elif frame in EMBEDDING:
            self.embed(frame, head, verb, depth)

    def object(self, verb: Verb, depth: int) -> Word:
        return self.nominals.phrase(verb.objects, depth + 1).word.as_("obj")

    def object_or_passive(self, predicate: Predicate, depth: int) -> None:
        head, verb = predicate.head, predicate.verb
        if not self.dice.chance(PASSIVE):
            head.after.append(self.object(verb, depth))
            return
        predicate.is_passive, predicate.subjects = True, verb.objects
        if self.dice.chance(0.35):
            head.after.append(self.agent(verb, depth))

    def agent(self, verb: Verb, depth: int) -> Word:
        agent = self.nominals.phrase(verb.subjects, depth + 1).word.as_("obl:agent")
        agent.before.insert(0, words.adposition("by"))
        return agent

    def particle(self, predicate: Predicate, depth: int) -> None:
        lemma, particle = predicate.verb.lemma.split(".")
        predicate.verb = predicate.verb._replace(lemma=lemma)
        after = [words.particle(particle), self.object(predicate.verb, depth)]
        predicate.head.after.extend(after if self.dice.chance(0.6) else reversed(after))

    def ditransitive(self, head: Word, verb: Verb, depth: int) -> None:
        receiver = self.nominals.phrase(("person", "kin"), depth + 2)
        thing = self.object(verb, depth + 1)
        if self.dice.chance(0.55):
            head.after.extend([receiver.word.as_("iobj"), thing])
        else:
            receiver.word.before.insert(0, words.adposition("to"))
            head.after.extend([thing, receiver.word.as_("obl")])

    def embed(self, frame: str, head: Word, verb: Verb, depth: int) -> None:
        """Hang a clausal complement on the head."""
        if frame == "clausal":
            complement = self.clause(depth + 1).as_("ccomp")
            if self.dice.chance(0.6):
                complement.before.insert(0, words.marker("that"))
        elif frame == "asking":
            complement = self.question(depth + 1).as_("ccomp")
        else:
            if frame in ("object control", "causative"):
                head.after.append(self.object(verb, depth + 1))
            mode = {"gerund": "ger", "causative": "bare"}.get(frame, "infinitive")
            complement = self.nonfinite(mode, depth + 1).as_("xcomp")
        head.after.append(complement)

    def nonfinite(self, mode: str, depth: int) -> Word:
        """`to open the door`, `opening the door`, `open the door`, perhaps coordinated."""
        predicate = self.predicate(depth)
        head = self.conjugated(predicate, mode)
        if self.nominals.likely(0.1, depth):
            second = self.predicate(depth + 1)
            if not predicate.is_passive and not second.is_passive:
                other = self.conjugated(second, "bare" if mode == "infinitive" else mode).as_(
                    "conj"
                )
                other.before.insert(0, words.conjunction(self.dice.pick(["and", "or"])))
                head.after.append(other)
        return head

    def copular(self, depth: int) -> Predicate:
        """`old`, `a doctor`, `in the garden`: the copula comes with conjugation."""
        kind = self.dice.pick(["person", "building", "document", "idea", "animal"])
        style = self.dice.weigh({"adjective": 5, "noun": 3, "place": 2})
        if style == "adjective":
            head = self.adjective_phrase(kind, depth)
        elif style == "noun":
            kind = "person" if self.dice.chance(0.7) else kind
            head = self.nominals.common(kind, depth + 1).word
        else:
            preposition = self.dice.pick(["in", "near", "behind"])
            head = self.nominals.prepositional(
                preposition, self.dice.pick(["building", "place"]), depth + 1
            )
        predicate = Predicate(head, BE, (kind,), is_copular=True)
        if self.dice.chance(0.3):
            head.after.append(self.adjuncts.time(depth))
        return predicate

    def adjective_phrase(self, kind: str, depth: int) -> Word:
        word = self.nominals.adjectives(kind)[0]
        if self.nominals.likely(0.18, depth) and kind in PEOPLE:
            word.after.append(self.nonfinite("infinitive", depth + 2).as_("xcomp"))
        elif self.nominals.likely(0.1, depth):
            than = self.nominals.prepositional("than", "person", depth + 2).as_("obl")
            word.before[:] = [words.adverb("more")]
            word.before[0].xpos, word.before[0].feats = "RBR", "Degree=Cmp"
            word.xpos, word.feats, word.form = "JJ", "Degree=Pos", word.lemma
            word.after.append(than)
        return word

"""Clauses with a gap: relative clauses, questions, topics; and clauses that modify nouns."""

from __future__ import annotations

from sample_grammar import words
from sample_grammar.clause import Clauses
from sample_grammar.conjugation import Gap, Predicate
from sample_grammar.nominal import PEOPLE, Phrase
from sample_grammar.tree import Word

LONG = {"near": 8.0, "infinitive": 1.2, "report": 0.7}  # how far below the clause's head the gap is


def fill(head: Word, gap: Gap, filler: Word | None) -> None:
    """Put the filler before the clause; a stranded preposition hangs on it, or stands for it."""
    if filler is None:
        if gap.preposition:
            gap.preposition.relation = "obl"
        return
    filler.relation, filler.head = gap.relation, gap.host
    head.before.insert(0, filler)
    if gap.preposition:
        gap.preposition.head = filler


class Extraction:
    """Draws clauses with a gap and fills it."""

    def __init__(self, clauses: Clauses) -> None:
        self.clauses = clauses
        self.predicates = clauses.predicates
        self.nominals = clauses.nominals
        self.dice = clauses.dice
        self.nominals.clausal_modifier = self.modify
        self.nominals.relative = self.add_relative
        self.predicates.question = self.indirect_question

    def gapped(self, kind: str, depth: int) -> Predicate:
        """A predicate that lacks an object of the kind, here or in a clause below."""
        distance = self.dice.weigh(LONG)
        inner = self.near_gap(kind, depth)
        if distance == "near":
            return inner
        frame = {"infinitive": "control", "report": "clausal"}[distance]
        verb = self.predicates.verb(frame)
        outer = Predicate(
            Word(verb.lemma, verb.lemma, "VERB", "VB"), verb, verb.subjects, gap=inner.gap
        )
        if distance == "infinitive":
            outer.head.after.append(self.predicates.conjugated(inner, "infinitive").as_("xcomp"))
        else:
            subject = self.nominals.phrase(inner.subjects, depth + 2, "Nom")
            complement = self.predicates.conjugated(inner, "finite", subject)
            outer.head.after.append(complement.as_("ccomp"))
        return outer

    def near_gap(self, kind: str, depth: int) -> Predicate:
        if self.dice.chance(0.17):
            verb = self.predicates.verb("prepositional", kind)
            fitting = [o for o in verb.objects if o.endswith("/" + kind)] or list(verb.objects)
            preposition = words.adposition(self.dice.pick(fitting).split("/")[0])
            head = Word(verb.lemma, verb.lemma, "VERB", "VB", after=[preposition])
            gap = Gap(head, "obl", preposition)
        else:
            verb = self.predicates.verb("transitive", kind)
            head = Word(verb.lemma, verb.lemma, "VERB", "VB")
            gap = Gap(head, "obj")
        self.predicates.adjuncts.add(head, verb, depth + 1, after_clause=False)
        return Predicate(head, verb, verb.subjects, gap=gap)

    def modify(self, phrase: Phrase, depth: int) -> None:
        """Hang a clause on the noun: relative, reduced, infinitival, or a content clause."""
        weights = {"subject": 5.0, "object": 4.0, "passive": 3.0, "ing": 2.0, "whose": 0.5}
        if phrase.kind == "plan":
            weights = {"plan": 1.0}
        elif phrase.kind == "fact":
            weights = {"fact": 1.0}
        elif phrase.kind in ("place", "building"):
            weights["where"] = 3.0
        style = self.dice.weigh(weights)
        make = {
            "subject": self.subject_relative,
            "object": self.object_relative,
            "passive": self.reduced_passive,
            "ing": self.reduced_active,
            "whose": self.whose_relative,
            "where": self.where_relative,
            "plan": self.plan,
            "fact": self.fact,
        }[style]
        phrase.word.after.append(make(phrase, depth))

    def add_relative(self, phrase: Phrase, depth: int) -> None:
        """A relative clause with `who`, for names."""
        predicate = self.predicate_of(phrase.kind, depth)
        subject = Phrase(words.wh_pronoun("who", "Rel"), phrase.kind)
        clause = self.predicates.conjugated(predicate, "finite", subject)
        phrase.word.after.append(clause.as_("acl:relcl"))

    def predicate_of(self, kind: str, depth: int) -> Predicate:
        """A predicate that suits a subject of the kind, if one turns up."""
        for _ in range(4):
            predicate = self.predicates.predicate(depth)
            if kind in predicate.subjects:
                break
        return predicate

    def subject_relative(self, phrase: Phrase, depth: int) -> Word:
        predicate = self.predicate_of(phrase.kind, depth)
        choice = ["who", "that", "who"] if phrase.kind in PEOPLE else ["that", "which", "that"]
        subject = Phrase(
            words.wh_pronoun(self.dice.pick(choice), "Rel"), phrase.kind, number=phrase.number
        )
        return self.predicates.conjugated(predicate, "finite", subject).as_("acl:relcl")

    def object_relative(self, phrase: Phrase, depth: int) -> Word:
        predicate = self.gapped(phrase.kind, depth)
        gap = predicate.gap
        assert gap is not None
        subject = self.nominals.phrase(predicate.subjects, depth + 1, "Nom")
        head = self.predicates.conjugated(predicate, "finite", subject)
        is_human = phrase.kind in PEOPLE
        if gap.preposition and self.dice.chance(0.4):
            gap.host.after.remove(gap.preposition)
            filler = words.wh_pronoun("whom" if is_human else "which", "Rel")
            filler.before.append(gap.preposition)
            gap.preposition = None
            fill(head, gap, filler)
        elif self.dice.chance(0.4):
            fill(head, gap, None)
        else:
            form = self.dice.pick(["who" if is_human else "which", "that"])
            fill(head, gap, words.wh_pronoun(form, "Rel"))
        return head.as_("acl:relcl")

    def reduced_passive(self, phrase: Phrase, depth: int) -> Word:
        """`the book written by Anna`: a form that may pass for a past tense."""
        verb = self.predicates.verb("transitive", phrase.kind)
        head = Word(verb.lemma, verb.lemma, "VERB", "VB")
        if self.dice.chance(0.4):
            head.after.append(self.predicates.agent(verb, depth))
        self.predicates.adjuncts.add(head, verb, depth, after_clause=False)
        head.before.clear()
        if not head.after:
            head.after.append(self.predicates.adjuncts.favourite(verb, depth))
        predicate = Predicate(head, verb, verb.objects)
        self.predicates.conjugate(predicate, "passive")
        return head.as_("acl")

    def reduced_active(self, phrase: Phrase, depth: int) -> Word:
        frame = self.dice.pick(["intransitive", "transitive"])
        verb = self.predicates.verb(frame, phrase.kind, "subjects")
        head = Word(verb.lemma, verb.lemma, "VERB", "VB")
        if frame == "transitive":
            head.after.append(self.predicates.object(verb, depth))
        else:
            head.after.append(self.predicates.adjuncts.favourite(verb, depth))
        self.predicates.conjugate(Predicate(head, verb, verb.subjects), "ing")
        return head.as_("acl")

    def whose_relative(self, _phrase: Phrase, depth: int) -> Word:
        predicate = self.predicates.predicate(depth)
        noun = self.nominals.noun(self.dice.pick(["kin", "animal", "vehicle"]))
        owned = words.common(noun.lemma)
        owned.before.append(words.wh_pronoun("whose", "Rel"))
        return self.predicates.conjugated(predicate, "finite", Phrase(owned, noun.kind)).as_(
            "acl:relcl"
        )

    def where_relative(self, _phrase: Phrase, depth: int) -> Word:
        head = self.clauses.plain(depth)
        head.before.insert(0, words.wh_adverb("where", "Rel"))
        return head.as_("acl:relcl")

    def plan(self, _phrase: Phrase, depth: int) -> Word:
        return self.predicates.nonfinite("infinitive", depth).as_("acl")

    def fact(self, _phrase: Phrase, depth: int) -> Word:
        head = self.clauses.plain(depth)
        head.before.insert(0, words.marker("that"))
        return head.as_("acl")

    def indirect_question(self, depth: int) -> Word:
        """`whether ...`, `where ...`, `what she bought`"""
        style = self.dice.weigh({"whether": 3, "adverb": 2, "object": 3})
        if style == "object":
            predicate = self.gapped(self.dice.pick(["food", "document", "person"]), depth)
            assert predicate.gap is not None
            subject = self.nominals.phrase(predicate.subjects, depth + 1, "Nom")
            head = self.predicates.conjugated(predicate, "finite", subject)
            fill(head, predicate.gap, words.wh_pronoun("what", "Int"))
            return head
        head = self.clauses.plain(depth)
        if style == "whether":
            lead = words.marker(self.dice.pick(["whether", "if"]))
        else:
            lead = words.wh_adverb(self.dice.pick(["where", "when", "why", "how"]), "Int")
        head.before.insert(0, lead)
        return head

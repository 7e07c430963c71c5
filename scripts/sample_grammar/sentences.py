"""Sentences: statements, questions, commands, speech, topics, gapping."""

from __future__ import annotations

from sample_grammar import words
from sample_grammar.clause import Clauses
from sample_grammar.conjugation import Predicate
from sample_grammar.dice import Dice
from sample_grammar.extraction import Extraction, fill
from sample_grammar.morphology import inflect
from sample_grammar.nominal import Nominals, Phrase
from sample_grammar.predicate import Predicates
from sample_grammar.tree import Word

STYLES = {
    "statement": 74.0, "yes_no": 4, "wh_object": 4, "wh_adverb": 2, "wh_subject": 2, "command": 5,
    "speech": 3, "aside": 3, "topic": 3, "gapping": 1.6, "pair": 3,
}  # fmt: skip


class Sentences:
    """Draws whole sentences, final punctuation included."""

    def __init__(self, seed: int) -> None:
        self.dice = Dice(seed)
        self.nominals = Nominals(self.dice)
        self.predicates = Predicates(self.nominals)
        self.clauses = Clauses(self.nominals, self.predicates)
        self.extraction = Extraction(self.clauses)

    def sentence(self) -> Word:
        """The root of one sentence; not yet finished."""
        style = self.dice.weigh(STYLES)
        root: Word = getattr(self, style)().as_("root")
        is_question = style.startswith(("yes_no", "wh_"))
        is_loud = style == "command" and self.dice.chance(0.4)
        root.after.append(words.stop("?" if is_question else "!" if is_loud else "."))
        return root

    def statement(self) -> Word:
        return self.clauses.clause(0)

    def inverted(self, predicate: Predicate, subject: Phrase) -> Word:
        """The finite auxiliary before the subject."""
        chain = self.predicates.conjugate(predicate, "finite", subject, lead="do")
        count = 2 if len(chain) > 1 and chain[1].form == "n't" else 1
        subject.word.as_(predicate.subject_relation)
        predicate.head.before[:0] = [*chain[:count], subject.word, *chain[count:]]
        return predicate.head

    def yes_no(self) -> Word:
        predicate = self.predicates.predicate(0)
        return self.inverted(predicate, self.nominals.phrase(predicate.subjects, 1, "Nom"))

    def wh_object(self) -> Word:
        kind = self.dice.pick(["food", "document", "person", "tool", "animal"])
        predicate = self.extraction.gapped(kind, 0)
        assert predicate.gap is not None
        head = self.inverted(predicate, self.nominals.phrase(predicate.subjects, 1, "Nom"))
        if self.dice.chance(0.35):
            noun = self.nominals.noun(kind)
            filler = words.common(noun.lemma)
            filler.before.append(Word("which", "which", "DET", "WDT", "PronType=Int", "det"))
        else:
            filler = words.wh_pronoun("who" if kind == "person" else "what", "Int")
        fill(head, predicate.gap, filler)
        return head

    def wh_adverb(self) -> Word:
        head = self.yes_no()
        head.before.insert(
            0, words.wh_adverb(self.dice.pick(["where", "when", "why", "how"]), "Int")
        )
        return head

    def wh_subject(self) -> Word:
        subject = Phrase(words.wh_pronoun("who", "Int"), "person")
        predicate = self.extraction.predicate_of("person", 0)
        return self.predicates.conjugated(predicate, "finite", subject)

    def command(self) -> Word:
        predicate = self.predicates.predicate(0)
        while predicate.is_passive or predicate.is_copular:
            predicate = self.predicates.predicate(0)
        head = self.predicates.conjugated(predicate, "imperative")
        if self.dice.chance(0.2):
            do = words.auxiliary("do")
            do.xpos, do.feats = "VB", "Mood=Imp|VerbForm=Fin"
            inflect(head, predicate.verb, "infinitive")
            head.before[:0] = [do, words.negation("n't")]
        lead = self.dice.weigh({"": 4, "please": 2, "vocative": 2})
        if lead == "please":
            head.before.insert(0, words.interjection("please"))
        elif lead == "vocative":
            name = self.nominals.person_name(5).word.as_("vocative")
            name.after.append(words.comma())
            head.before.insert(0, name)
        if self.dice.chance(0.2):
            self.clauses.adverbial(head, 0)
        return head

    def speech(self) -> Word:
        """`"The house is old", said Anna.`"""
        quoted = self.clauses.clause(1).as_("ccomp")
        quoted.before.insert(0, words.quote("``"))
        quoted.after += [words.quote("''"), words.comma()]
        verb = self.predicates.verb("clausal")
        head = Word(verb.lemma, verb.lemma, "VERB", "VB")
        speaker = self.nominals.phrase(("person", "kin"), 1, "Nom")
        inflect(head, verb, "past", speaker.person, speaker.number)
        pair = [quoted, speaker.word.as_("nsubj")]
        if speaker.is_pronoun or self.dice.chance(0.4):
            head.before.extend(pair)
        else:
            head.before.append(quoted)
            head.after.append(speaker.word)
        return head

    def aside(self) -> Word:
        """`The house, Anna says, is old.`"""
        head = self.clauses.clause(0)
        verb = self.predicates.verb("clausal")
        speaker = self.nominals.phrase(("person",), 2, "Nom")
        inner = Word(verb.lemma, verb.lemma, "VERB", "VB")
        inflect(inner, verb, self.predicates.tense(), speaker.person, speaker.number)
        inner.before.extend([words.comma(), speaker.word.as_("nsubj")])
        inner.after.append(words.comma())
        subjects = [k for k, word in enumerate(head.before) if word.relation.startswith("nsubj")]
        place = subjects[-1] + 1 if subjects and self.dice.chance(0.6) else -1
        following = head.before[place] if 0 <= place < len(head.before) else head
        if place >= 0 and not following.joined and head.before[place - 1].form != "who":
            head.before.insert(place, inner.as_("parataxis"))
        else:
            head.after.append(inner.as_("parataxis"))
        return head

    def topic(self) -> Word:
        """`This book Anna wanted to read.`"""
        kind = self.dice.pick(["food", "document", "person", "building", "garment"])
        predicate = self.extraction.gapped(kind, 0)
        assert predicate.gap is not None
        subject = self.nominals.phrase(predicate.subjects, 1, "Nom")
        head = self.predicates.conjugated(predicate, "finite", subject)
        filler = self.nominals.common(kind, 2).word
        if self.dice.chance(0.3):
            filler.after.append(words.comma())
        fill(head, predicate.gap, filler)
        return head

    def gapping(self) -> Word:
        """`Anna bought bread, and Tom cheese.` with the second verb as an empty node."""
        verb = self.predicates.verb("transitive")
        head = Word(verb.lemma, verb.lemma, "VERB", "VB")
        first, second = (
            self.nominals.simple(self.dice.frequent(verb.subjects), 2) for _ in range(2)
        )
        inflect(head, verb, self.predicates.tense(), 3, first.number)
        head.before.append(first.word.as_("nsubj"))
        head.after.append(self.nominals.simple(self.dice.frequent(verb.objects), 2).word.as_("obj"))
        copy = Word(head.form, head.lemma, "VERB", head.xpos, head.feats, copied=head)
        copy.enhanced = (head, "conj")
        remnant = second.word.as_("conj")
        orphan = self.nominals.simple(self.dice.frequent(verb.objects), 2).word.as_("orphan")
        lead = [words.comma(), words.conjunction(self.dice.pick(["and", "but"]))]
        remnant.before[:0] = lead
        remnant.after.extend([copy, orphan])
        for word, relation in (
            (remnant, "nsubj"),
            (orphan, "obj"),
            (lead[0], "punct"),
            (lead[1], "cc"),
        ):
            word.enhanced = (copy, relation)
        head.after.append(remnant)
        return head

    def pair(self) -> Word:
        """Two clauses side by side: `...; ...`"""
        head = self.clauses.clause(1)
        second = self.clauses.clause(1).as_("parataxis")
        second.before.insert(0, self.dice.pick([words.semicolon, words.colon])())
        head.after.append(second)
        return head

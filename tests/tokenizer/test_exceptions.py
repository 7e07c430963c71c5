"""Exceptions to the rules, from a training text."""

from __future__ import annotations

from dyparse.tokenizer._characters import Rule, rule_classes
from dyparse.tokenizer._exceptions import learn_exceptions
from dyparse.tokenizer._spans import Token


def spans(text: str) -> list[Token]:
    """Tokens of a text that are marked by spaces and bars, in the text without bars."""
    tokens, end = [], 0
    for chunk in text.split(" "):
        for token in chunk.split("|"):
            tokens.append(Token(end, end + len(token)))
            end += len(token)
        end += 1
    return tokens


def learned(marked: str) -> list[str]:
    return learn_exceptions(marked.replace("|", ""), spans(marked))


def test_tokens_that_the_rules_cut_are_learned_if_they_are_mostly_whole() -> None:
    assert learned("Mr. A saw Mr. B|. C saw D|.") == ["Mr."]
    assert learned("Mr. A saw B|.") == []  # once
    assert learned("no. A no. B no|. C no|. D no|. E") == []  # mostly cut


def test_rules_with_exceptions_join_tokens_and_end_no_sentence_there() -> None:
    text = "Mr. Kurtz left. Yes."
    without, with_exceptions = rule_classes(text, []), rule_classes(text, ["Mr."])
    assert without[:3].tolist() == [Rule.INSIDE, Rule.TOKEN_END, Rule.SENTENCE_END]
    assert with_exceptions[:3].tolist() == [Rule.INSIDE, Rule.INSIDE, Rule.TOKEN_END]
    assert with_exceptions[3:].tolist() == without[3:].tolist()


def test_rules_have_a_class_for_every_character() -> None:
    names = {Rule.OUTSIDE: " ", Rule.INSIDE: "i", Rule.TOKEN_END: "t", Rule.SENTENCE_END: "s"}
    classes = "".join(names[Rule(c)] for c in rule_classes(" Kurtz, he  left. Yes\n", []))
    assert classes == " iiiitt it  iiits iis "
    assert rule_classes(" \n", []).tolist() == [Rule.OUTSIDE] * 2

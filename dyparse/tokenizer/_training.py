"""Training of the learned tokenizer: windows of the text, in another order in every epoch."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from dyparse.tensors.moving_average import MovingAverage
from dyparse.tokenizer._characters import Rule
from dyparse.tokenizer._features import UNKNOWN, Features
from dyparse.tokenizer._learned_tokenizer import MOST_SPACES, LearnedTokenizer
from dyparse.tokenizer._multiword import learn_rules
from dyparse.tokenizer._protocol import Progress
from dyparse.tokenizer._scores import MULTIWORD, SENTENCE_END
from dyparse.tokenizer._segmenter import Segmenter
from dyparse.tokenizer._spans import Token
from dyparse.tokenizer._training_text import GoldText, Targets, paragraphs, targets

WINDOW = 100  # characters
PER_BATCH = (4, 16)  # windows, in short texts and in long ones
LEAST_BATCHES = 100  # per epoch, in texts between these
UNKNOWN_CHARACTERS, UNKNOWN_WORDS, UNKNOWN_RULES = 0.01, 0.2, 0.5  # shares that are hidden
END_WEIGHT = 1.0  # of characters that end a token in the loss, relative to others
LEAST_WITH_SPACES = 10  # tokens with so many spaces, for others to have as many
AVERAGE_DECAY = 0.99
WARM_UP = 50  # updates
LEAST_RATE = 0.02  # of the learning rate, at the end
LARGEST_GRADIENT = 5.0
LEAST_ERROR = 0.01  # percent; fewer do not count


class TrainingPlan(NamedTuple):
    """How to train."""

    epochs: int
    learning_rate: float
    seed: int


def train_tokenizer(
    segmenter: Callable[[Features], Segmenter],
    train: GoldText,
    dev: GoldText | None,
    plan: TrainingPlan,
    progress: Progress | None = None,
) -> LearnedTokenizer:
    """The tokenizer of the best epoch on dev; the random generators of the program stay as is."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(plan.seed)
        tokenizer = untrained(segmenter, train)
        best = -math.inf
        for epoch, average in enumerate(_epochs(tokenizer, train, plan), 1):
            figures = f1_scores(average, dev) if dev else {}
            if quality(figures) > best or not dev:
                best, state = quality(figures), copy.deepcopy(average.model.state_dict())
            if progress:
                progress({"epoch": epoch, "epochs": plan.epochs, **figures})
    tokenizer.model.load_state_dict(state)
    tokenizer.model.eval()
    return tokenizer


def untrained(segmenter: Callable[[Features], Segmenter], gold: GoldText) -> LearnedTokenizer:
    """A tokenizer with fresh weights and all that is counted in the text."""
    tokens = [token for tokens in gold.sentences for token in tokens]
    features = Features.of_text(gold.text, tokens)
    rules = learn_rules((gold.text[token.start : token.end], token.words) for token in tokens)
    spaces = sorted(len(gold.text[token.start : token.end].split()) - 1 for token in tokens)
    most_spaces = min(spaces[-min(LEAST_WITH_SPACES, len(spaces))], MOST_SPACES)
    return LearnedTokenizer(segmenter(features), features, rules, most_spaces)


def _epochs(
    tokenizer: LearnedTokenizer, gold: GoldText, plan: TrainingPlan
) -> Iterator[LearnedTokenizer]:
    """Train the network; after every epoch the same tokenizer with averaged weights."""
    random = np.random.default_rng(plan.seed)
    given = targets(gold, tokenizer.features)
    optimizer = torch.optim.Adam(tokenizer.model.parameters(), lr=plan.learning_rate)
    average = MovingAverage(tokenizer.model, AVERAGE_DECAY)
    updates, total = 0, plan.epochs * _n_batches(len(gold.text) // WINDOW)
    for _ in range(plan.epochs):
        tokenizer.model.train()
        for batch in _batches(given, random):
            share = min(1, (updates + 1) / WARM_UP) * max(LEAST_RATE, 1 - updates / total)
            for group in optimizer.param_groups:
                group["lr"] = plan.learning_rate * share
            _update(tokenizer.model, optimizer, batch)
            average.follow(tokenizer.model)
            updates += 1
        yield tokenizer.with_model(average.model)


class Batch(NamedTuple):
    """Windows of the text with the right answers."""

    features: Tensor  # int64 [3, W, n]
    ends: Tensor  # int64 [W, n]
    words: Tensor  # float [W, n, 2]


def _batches(given: Targets, random: np.random.Generator) -> Iterator[Batch]:
    """Windows side by side, from another place in every epoch, in random order."""
    total = given.features.shape[1]
    length = min(WINDOW, total)
    offset = int(random.integers(0, max(1, min(length, total - length))))
    starts = random.permutation(np.arange(offset, total - length + 1, length))
    for some in np.array_split(starts, _n_batches(len(starts))):
        places = some[:, None] + np.arange(length)  # [W, n]
        features = given.features[:, places]  # a copy
        _hide(features, given.unknown[places], random)
        yield Batch(
            torch.from_numpy(features),
            torch.from_numpy(given.ends[places]),
            torch.from_numpy(given.words[places]),
        )


def _n_batches(n_windows: int) -> int:
    """Batches of an epoch: a short text has smaller ones, for the sake of enough updates."""
    least, most = PER_BATCH
    return max(1, n_windows // min(max(least, n_windows // LEAST_BATCHES), most))


def _hide(features: np.ndarray, unknown: np.ndarray, random: np.random.Generator) -> None:
    """Hide some characters and words, and in some windows what the rules say."""
    characters, words, rules = features
    hidden = random.random(characters.shape) < UNKNOWN_CHARACTERS
    characters[hidden] = unknown[hidden]
    words[(random.random(words.shape) < UNKNOWN_WORDS) & (words > UNKNOWN)] = UNKNOWN
    windows = random.random(len(rules)) < UNKNOWN_RULES
    rules[windows[:, None] & (rules > Rule.INSIDE)] = Rule.INSIDE


def _update(model: Segmenter, optimizer: torch.optim.Optimizer, batch: Batch) -> None:
    """One step down the gradient."""
    W, n = batch.ends.shape
    scores = model(batch.features, torch.full((W,), n))  # [W, n, 5]
    classes = scores[..., : SENTENCE_END + 1].reshape(-1, SENTENCE_END + 1)
    each = cross_entropy(classes, batch.ends.reshape(-1), reduction="none")
    weight = torch.where(batch.ends.reshape(-1) > 0, END_WEIGHT, 1.0)
    multiword = binary_cross_entropy_with_logits(scores[..., MULTIWORD:], batch.words)
    loss = (each * weight).mean() + 2 * multiword
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
    torch.nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
    optimizer.step()


def quality(figures: dict[str, float]) -> float:
    """By which epochs are compared: few errors of each kind, relative to how many there are."""
    return -sum(math.log(max(100 - figure, LEAST_ERROR)) for figure in figures.values())


def f1_scores(tokenizer: LearnedTokenizer, gold: GoldText) -> dict[str, float]:
    """F1 of tokens, of tokens with their words, and of sentences."""
    places, texts = zip(*paragraphs(gold.text), strict=True)
    found = [
        [token._replace(start=token.start + place, end=token.end + place) for token in tokens]
        for place, sentences in zip(places, tokenizer.sentences(texts), strict=True)
        for tokens in sentences
    ]
    return {
        "tokens": _f1(*(_spans(sentences) for sentences in (gold.sentences, found))),
        "words": _f1(*(_words(sentences) for sentences in (gold.sentences, found))),
        "sentences": _f1(*(_borders(sentences) for sentences in (gold.sentences, found))),
    }


def _spans(sentences: list[list[Token]]) -> set[tuple[int, ...]]:
    return {token[:2] for tokens in sentences for token in tokens}


def _words(sentences: list[list[Token]]) -> set[tuple[int, int, int, str]]:
    return {
        (token.start, token.end, number, word.lower())
        for tokens in sentences
        for token in tokens
        for number, word in enumerate(token.words or ("",))
    }


def _borders(sentences: list[list[Token]]) -> set[tuple[int, int]]:
    return {(tokens[0].start, tokens[-1].end) for tokens in sentences}


def _f1(gold: set[Any], found: set[Any]) -> float:
    return 200 * len(gold & found) / (len(gold) + len(found))

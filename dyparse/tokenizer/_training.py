"""Training of the learned tokenizer: windows of the text, in another order in every epoch."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from dyparse.data.sentence import Sentence
from dyparse.tensors.moving_average import MovingAverage
from dyparse.tokenizer._characters import Rule
from dyparse.tokenizer._features import UNKNOWN, Features
from dyparse.tokenizer._multiword import learn_rules
from dyparse.tokenizer._segmenter import MULTIWORD, SENTENCE_END, Segmenter
from dyparse.tokenizer._spans import Token
from dyparse.tokenizer._training_text import GoldText, Targets, gold_text, paragraphs, targets
from dyparse.tokenizer.learned import MOST_SPACES, LearnedTokenizer

if TYPE_CHECKING:
    from dyparse.tokenizer import Progress
    from dyparse.tokenizer.learned import Learned

WINDOW = 200  # characters
PER_BATCH = 32  # windows
UNKNOWN_CHARACTERS, UNKNOWN_WORDS, UNKNOWN_RULES = 0.01, 0.2, 0.5  # shares that are hidden
END_WEIGHT = 3.0  # of characters that end a token in the loss, relative to others
LEAST_WITH_SPACES = 10  # tokens with so many spaces, for others to have as many
AVERAGE_DECAY = 0.99
WARM_UP = 50  # updates
LARGEST_GRADIENT = 5.0


def train_tokenizer(
    options: Learned,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    seed: int,
    progress: Progress | None,
) -> LearnedTokenizer:
    """The tokenizer of the best epoch on dev; the random generators of the program stay as is."""
    gold = gold_text(train, "train")
    gold_dev = gold_text(dev, "dev") if dev else None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _train(options, gold, gold_dev, np.random.default_rng(seed), progress)


def _train(
    options: Learned,
    gold: GoldText,
    dev: GoldText | None,
    random: np.random.Generator,
    progress: Progress | None,
) -> LearnedTokenizer:
    tokenizer = untrained(options, gold)
    given = targets(gold, tokenizer.features)
    optimizer = torch.optim.Adam(tokenizer.model.parameters(), lr=options.learning_rate)
    average = MovingAverage(tokenizer.model, AVERAGE_DECAY)
    total = options.epochs * len(_starts(gold, random)) // PER_BATCH + 1
    best, best_state = -1.0, average.state_dict()
    update = 0
    for epoch in range(1, options.epochs + 1):
        tokenizer.model.train()
        for batch in _batches(given, _starts(gold, random), random):
            rate = options.learning_rate * min(1, (update + 1) / WARM_UP)
            for group in optimizer.param_groups:
                group["lr"] = rate * max(0.02, 1 - update / total)
            _update(tokenizer.model, optimizer, batch)
            average.follow(tokenizer.model)
            update += 1
        follower = LearnedTokenizer(
            average.model, tokenizer.features, tokenizer.rules, tokenizer.most_spaces
        )
        figures = f1_scores(follower, dev) if dev else {}
        if sum(figures.values()) > best or not dev:
            best, best_state = sum(figures.values()), copy.deepcopy(average.state_dict())
        if progress:
            progress({"epoch": epoch, "epochs": options.epochs, **figures})
    tokenizer.model.load_state_dict(best_state)
    tokenizer.model.eval()
    return tokenizer


def untrained(options: Learned, gold: GoldText) -> LearnedTokenizer:
    """A tokenizer with fresh weights and all that is counted in the text."""
    features = Features.of_text(gold.text)
    tokens = [token for tokens in gold.sentences for token in tokens]
    rules = learn_rules((gold.text[token.start : token.end], token.words) for token in tokens)
    spaces = sorted(len(gold.text[token.start : token.end].split()) - 1 for token in tokens)
    most_spaces = min(spaces[-min(LEAST_WITH_SPACES, len(spaces))], MOST_SPACES)
    return LearnedTokenizer(options.segmenter(features), features, rules, most_spaces)


class Batch(NamedTuple):
    """Windows of the text with the right answers."""

    features: Tensor  # int64 [3, W, n]
    ends: Tensor  # int64 [W, n]
    words: Tensor  # float [W, n, 2]


def _starts(gold: GoldText, random: np.random.Generator) -> np.ndarray:
    """Where windows begin: side by side, from another place in every epoch."""
    length = min(WINDOW, len(gold.text))
    offset = int(random.integers(0, max(1, min(length, len(gold.text) - length))))
    return np.arange(offset, len(gold.text) - length + 1, length)


def _batches(
    given: Targets, starts: np.ndarray, random: np.random.Generator
) -> Iterator[Batch]:
    order = random.permutation(starts)
    length = min(WINDOW, given.features.shape[1])
    for some in np.array_split(order, max(1, len(order) // PER_BATCH)):
        places = some[:, None] + np.arange(length)  # [W, n]
        features = given.features[:, places]  # a copy
        _hide(features, given.unknown[places], random)
        yield Batch(
            torch.from_numpy(features),
            torch.from_numpy(given.ends[places]),
            torch.from_numpy(given.words[places]),
        )


def _hide(features: np.ndarray, unknown: np.ndarray, random: np.random.Generator) -> None:
    """Hide some characters and words, and what the rules say of sentences in some windows."""
    characters, words, rules = features
    hidden = random.random(characters.shape) < UNKNOWN_CHARACTERS
    characters[hidden] = unknown[hidden]
    words[(random.random(words.shape) < UNKNOWN_WORDS) & (words > UNKNOWN)] = UNKNOWN
    windows = random.random(len(rules)) < UNKNOWN_RULES
    rules[windows[:, None] & (rules == Rule.SENTENCE_END)] = Rule.TOKEN_END


def _update(model: Segmenter, optimizer: torch.optim.Optimizer, batch: Batch) -> None:
    """One step down the gradient."""
    W, n = batch.ends.shape
    scores = model(batch.features, torch.full((W,), n))  # [W, n, 5]
    classes = scores[..., : SENTENCE_END + 1].reshape(-1, SENTENCE_END + 1)
    each = F.cross_entropy(classes, batch.ends.reshape(-1), reduction="none")
    weight = torch.where(batch.ends.reshape(-1) > 0, END_WEIGHT, 1.0)
    multiword = F.binary_cross_entropy_with_logits(scores[..., MULTIWORD:], batch.words)
    loss = (each * weight).mean() + 2 * multiword
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
    torch.nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
    optimizer.step()


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

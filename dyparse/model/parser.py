"""The parser: sentences in, trees out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import conllu
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dyparse.data.batch import Collator, group_by_length, windows
from dyparse.data.sentence import Sentence
from dyparse.data.tokenizer import tokenize
from dyparse.data.vocabulary import Vocabulary
from dyparse.encoder import EncoderChoice
from dyparse.errors import DyparseError
from dyparse.model.checkpoint import ModelParts, read_checkpoint, write_checkpoint
from dyparse.model.network import Model, fresh_model
from dyparse.model.sizes import ScorerSizes
from dyparse.rollout.rollout import decode_greedily
from dyparse.rollout.scorer import Scorer
from dyparse.runtime.device import find_device
from dyparse.runtime.threads import at_once, thread_pool
from dyparse.system import System
from dyparse.tensors.precision import encoder_precision, require_precision, scorer_precision
from dyparse.tensors.transfer import to_device

T = TypeVar("T")
R = TypeVar("R")
Input: TypeAlias = str | Sequence[str] | conllu.TokenList | Sentence

WORDS_PER_WINDOW = 20_000  # read ahead, so that sentences of similar length meet in a batch


@dataclass(frozen=True)
class Parser:
    """A transition system, a trained network, and the vocabulary between words and numbers."""

    system: System
    encoder: EncoderChoice
    network: ScorerSizes
    vocabulary: Vocabulary
    model: Model
    collator: Collator
    precision: str = "float32"  # of the network; see dyparse.tensors.precision

    @classmethod
    def with_fresh_weights(
        cls, system: System, encoder: EncoderChoice, network: ScorerSizes, vocabulary: Vocabulary
    ) -> "Parser":
        """A parser that knows nothing yet; its weights come from torch's random generator."""
        model = fresh_model(system, encoder, network, vocabulary)
        return cls.of(ModelParts(system, encoder, network, vocabulary, model))

    @classmethod
    def of(cls, parts: ModelParts) -> "Parser":
        """The parser that a checkpoint has the parts of."""
        encoder, vocabulary = parts.encoder, parts.vocabulary
        collator = Collator(vocabulary, frozenset(encoder.features), encoder.subword_buckets)
        return cls(parts.system, encoder, parts.network, vocabulary, parts.model, collator)

    @classmethod
    def load(
        cls, directory: str | Path, device: str | torch.device = "cpu", precision: str = "float32"
    ) -> "Parser":
        """The parser saved in a model directory; CheckpointError says what is wrong with one.

        For precision see dyparse.tensors.precision: float32, mixed, bfloat16, or auto.
        """
        require_precision(precision, "precision")
        parser = cls.of(read_checkpoint(directory))
        parser.model.to(find_device(str(device))).eval()
        return replace(parser, precision=precision)

    def save(self, directory: Path, metrics: dict[str, Any]) -> None:
        """Write the parser as a model directory."""
        saved = ModelParts(self.system, self.encoder, self.network, self.vocabulary, self.model)
        write_checkpoint(Path(directory), saved, metrics)

    def parse(self, inputs: str | conllu.TokenList | Sentence | Iterable[Input]) -> list[Sentence]:
        """Trees of sentences, in order; write them with `.to_conllu()`.

        Each input is a string (one sentence, tokenized plainly), a list of words, a
        `conllu.TokenList` or a `Sentence`; heads that
        it has already are ignored. A single string or TokenList counts as a list of one.

            parser.parse(["The dog barks.", ["A", "cat", "sleeps"]])[0].head
        """
        several = [inputs] if isinstance(inputs, str | conllu.TokenList | Sentence) else inputs
        return list(self.parse_sentences(map(as_sentence, several)))

    def parse_sentences(
        self, sentences: Iterable[Sentence], *, max_tokens_per_batch: int = 2000
    ) -> Iterator[Sentence]:
        """Trees of a stream of sentences, in order; memory does not grow with the stream.

        Several batches are parsed side by side, each on a thread of its own, and the next sentences
        are read meanwhile: so a walk on the CPU runs beside the encoding of other batches, on
        whatever device that is.
        """
        with thread_pool(self.model.device) as submit:
            waiting: list[Group] = []
            try:
                for window in windows(sentences, len, WORDS_PER_WINDOW):
                    groups = group_by_length([len(s) for s in window], max_tokens_per_batch)
                    # A single batch has all threads to itself.
                    start = submit if len(groups) > 1 else at_once
                    coming = [(g, start(self.parse_batch, [window[k] for k in g])) for g in groups]
                    ready, waiting = waiting, coming
                    yield from in_order(ready)
            except DyparseError:  # of reading: what was read before it is parsed all the same
                yield from in_order(waiting)
                raise
            yield from in_order(waiting)

    @torch.inference_mode()
    def parse_batch(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Trees of the sentences of one batch."""
        encoded, scorer, words = self._encode(sentences)
        heads = decode_greedily(self.system, scorer, words, threads=torch.get_num_threads())
        return self._with_labels(sentences, encoded, heads)

    def _encode(self, sentences: Sequence[Sentence]) -> tuple[Tensor, Scorer, NDArray[np.int32]]:
        """Vectors of all tokens, what scores the moves, and the words of each sentence, counted."""
        self.model.eval()
        batch = self.collator.batch(sentences)
        device = self.model.device
        with encoder_precision(self.precision, device):
            encoded = self.model.encode(batch.to(device))
        with scorer_precision(self.precision, device):
            return encoded, self.model.scorer(self.model.table(encoded))(), batch.words

    def _with_labels(
        self, sentences: Sequence[Sentence], encoded: Tensor, heads: NDArray[np.int32]
    ) -> list[Sentence]:
        """The sentences with these heads [B, N], and the best label of each arc."""
        (on_device,) = to_device([torch.from_numpy(heads.astype(np.int64))], self.model.device)
        with scorer_precision(self.precision, self.model.device):
            numbers = self.model.labeller(encoded, on_device).argmax(-1).tolist()  # [B, N]
        labels = self.vocabulary.labels
        return [
            s.with_tree(head[1 : len(s) + 1], [labels[number] for number in row[1 : len(s) + 1]])
            for s, head, row in zip(sentences, heads.tolist(), numbers, strict=True)
        ]

    def missing_columns(self, sentence: Sentence) -> list[str]:
        """Tag columns that the encoder reads and the sentence does not have at all."""
        tags = [name for name in ("upos", "xpos", "feats") if name in self.encoder.features]
        return [name.upper() for name in tags if set(getattr(sentence, name)) == {"_"}]


Group: TypeAlias = tuple[list[int], Callable[[], list[Sentence]]]  # places, and their trees


def in_order(groups: Iterable[Group]) -> Iterator[Sentence]:
    """The sentences of all groups, by their places."""
    parsed: dict[int, Sentence] = {}
    for places, result in groups:
        parsed.update(zip(places, result(), strict=True))
    return (parsed[k] for k in range(len(parsed)))


def as_sentence(given: Input) -> Sentence:
    """A sentence from whatever people have at hand."""
    if isinstance(given, Sentence):
        return given
    if isinstance(given, conllu.TokenList):
        return Sentence.from_token_list(given)
    if isinstance(given, str):
        words, spaces = tokenize(given)
        return Sentence.from_words(words, text=given, space_after=spaces)
    words = list(given)
    if not all(isinstance(word, str) for word in words):
        raise TypeError(
            f"cannot parse {given!r}; expected a string, a list of words, or a TokenList"
        )
    return Sentence.from_words(words)

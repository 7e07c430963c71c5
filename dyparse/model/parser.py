"""The parser: sentences in, trees out."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import conllu
import numpy as np
from numpy.typing import NDArray

from dyparse.config.choices import name_of
from dyparse.config.extras import require_libraries
from dyparse.config.precisions import PARSING, require_precision
from dyparse.data.batch import Collator, heads_of_words, n_words
from dyparse.data.columns.confidences import with_confidences
from dyparse.data.columns.kept import filled_in, kept_columns
from dyparse.data.columns.pseudo_projective import decoded
from dyparse.data.document import Document
from dyparse.data.sampler import group_by_length, windows
from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Vocabulary
from dyparse.decoding import Decoding, GivesProbabilities, ProbableHeads, heads_and_labels
from dyparse.decoding import load as load_decoding
from dyparse.decoding.greedy import Greedy
from dyparse.encoder import new_files
from dyparse.errors import ConfigError, DyparseError, DyparseWarning, TreebankError
from dyparse.feature import TAGS
from dyparse.head import LABELS
from dyparse.head._lexicon import LEMMA
from dyparse.model.checkpoint import read_checkpoint, read_on_device, write_checkpoint
from dyparse.model.compiled_model import CompiledModel, read_compiled
from dyparse.model.confidence import Odds, label_odds, odds_by_sentence, odds_of
from dyparse.model.inputs import Input, Words, missing_tags, one_or_several, require_text, several
from dyparse.model.parts import EncodedBatch, ModelConfig, ModelParts, Network
from dyparse.model.sources import find_model
from dyparse.runtime.threads import Placed, at_once, in_order, thread_count, thread_pool
from dyparse.system import System
from dyparse.tokenizer import Tokenizer, TokenizerChoice, tokenize, tokenize_lines

if TYPE_CHECKING:  # slow to import, and not every parser needs it
    import torch

    from dyparse.model.network import Model

GREEDY = Greedy()
TOKENS_PER_BATCH, PER_COMPILED_BATCH = 2000, 750  # a small table stays in the processor's cache
WORDS_PER_WINDOW = 20_000  # read ahead, so that sentences of similar length meet in a batch


@dataclass(frozen=True, repr=False)
class Parser:
    """A model, and how it is run: precision and decoding.

        parser = dyparse.load("outputs/…")
        tree = parser([("The", "DET"), ("dog", "NOUN"), ("barks", "VERB")])
        print(tree.root, tree.root.children)

    A text in, a Document out; one sentence in, one Sentence out; a list in, a list out:

    | `parser(...)` of | gives |
    |---|---|
    | a text: `"The dog barks. It sleeps."` | a Document of Sentences |
    | words: `["The", "dog", "barks"]` | a Sentence |
    | words with UPOS tags: `[("The", "DET"), ("dog", "NOUN")]` | a Sentence |
    | a `conllu.TokenList`, a `Sentence` | a Sentence; a tree that it has is ignored |
    | a list of TokenLists, Sentences, lists of words or lists of pairs | a list of Sentences |
    | `[["Malcolm", "X"], ["Plan", "X"]]` | two Sentences of two words: pairs are tuples |
    | `[["The", "DET"], ["dog", "NOUN"]]` | an error: pairs are tuples |
    | a list of strings with white space | an error: use `parser.parse_texts(texts)` |

    `parser.parse` takes several sentences and always gives a list, `parser.parse_texts` several
    texts. A model that was trained with gold tags needs them: without tags there is a warning, and
    much worse trees.
    """

    parts: ModelParts
    collator: Collator
    precision: str = "float32"  # of the network; see `load`
    decoding: Decoding = GREEDY
    keep: tuple[str, ...] = ()  # columns that stay as they are given: upos, xpos, feats, lemma
    confidence: bool = False  # whether tokens get `head_confidence` and `label_confidence`

    def __post_init__(self) -> None:
        if self.confidence and not isinstance(self.decoding, GivesProbabilities):
            raise ConfigError(
                f"confidence: the decoding {name_of(self.decoding)} gives no probabilities; parse "
                "without confidence, or with decoding greedy"
            )

    @classmethod
    def of(cls, parts: ModelParts) -> "Parser":
        """The parser of a model."""
        return cls(parts, parts.collator())

    @classmethod
    def untrained(cls, config: ModelConfig, sentences: Sequence[Sentence]) -> "Parser":
        """A parser that knows the words of the sentences; its weights come from torch's random
        generator.
        """
        config = config.fitted(sentences)
        vocabulary, files = config.vocabulary(sentences), new_files(config.encoder, sentences)
        return cls.of(ModelParts(config, vocabulary, config.network(vocabulary, files)))

    @classmethod
    def load(
        cls,
        directory: str | Path,
        device: "str | torch.device" = "cpu",
        precision: str = "float32",
        decoding: str = "greedy",
        keep: Iterable[str] = (),
        *,
        confidence: bool = False,
    ) -> "Parser":
        """The parser saved in a model directory or in the directory of a run, in an installed
        package (by its name), or on the Hugging Face Hub (hf://OWNER/NAME).

        CheckpointError says what is wrong with one.

        The precision is float32, mixed or bfloat16, see dyparse.tensors.precision; int8, by
        compiled kernels (dyparse.compiled) and without torch, for models with a BiLSTM on a CPU; or
        auto: int8 where the processor has instructions for it, else float32 by the same kernels,
        and for other models what dyparse.tensors.precision says. For decoding see dyparse.decoding:
        a name, or the dotted path of a class of one's own. Tags and lemmas that the model predicts
        replace those of the input, except for columns to `keep`: there only words without a value
        get one, and trees and other tags are predicted with those that are given. With
        `confidence`, tokens also have `head_confidence` and `label_confidence`, which are written
        in MISC.
        """
        require_precision(precision, "precision", PARSING)
        try:
            chosen = load_decoding(decoding)
        except ValueError as error:
            raise ConfigError(f"decoding: {error}") from error
        place, keep = find_model(directory), kept_columns(keep)
        parts = read_compiled(place, precision, str(device))
        if parts is None:
            precision = "auto" if precision == "int8" else precision
            parts = read_on_device(place, str(device))
        parser = replace(cls.of(parts), precision=precision, decoding=chosen, keep=keep)
        return replace(parser, confidence=confidence)

    def save(self, directory: Path, metrics: dict[str, Any]) -> None:
        """Write the parser as a model directory."""
        require_libraries("saving a model", "torch", "torch")
        parts = self.parts
        if isinstance(parts.network, CompiledModel):  # its weights are rounded
            parts = replace(parts, network=read_checkpoint(parts.network.directory).network)
        write_checkpoint(Path(directory), parts, metrics)

    @property
    def system(self) -> System:
        """The transition system, without labels."""
        return self.parts.config.system

    @property
    def projectivity(self) -> str:
        """How trees are lifted for the moves, and put back: see `pseudo_projective`."""
        return self.parts.config.projectivity

    @property
    def vocabulary(self) -> Vocabulary:
        """The entries that features and heads know."""
        return self.parts.vocabulary

    @property
    def network(self) -> Network:
        """The network that parses."""
        return self.parts.network

    @property
    def is_compiled(self) -> bool:
        """Whether compiled kernels compute, and not torch."""
        return isinstance(self.network, CompiledModel)

    @property
    def model(self) -> "Model":
        """The network of torch; ConfigError if compiled kernels stand in for it."""
        return self.parts.model

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer for raw text."""
        return self.parts.tokenizer

    def with_tokenizer(self, choice: TokenizerChoice, tokenizer: Tokenizer) -> "Parser":
        """The same parser with another tokenizer, which this choice has made."""
        config = replace(self.parts.config, tokenizer=choice)
        return replace(self, parts=replace(self.parts, config=config, tokenizer=tokenizer))

    def with_network(self, network: Network) -> "Parser":
        """The same parser with other weights."""
        return replace(self, parts=replace(self.parts, network=network))

    def __repr__(self) -> str:
        chosen = self.parts.config
        features = ", ".join(feature.name for feature in self.collator.features)
        return (
            f"<Parser: {name_of(chosen.system)}, {name_of(chosen.encoder)} over {features}; "
            f"{self.network.n_weights:,} parameters on {self.network.device_type}>"
        )

    @overload
    def __call__(self, given: str) -> Document: ...  # type: ignore[overload-overlap]  # a str is a sequence too

    @overload
    def __call__(self, given: Words | conllu.TokenList | Sentence) -> Sentence: ...  # type: ignore[overload-overlap]  # as above

    @overload
    def __call__(
        self, given: Iterable[Sentence] | Iterable[conllu.TokenList] | Iterable[Words]
    ) -> list[Sentence]: ...

    def __call__(self, given: Any) -> Document | Sentence | list[Sentence]:
        """The trees of a text, of a sentence, or of a list of sentences; see the table above.

        TypeError or ValueError, with the remedy, if it is not clear which of them is given.
        """
        if isinstance(given, str):
            return self._documents([given])[0]
        inputs = one_or_several(given)
        if isinstance(inputs, Sentence):
            return self._parse([inputs])[0]
        return self._parse(inputs)

    def parse(self, sentences: Input | Iterable[Input]) -> list[Sentence]:
        """Trees of several sentences, in order: always a list.

            parser.parse(["The dog barks.", ["A", "cat", "sleeps"], conllu.parse(text)[0]])

        Each is the text of one sentence, a list of words or of (word, UPOS) pairs, a
        `conllu.TokenList` or a `Sentence`; one alone counts as a list of one. ValueError if all are
        strings without white space, which look like the words of one sentence: `parser(words)`.
        Where sentences of one word may come, `parser.parse(map(parser.read_sentence, texts))` takes
        any.
        """
        return self._parse(several(sentences, self.read_sentence))

    def parse_texts(self, texts: Iterable[str]) -> list[Document]:
        """Texts split into sentences and words, and their trees."""
        return self._documents(list(texts))

    def _documents(self, given: list[str]) -> list[Document]:
        for text in given:
            require_text(text)
        sentences = [list(tokenize(self.tokenizer, text)) for text in given]
        parsed = iter(self._parse(list(chain.from_iterable(sentences)), callers=2))
        return [
            Document(text, list(islice(parsed, len(of_text))))
            for text, of_text in zip(given, sentences, strict=True)
        ]

    def read_sentence(self, text: str) -> Sentence:
        """The text of one sentence, split into words; TreebankError if it has none."""
        require_text(text)
        if not text.strip():
            raise TreebankError("a sentence without words; give at least one word")
        return next(tokenize_lines(self.tokenizer, [text]))

    def _parse(self, sentences: list[Sentence], callers: int = 1) -> list[Sentence]:
        """Trees, with a warning about missing tags where this number of methods was called."""
        if missing := next(filter(None, map(self.missing_columns, sentences)), None):
            message = f"{missing_tags(missing)}; words are tagged as [('The', 'DET'), …]"
            warnings.warn(message, DyparseWarning, stacklevel=2 + callers)
        return list(self.parse_sentences(sentences))

    def parse_sentences(
        self, sentences: Iterable[Sentence], *, max_tokens_per_batch: int | None = None
    ) -> Iterator[Sentence]:
        """Trees of a stream of sentences, in order; memory does not grow with the stream.

        Batches have as many tokens as is fast for the network, if that is not given. Several are
        parsed side by side, each on a thread of its own, and the next sentences are read meanwhile:
        so decoding on the CPU runs beside the encoding of other batches, on whatever device.
        """
        fast = PER_COMPILED_BATCH if self.is_compiled else TOKENS_PER_BATCH
        most = max_tokens_per_batch or fast
        with thread_pool(self.network.device_type) as submit:
            waiting: list[Placed[Sentence]] = []
            try:
                for window in windows(sentences, len, WORDS_PER_WINDOW):
                    groups = group_by_length(self.collator.lengths(window), most)
                    # A single batch has all threads to itself.
                    start = submit if len(groups) > 1 else at_once
                    ready = waiting
                    waiting = [(g, start(self.parse_batch, [window[k] for k in g])) for g in groups]
                    yield from in_order(ready)
            except DyparseError:  # of reading: what was read before it is parsed all the same
                yield from in_order(waiting)
                raise
            yield from in_order(waiting)

    def parse_batch(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Trees of the sentences of one batch."""
        if self.confidence:
            calibrate = self.parts.calibration
            pairs = self.parse_with_odds(sentences)
            return [with_confidences(parsed, *calibrate(odds)) for parsed, odds in pairs]
        batch, n_threads = self.encode(sentences), thread_count()
        trees = self.decoding.decode(self.parts.scored_system, *batch[1:], n_threads=n_threads)
        return self.with_predictions(sentences, batch.encoded, trees)

    def parse_with_odds(self, sentences: Sequence[Sentence]) -> list[tuple[Sentence, Odds]]:
        """The same trees, and the log-odds of their heads and labels, not calibrated: those of the
        decisions about a word, also where it was put back elsewhere.
        """
        assert isinstance(self.decoding, GivesProbabilities)
        encoded, scorer, words = self.encode(sentences)
        found = self.decoding.decode_with_probabilities(
            self.parts.scored_system, scorer, words, n_threads=thread_count()
        )
        built = self._as_built(sentences, encoded, found.heads)
        odds = odds_by_sentence(
            words, found.log_probability, self._label_odds(encoded, found, built)
        )
        return list(zip(decoded(built, self.projectivity), odds, strict=True))

    def _label_odds(
        self, encoded: Any, found: ProbableHeads, built: Sequence[Sentence]
    ) -> NDArray[np.float64]:
        """[B, N]: the log-odds of labels, by the moves or by the head for labels."""
        if found.label_log_probability is not None:
            return odds_of(found.label_log_probability)
        tree = heads_of_words(found.heads, built)
        scores = self.network.label_scores(encoded, tree, self.precision)
        return label_odds(scores, self.parts.columns[LABELS].targets(built))

    def encode(self, sentences: Sequence[Sentence]) -> EncodedBatch:
        """The vectors of all tokens, and the scorer of moves over them."""
        return EncodedBatch(
            *self.network.encode_sentences(sentences, self.collator, self.precision, self.keep)
        )

    def with_predictions(
        self, sentences: Sequence[Sentence], encoded: Any, trees: NDArray[np.int32]
    ) -> list[Sentence]:
        """The sentences with these trees, in which lifted words are put back, and with the
        predictions of all heads.

        Trees are heads [B, N], or [B, N, 2] with labels, if moves carry them.
        """
        return decoded(self._as_built(sentences, encoded, trees), self.projectivity)

    def _as_built(
        self, sentences: Sequence[Sentence], encoded: Any, trees: NDArray[np.int32]
    ) -> list[Sentence]:
        """The same, with trees and labels as moves and labeller gave them."""
        if self.parts.config.joint_labels:
            trees, labels = heads_and_labels(trees, self.decoding)
        heads = heads_of_words(trees, sentences)
        rows = zip(sentences, heads.tolist(), strict=True)
        columns: list[dict[str, Any]] = [{"head": row[1 : len(s) + 1]} for s, row in rows]
        analyses, words = self.parts.analyses, n_words(sentences)
        predicted = self.network.predict(encoded, heads, words, analyses, self.precision)
        if self.parts.config.joint_labels:
            predicted[LABELS] = labels.tolist()
        for name, column in self.parts.columns.items():
            for s, row, of_sentence in zip(sentences, predicted[name], columns, strict=True):
                of_sentence.update(column.columns(s, row[1 : len(s) + 1]))

        def scores_of(words: Sequence[tuple[int, int]]) -> NDArray[np.float32]:
            tokens = np.array([sentence * heads.shape[1] + word + 1 for sentence, word in words])
            return self.network.tag_scores(LEMMA, encoded, tokens)

        self.parts.lexicon.correct(sentences, columns, scores_of)
        for kept in self.keep:
            for s, new in zip(sentences, columns, strict=True):
                if kept in new:
                    new[kept] = filled_in(s, kept, new[kept])
        return [s.with_columns(new) for s, new in zip(sentences, columns, strict=True)]

    def head_figures(
        self, gold: Sequence[Sentence], parsed: Sequence[Sentence]
    ) -> dict[str, float]:
        """Figures of the prediction heads, by name, in percent: `upos_accuracy`, …"""
        figures: dict[str, float] = {}
        for column in self.parts.columns.values():
            figures |= column.score(gold, parsed)
        return figures

    def missing_columns(self, sentence: Sentence) -> list[str]:
        """Tag columns that the encoder reads and the sentence does not have at all."""
        n = len(sentence)
        return [tag.upper() for tag in self._tags_read if getattr(sentence, tag).count("_") == n]

    @cached_property
    def _tags_read(self) -> list[str]:
        return [tag for tag in TAGS if any(f.column == tag for f in self.collator.features)]

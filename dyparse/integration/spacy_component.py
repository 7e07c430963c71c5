"""The spaCy component `dyparse`.

    nlp = spacy.blank("en")
    nlp.add_pipe("dyparse", config={"model": "outputs/…"})

spaCy finds it by an entry point of the group `spacy_factories`, and imports this module whenever a
pipeline is made, with or without the component: so nothing here may import torch, except in
functions.
"""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.pipeline.dep_parser import parser_score
from spacy.pipeline.lemmatizer import lemmatizer_score
from spacy.pipeline.morphologizer import morphologizer_score
from spacy.pipeline.tagger import tagger_score
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from dyparse.errors import CheckpointError, ConfigError
from dyparse.integration.spacy_docs import annotate, sentence_spans, to_sentence

if TYPE_CHECKING:
    from dyparse.model.parser import Parser

ASSIGNS = ["token.head", "token.dep", "token.tag", "token.pos", "token.morph", "token.lemma"]
SCORERS = (parser_score, tagger_score, morphologizer_score, lemmatizer_score)
MODEL_GIVEN = 'nlp.add_pipe("dyparse", config={"model": DIRECTORY})'


@Language.factory(  # type: ignore[untyped-decorator]  # mypy does not follow spaCy
    "dyparse",
    default_config={"model": "", "device": "cpu", "keep": []},
    assigns=[*ASSIGNS, "token.is_sent_start", "doc.sents"],
)
def make_component(
    nlp: Language,  # noqa: ARG001 - spaCy gives it to every factory
    name: str,
    model: str,
    device: str,
    keep: list[str],
) -> "DyparseComponent":
    """The component of a pipeline, from its config."""
    return DyparseComponent(name, model, device, keep)


class DyparseComponent(Pipe):  # type: ignore[misc]  # the same
    """Parses spaCy's documents: heads, labels, tags, lemmas and sentences.

    The model is read when it is first needed: a pipeline that is loaded from disk or bytes brings
    its own, and the one that it was made from may be gone by then.
    """

    def __init__(
        self, name: str, model: str, device: str = "cpu", keep: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.model = model  # a directory, or another name that `dyparse.load` takes
        self.device = device
        self.keep = tuple(keep)  # columns that stay as the document has them
        self._parser: Parser | None = None
        self._metrics: dict[str, Any] = {}

    @property
    def parser(self) -> "Parser":
        """The parser; DyparseError if there is none, or if something is wrong with it."""
        if self._parser is None:
            if not self.model:
                raise ConfigError(f"the component {self.name!r} has no model; use {MODEL_GIVEN}")
            self._load(self.model)
        assert self._parser is not None
        return self._parser

    def _load(self, model: str | Path) -> None:
        import dyparse
        from dyparse.model.checkpoint import read_metrics
        from dyparse.model.sources import find_model

        place = find_model(model)
        # By torch, which keeps the weights as they are: a pipeline can be saved when the directory
        # is gone. Compiled kernels round them.
        self._parser = dyparse.load(place, self.device, precision="float32", keep=self.keep)
        self._metrics = read_metrics(place)

    def __call__(self, doc: Doc) -> Doc:
        """The document, parsed."""
        return next(self.pipe([doc]), doc)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """The documents, parsed; sentences of so many documents at once."""
        for docs in minibatch(stream, size=batch_size):
            try:
                self._annotate(docs)
            except Exception as error:  # spaCy's error handler decides; it raises unless replaced
                self.get_error_handler()(self.name, self, docs, error)
            else:
                yield from docs

    def _annotate(self, docs: Sequence[Doc]) -> None:
        tokenizer = self.parser.tokenizer
        spans = [sentence_spans(doc, tokenizer) for doc in docs]
        sentences = [[to_sentence(d, span) for span in s] for d, s in zip(docs, spans, strict=True)]
        parsed = iter(self.parser.parse(filter(None, chain.from_iterable(sentences))))
        for doc, of_doc, inputs in zip(docs, spans, sentences, strict=True):
            annotate(doc, [(s, i and next(parsed)) for s, i in zip(of_doc, inputs, strict=True)])

    def score(self, examples: Iterable[Example], **options: Any) -> dict[str, Any]:
        """The scores that spaCy's own components have for the same annotations."""
        given = list(examples)
        scores = [scorer(given, **options) for scorer in SCORERS]
        return {name: score for of_one in scores for name, score in of_one.items()}

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:  # noqa: ARG002
        """Write the model as a model directory, which `dyparse.load` takes too."""
        self.parser.save(Path(path), self._metrics)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "DyparseComponent":  # noqa: ARG002
        """Read the model that `to_disk` wrote."""
        self._load(Path(path))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:  # noqa: ARG002
        """The files of the model."""
        from dyparse.model.checkpoint_files import ModelFiles

        with tempfile.TemporaryDirectory() as directory:
            self.parser.save(Path(directory), self._metrics)
            return bytes(srsly.msgpack_dumps(ModelFiles.open(directory).contents()))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "DyparseComponent":  # noqa: ARG002
        """Read the model that `to_bytes` gave; its files are checked like those on disk."""
        from dyparse.model.checkpoint_files import LISTED, MANIFEST, write_files

        files = unpacked(data)
        if not {*LISTED, MANIFEST} <= set(files):
            raise CheckpointError(f"the bytes of the component {self.name!r} hold no model")
        manifest = files.pop(MANIFEST)
        with tempfile.TemporaryDirectory() as directory:
            write_files(Path(directory), {name: files[name] for name in (*LISTED, *files)})
            Path(directory, MANIFEST).write_bytes(manifest)
            self._load(Path(directory))
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """For processes that spaCy spawns: they get a model that is loaded as its files."""
        settings = (self.name, self.model, self.device, self.keep)
        return DyparseComponent, settings, self.to_bytes() if self._parser else None

    def __setstate__(self, state: bytes) -> None:
        self.from_bytes(state)


def unpacked(data: bytes) -> dict[str, bytes]:
    """The files that `to_bytes` packed, by name; none if the bytes are something else."""
    try:
        files: Any = srsly.msgpack_loads(data)
    except (ValueError, TypeError):  # the errors of msgpack are among them
        return {}
    plain = isinstance(files, dict) and all(
        isinstance(name, str) and isinstance(content, bytes) for name, content in files.items()
    )
    return files if plain else {}

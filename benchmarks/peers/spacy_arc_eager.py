"""spaCy: the pipeline that `spacy init config --pipeline parser` proposes for a CPU.

That is a convolutional tok2vec and the arc-eager parser with its dynamic oracle, no pretrained
vectors.

Training is spaCy's own loop, with its batches and early stopping (dev every 200 steps, off the
clock; patience 1600 steps); test is parsed at the moments, and the end is the best model on dev, or
the last one if the minutes were over. By default it reads words only; `spacy-upos` gives its
embedding gold UPOS tags as a fifth attribute, which the other parsers get too. spaCy has no CoNLL-U
interface: parsing is from words, through Doc objects, to Doc objects with trees, in memory. Each
Doc is marked as one sentence.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from conllu_columns import Columns, read_columns, write_trees
from measurement import MEMORY, Measurement, OutOfTimeError, Row, read_job, versions

REQUIREMENTS = (("spacy==3.8.18",),)
ROWS = (
    Row("spacy", "spaCy, arc-eager", "words", {"attributes": []}),
    Row("spacy-upos", "spaCy, arc-eager, with tags", "words, UPOS", {"attributes": ["POS"]}),
)
POS_ROWS = 100  # of the hash table; there are 17 tags


def main() -> None:
    job = read_job()
    measurement = Measurement(job)
    train, dev, test = (read_columns(Path(path)) for path in (job.train, job.dev, job.test))
    nlp = make_pipeline(job.options["attributes"], job.seed)
    examples = list(gold_examples(nlp, train))
    random.seed(job.seed)
    nlp.initialize(lambda: examples)

    def parse(path: Path) -> None:
        write_trees(Path(job.test), path, (tree(doc) for doc in nlp.pipe(bare_docs(nlp, test))))

    best: list[bytes] = []

    def evaluate() -> tuple[float, dict[str, float]]:
        with measurement.off_the_clock():
            scores = nlp.evaluate(gold_examples(nlp, dev))
            return 0.5 * scores["dep_uas"] + 0.5 * scores["dep_las"], scores

    measurement.start()
    try:
        for batch, _, is_best in training_steps(nlp, examples, evaluate):
            with measurement.off_the_clock():
                best = [nlp.to_bytes()] if is_best else best
            measurement.updated(sum(len(example.reference) for example in batch), parse)
        measurement.trained("converged: 1600 steps without a better dev score")
        nlp.from_bytes(best[0])
    except OutOfTimeError:
        measurement.out_of_time()
    model = Path(job.directory) / "model"
    nlp.to_disk(model)
    measurement.parsed(parse, {MEMORY: lambda: list(nlp.pipe(bare_docs(nlp, test)))})
    measurement.finish(model, versions("spacy", "thinc", "numpy"))


def make_pipeline(attributes: list[str], seed: int) -> Any:
    """The proposed pipeline, with further attributes of words if there are any."""
    from spacy.cli.init_config import init_config
    from spacy.util import fix_random_seed, load_model_from_config

    config = init_config(lang="en", pipeline=["parser"], optimize="efficiency", gpu=False)
    embed = config["components"]["tok2vec"]["model"]["embed"]
    embed["attrs"] += attributes
    embed["rows"] += [POS_ROWS] * len(attributes)
    fix_random_seed(seed)
    return load_model_from_config(config, auto_fill=True)


def training_steps(nlp: Any, examples: list[Any], evaluate: Any) -> Iterator[tuple[Any, Any, Any]]:
    """spaCy's own training loop, step by step, with the settings of its configuration."""
    from spacy.schemas import ConfigSchemaTraining
    from spacy.training.loop import create_train_batches, train_while_improving
    from spacy.util import registry

    config = nlp.config.interpolate()["training"]
    settings = registry.resolve(config, schema=ConfigSchemaTraining)
    names = ("dropout", "accumulate_gradient", "patience", "max_steps", "eval_frequency")
    batches = create_train_batches(nlp, lambda _: examples, settings["batcher"], 0)
    yield from train_while_improving(
        nlp,
        settings["optimizer"],
        batches,
        evaluate,
        **{name: settings[name] for name in names},
        exclude=[],
        annotating_components=[],
        before_update=None,
    )


class DocTree(NamedTuple):
    """Heads, counted from 1, and labels of a Doc."""

    head: list[int]
    label: list[str]


def tree(doc: Any) -> DocTree:
    """In spaCy a root is its own head, and its label is ROOT."""
    heads = [0 if token.head.i == token.i else token.head.i + 1 for token in doc]
    return DocTree(heads, ["root" if token.dep_ == "ROOT" else token.dep_ for token in doc])


def bare_docs(nlp: Any, sentences: list[Columns]) -> Iterator[Any]:
    """Docs of words and tags, each one sentence."""
    from spacy.tokens import Doc

    for s in sentences:
        one_sentence = [True] + [False] * (len(s.form) - 1)
        yield Doc(nlp.vocab, words=s.form, pos=s.upos, sent_starts=one_sentence)


def gold_examples(nlp: Any, sentences: list[Columns]) -> Iterator[Any]:
    """Inputs with their gold trees."""
    from spacy.tokens import Doc
    from spacy.training import Example

    for s in sentences:
        heads = [word if head == 0 else head - 1 for word, head in enumerate(s.head)]
        labels = ["ROOT" if label == "root" else label for label in s.label]
        start = Doc(nlp.vocab, words=s.form, pos=s.upos)
        gold = Doc(nlp.vocab, words=s.form, pos=s.upos, heads=heads, deps=labels)
        yield Example(start, gold)


if __name__ == "__main__":
    main()

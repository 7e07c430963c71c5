"""SuPar: the biaffine graph-based parser with SuPar's own sizes and settings for a BiLSTM, without
pretrained vectors; words and gold UPOS, in `supar-char` characters too. Its LSTM needs one of the
two, so that `supar-no-tags` has characters.

SuPar's own training runs. A wrapper of its batches counts words and parses test at the moments;
parsing dev, after each epoch, is off the clock. It stops after 100 epochs without a better dev
score, which takes longer than any budget here. Parsing is CoNLL-U to CoNLL-U, SuPar's only
interface. SuPar 1.1.4 unpickles its models, which PyTorch has to be told to allow.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measurement import CONLLU, Job, Measurement, OutOfTimeError, Row, read_job, versions

REQUIREMENTS = (("torch=={torch}",), ("supar==1.1.4",))
ROWS = (
    Row("supar", "SuPar, biaffine", "words, UPOS", {"features": ["tag"]}),
    Row(
        "supar-char",
        "SuPar, biaffine, with characters",
        "words, characters, UPOS",
        {"features": ["tag", "char"]},
    ),
    Row(
        "supar-no-tags",
        "SuPar, biaffine, with characters, no tags",
        "words, characters",
        {"features": ["char"]},
    ),
)
SETTINGS = {  # of SuPar's biaffine.dep.lstm configurations; sizes are the defaults of its model
    "lr": 2e-3,
    "mu": 0.9,
    "nu": 0.9,
    "eps": 1e-12,
    "weight_decay": 0,
    "decay": 0.75,
    "decay_steps": 5000,
    "min_freq": 2,
    "fix_len": 20,
}


def main() -> None:
    import torch

    torch.set_num_threads(1)
    torch.load = functools.partial(torch.load, weights_only=False)
    job = read_job()
    torch.manual_seed(job.seed)
    measurement = Measurement(job)
    path = Path(job.directory) / "model"
    options = {
        **SETTINGS,
        "feat": job.options["features"],
        "encoder": "lstm",
        "embed": None,
        "build": True,
        "checkpoint": False,
    }
    parser = measured_parser(measurement, job).build(path=str(path), train=job.train, **options)
    measurement.start()
    try:
        parser.train(train=job.train, dev=job.dev, test=job.dev, verbose=False, path=str(path))
        measurement.trained("converged: 100 epochs without a better dev score")
        parser = type(parser).load(str(path))
    except OutOfTimeError:
        measurement.out_of_time()
        parser.save(str(path))
    timed = Path(job.directory) / "timed.conllu"
    measurement.parsed(
        lambda trees: predict(parser, job, trees), {CONLLU: lambda: predict(parser, job, timed)}
    )
    measurement.finish(path, versions("supar", "torch"))


def predict(parser: Any, job: Job, path: Path) -> None:
    """Parse test; afterwards the parser can continue training."""
    kept = dict(parser.args)
    parser.predict(data=job.test, pred=str(path), verbose=False)
    parser.args.update(kept)
    parser.transform.train()
    parser.model.train()


class WatchedBatches:
    """Training batches; after each training step `done` is called with its number of words."""

    def __init__(self, loader: Any, done: Any) -> None:
        self.loader, self.done = loader, done

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        for batch in self.loader:
            yield batch
            self.done(sum(len(sentence.words) for sentence in batch.sentences))


def measured_parser(measurement: Measurement, job: Job) -> Any:
    """SuPar's parser class, with its training reported to the measurement."""
    from supar import (  # type: ignore[import-not-found]  # in its own environment
        BiaffineDependencyParser,
    )

    class Measured(BiaffineDependencyParser):  # type: ignore[misc]  # unknown here
        def _train(self, loader: Any) -> Any:
            def done(words: int) -> None:
                measurement.updated(words, lambda path: predict(self, job, path))

            return super()._train(WatchedBatches(loader, done))

        def _evaluate(self, loader: Any) -> Any:
            with measurement.off_the_clock():
                return super()._evaluate(loader)

    return Measured


if __name__ == "__main__":
    main()

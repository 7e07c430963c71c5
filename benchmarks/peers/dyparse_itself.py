"""dyparse, measured like the others: `train.py` with its defaults, or with an experiment.

`dyparse.training.run.train` runs on one thread. A hook on its training steps counts words and
parses test at the moments, with averaged weights, as dyparse saves them; parsing dev after each
epoch is off the clock. A training on a few sentences comes first, so that kernels are compiled. The
end is the best model on dev, after all epochs. Parsing is from CoNLL-U to CoNLL-U, as
`dyparse parse` does it, and in memory from sentences to sentences with trees.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from measurement import CONLLU, MEMORY, Job, Measurement, OutOfTimeError, Row, read_job, versions

REQUIREMENTS = ()  # it runs in the environment of the driver
DEFAULT = "default"
PROJECT = Path(__file__).parents[2]
FEATURES = {"word": "words", "subword": "subwords", "character": "characters"}


def rows(names: list[str]) -> tuple[Row, ...]:
    """Lines of the table: the default, and experiments by their names in conf/experiment."""
    return tuple(
        Row(f"dyparse-{name}", f"dyparse, {name}", reads(given), {"overrides": given})
        for name, given in overrides_by_name(names).items()
    )


def overrides_by_name(experiments: list[str]) -> dict[str, list[str]]:
    """Options of training for each experiment.

    After a name and a space, more options may follow: `finetuned encoder.pretrained=DIR`.
    """
    found = {}
    for name, *options in map(str.split, experiments):
        experiment = [] if name == DEFAULT else [f"experiment={name}"]
        found[name] = [*experiment, *options]
    return found


def reads(overrides: list[str]) -> str:
    """The columns that a model reads; those that it predicts are not among them."""
    features = [str(feature).partition(":")[0] for feature in config(overrides).encoder.features]
    return ", ".join(FEATURES.get(name, name.upper()) for name in features) or "words"


def config(overrides: list[str]) -> Any:
    """The configuration of train.py with these overrides."""
    import hydra

    with hydra.initialize_config_dir(version_base="1.3", config_dir=str(PROJECT / "conf")):
        return hydra.compose("train", overrides)


def main() -> None:
    from dyparse.runtime.entry import limit_shape_caches

    limit_shape_caches()  # before torch is imported, as `dyparse train` does
    from dyparse.model.parser import Parser

    job = read_job()
    measurement = Measurement(job)
    directory = Path(job.directory)
    few = ["trainer.epochs=1", "trainer.max_sentences=40", f"output={directory / 'warm_up'}"]
    run(job, few)
    last: list[Any] = []  # the training as it is now
    hook(measurement, job, last)
    try:
        run(job, [f"output={directory}"])
    except TrainedError:
        measurement.trained("all epochs, or no better dev score for long")
        parser = Parser.load(directory / "model", precision="auto")
    except OutOfTimeError:
        measurement.out_of_time()
        parser = last[0].averaged_parser()
        parser.save(directory / "model", {})
    sentences = read_test(job)
    timed = directory / "timed.conllu"
    measurement.parsed(
        lambda path: parse_file(parser, job, path),
        {
            CONLLU: lambda: parse_file(parser, job, timed),
            MEMORY: lambda: list(parser.parse_sentences(sentences)),
        },
    )
    measurement.finish(directory / "model", versions("dyparse", "torch", "numba"))


def run(job: Job, overrides: list[str]) -> None:
    """Run a training as train.py does."""
    from dyparse.training.run import train

    files = [f"treebank.{split}={getattr(job, split)}" for split in ("train", "dev", "test")]
    machine = ["device=cpu", "threads=1", "resume=false", f"seed={job.seed}"]
    given = [*job.options["overrides"], "treebank=files", *files, *machine, *overrides]
    train(config(given))


class TrainedError(Exception):
    """Training is over; the rest of train.py does not matter here."""


def hook(measurement: Measurement, job: Job, last: list[Any]) -> None:
    """Report the start and the end of training and every step; take dev off the clock."""
    from dyparse.training import loop, run
    from dyparse.training.session import Session

    step, follow_training, dev_figures = Session.step, run.follow_training, loop.dev_figures

    @functools.wraps(step)
    def measured_step(self: Any, batch: Any, *others: Any, **options: Any) -> Any:
        result = step(self, batch, *others, **options)
        last[:] = [self]
        words = int(batch.inputs.words.sum())
        measurement.updated(words, lambda path: parse_file(self.averaged_parser(), job, path))
        return result

    def measured_training(*arguments: Any) -> Any:
        measurement.start()
        follow_training(*arguments)
        raise TrainedError

    def uncounted_dev(*arguments: Any) -> Any:
        with measurement.off_the_clock():
            return dev_figures(*arguments)

    for place, name, measured in (
        (Session, "step", measured_step),
        (loop, "dev_figures", uncounted_dev),
        (run, "follow_training", measured_training),
    ):
        setattr(place, name, measured)


def read_test(job: Job) -> list[Any]:
    """The sentences of test."""
    from dyparse.data.conllu import read_sentences

    return list(read_sentences(job.test, trees=False))


def parse_file(parser: Any, job: Job, path: Path) -> None:
    """Parse test, from CoNLL-U to CoNLL-U."""
    from dyparse.data.conllu import read_sentences

    with path.open("wb") as out:
        for sentence in parser.parse_sentences(read_sentences(job.test, trees=False)):
            out.write(sentence.to_conllu().encode())


if __name__ == "__main__":
    main()

"""dyparse from raw text: a model that was trained before, or an experiment trained here.

Training is all epochs, with dev; reading, compiling and the tokenizer come before it, and the table
adds them. Of a model that was trained before only its run knows the seconds of training, and these
are wall time. Parsing is from text to CoNLL-U with the loaded model.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dyparse_itself import TrainedError, overrides_by_name, run
from measurement import TEXT, Job, Measurement, Row, read_job, versions

REQUIREMENTS = ()  # it runs in the environment of the driver
RESULT = "result.json"  # of a run, beside its model


def rows(experiments: list[str], models: list[Path]) -> tuple[Row, ...]:
    """Lines of the table: experiments to train, by name, and models by directory."""
    trained = [
        Row(f"dyparse-text-{name}", f"dyparse, {name}", "text", {"overrides": overrides})
        for name, overrides in overrides_by_name(experiments).items()
    ]
    given = [
        Row(
            f"dyparse-model-{number}",
            f"dyparse, {path}",
            "text",
            {"model": str(path.absolute())},
        )
        for number, path in enumerate(models, 1)
    ]
    return (*trained, *given)


def main() -> None:
    from dyparse.runtime.entry import limit_shape_caches

    limit_shape_caches()  # before torch is imported, as `dyparse train` does
    job = read_job()
    measurement = Measurement(job)
    model = train(job, measurement) if "overrides" in job.options else given(job, measurement)
    parser = load(model)
    timed = Path(job.directory) / "timed.conllu"
    parse = partial(parse_text, parser, Path(job.test))
    measurement.parsed(parse, {TEXT: partial(parse, timed)})
    measurement.finish(model, versions("dyparse", "torch", "numba"))


def load(model: Path) -> Any:
    """The parser, on one thread."""
    from dyparse.parsing.settings import Settings, load_parser

    return load_parser(Settings(model=str(model), threads=1))


def parse_text(parser: Any, source: Path, path: Path) -> None:
    """Parse a text to CoNLL-U, as `dyparse parse MODEL FILE.txt` does."""
    from dyparse.parsing.chunks import parse_blocks
    from dyparse.parsing.reading import TEXT, read_files
    from dyparse.parsing.settings import Settings
    from dyparse.parsing.stream import Totals, write_sentences

    settings = Settings(model="", input_format=TEXT)
    files = read_files([str(source)], TEXT)
    with path.open("wb") as out:
        write_sentences(parse_blocks(parser, files, settings, Totals()), out)


def train(job: Job, measurement: Measurement) -> Path:
    """Train an experiment on the files of the job; the directory of its model."""
    from dyparse.training import run as training

    follow_training = training.follow_training

    def measured_training(*arguments: Any) -> Any:
        measurement.start()
        follow_training(*arguments)
        raise TrainedError

    directory = Path(job.directory)
    job = replace(job, test=job.dev)  # train.py would refuse a text
    few = ["trainer.epochs=1", "trainer.max_sentences=40", f"output={directory / 'warm_up'}"]
    run(job, few)
    setattr(training, "follow_training", measured_training)  # noqa: B010 - mypy: not exported
    try:
        run(job, [f"output={directory}"])
    except TrainedError:
        measurement.trained("all epochs, or no better dev score for long")
    return directory / "model"


def given(job: Job, measurement: Measurement) -> Path:
    """The directory of a model; its training took no CPU second that was measured here."""
    model = Path(job.options["model"])
    measurement.start()
    found = [d / RESULT for d in (model, model.parent) if (d / RESULT).exists()]
    how = "trained before"
    if found:
        seconds = sum(epoch["seconds"] for epoch in json.loads(found[0].read_bytes())["curve"])
        how += f", {seconds:,.0f} wall seconds without dev"
    measurement.ended(0.0, how, complete=True)
    return model


if __name__ == "__main__":
    main()

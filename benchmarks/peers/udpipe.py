"""UDPipe 1: the parser alone (Parsito), arc-standard, with gold words, UPOS and FEATS, or with
words alone: embeddings of width 0 for the tags.

Training is one opaque call, and its learning rate depends on the number of iterations. So there is
one training for each moment, with as many iterations as fit; the CPU seconds are those of the call,
including the reading of words. The end is the default of ten iterations, or what fits into the
minutes. Training speed is the slope between the shortest and the longest call, which excludes the
preparation. No dev data: without it UDPipe stops at the last iteration. By default it parses with a
beam of 5; `greedy` is the same model with a beam of 1.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from measurement import CONLLU, MEMORY, CpuClock, Job, Measurement, Row, read_job, versions

REQUIREMENTS = (("ufal.udpipe==1.4.0.1",),)
ORACLES = ("static", "dynamic")
ROWS = (
    *(
        Row(
            f"udpipe-{oracle}",
            f"UDPipe 1, projective, {oracle} oracle, beam 5",
            "words, UPOS, FEATS",
            {"oracle": oracle},
        )
        for oracle in ORACLES
    ),
    *(
        Row(
            f"udpipe-{oracle}-no-tags",
            f"UDPipe 1, projective, {oracle} oracle, beam 5, no tags",
            "words",
            {"oracle": oracle, "embeddings": ["embedding_upostag=0", "embedding_feats=0"]},
        )
        for oracle in ORACLES
    ),
)
ITERATIONS = 10  # UDPipe's default
GREEDY = "beam_search=1"


def main() -> None:
    from ufal import udpipe  # type: ignore[import-not-found]  # in its own environment

    job = read_job()
    measurement = Measurement(job)
    train = read(udpipe, Path(job.train).read_text(encoding="utf-8"))
    measurement.start()
    trainings = Trainings(udpipe, train, job)
    for moment in measurement.moments:
        iterations = trainings.iterations_in(60 * moment)
        model, seconds = trainings.take(iterations)
        measurement.words = iterations  # distinguishes the models
        measurement.snapshot(moment, seconds, partial(parse_file, udpipe, model, job, ""))
        measurement.snapshots[-1]["iterations"] = iterations
    iterations = trainings.iterations_in(60 * job.minutes)
    model, seconds = trainings.take(iterations)
    is_all = iterations == ITERATIONS
    reason = f"all {ITERATIONS} iterations" if is_all else f"{iterations} iterations, as fit"
    measurement.ended(seconds, reason, complete=is_all)
    measurement.record_training(*trainings.slope())
    for name, options in (("", ""), ("greedy", GREEDY)):
        parse = partial(parse_file, udpipe, model, job, options)
        measurement.parsed(parse, ways(udpipe, model, job, options), other=name)
    measurement.finish(trainings.path(iterations), versions("ufal.udpipe"))


class Trainings:
    """Trainings with different numbers of iterations, each run once."""

    def __init__(self, udpipe: Any, train: Any, job: Job) -> None:
        self.udpipe, self.train, self.job = udpipe, train, job
        self.seconds: dict[int, float] = {}

    def path(self, iterations: int) -> Path:
        return Path(self.job.directory) / f"{iterations}-iterations.udpipe"

    def iterations_in(self, seconds: float) -> int:
        """How many iterations fit, judging by those so far; from one to the default."""
        if not self.seconds:
            self.take(1)
        done = max(self.seconds)
        # may take a tenth longer
        fitting = int(1.1 * seconds / (self.seconds[done] / done))
        return min(max(1, fitting), ITERATIONS)

    def take(self, iterations: int) -> tuple[Any, float]:
        """The model after this many iterations, and the CPU seconds of its training."""
        if iterations not in self.seconds:
            clock, error = CpuClock(), self.udpipe.ProcessingError()
            options = [
                f"iterations={iterations}",
                "transition_system=projective",
                f"transition_oracle={self.job.options['oracle']}",
                *self.job.options.get("embeddings", []),
            ]
            nothing = self.udpipe.Sentences()
            content = self.udpipe.Trainer.train(
                "morphodita_parsito", self.train, nothing, "none", "none", ";".join(options), error
            )
            if error.occurred():
                raise RuntimeError(error.message)
            self.seconds[iterations] = clock.seconds()
            self.path(iterations).write_bytes(content)
        return self.udpipe.Model.load(str(self.path(iterations))), self.seconds[iterations]

    def slope(self) -> tuple[int, float]:
        """Training words and CPU seconds, between the shortest and the longest training."""
        fewest, most = min(self.seconds), max(self.seconds)
        if fewest == most:
            return most * self.job.train_words, self.seconds[most]
        spent = self.seconds[most] - self.seconds[fewest]
        return (most - fewest) * self.job.train_words, spent


def ways(udpipe: Any, model: Any, job: Job, options: str) -> dict[str, Any]:
    """Its two interfaces: CoNLL-U to CoNLL-U, and sentence objects of the library."""
    sentences = read(udpipe, Path(job.test).read_text(encoding="utf-8"))
    path = Path(job.directory) / "timed.conllu"
    return {
        CONLLU: lambda: parse_file(udpipe, model, job, options, path),
        MEMORY: lambda: [model.parse(sentence, options) for sentence in sentences],
    }


def parse_file(udpipe: Any, model: Any, job: Job, options: str, path: Path) -> None:
    """Parse test, from CoNLL-U to CoNLL-U."""
    error = udpipe.ProcessingError()
    no_tagger = udpipe.Pipeline.NONE
    pipeline = udpipe.Pipeline(model, "conllu", no_tagger, options, "conllu")
    text = pipeline.process(Path(job.test).read_text(encoding="utf-8"), error)
    if error.occurred():
        raise RuntimeError(error.message)
    path.write_text(text, encoding="utf-8")


def read(udpipe: Any, text: str) -> Any:
    """The sentences of a CoNLL-U text."""
    reader, sentences = udpipe.InputFormat.newInputFormat("conllu"), udpipe.Sentences()
    reader.setText(text)
    error, sentence = udpipe.ProcessingError(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    if error.occurred():
        raise RuntimeError(error.message)
    return sentences


if __name__ == "__main__":
    main()

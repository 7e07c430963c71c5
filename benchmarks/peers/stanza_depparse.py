"""Stanza: its graph-based (biaffine) and its transition-based parser.

Both run without pretrained vectors and without a character language model, which would have to be
downloaded; the character LSTM is on. Without tags it reads no lemmas either; it cannot drop these
from its input, so that they are `_`.

Stanza's own training runs with its defaults (`stanza.models.parser`). A hook on its update counts
words and parses test at the moments; parsing dev, every 100 updates, is off the clock. An update
has 5000 words, so the slow transition parser may reach a moment much too late: the table then gives
the time. The end is the best model on dev, or the last if the minutes were over. Parsing is
CoNLL-U to CoNLL-U by Stanza's reader and writer, and in memory with words that are read already.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from conllu_columns import without_tags
from measurement import CONLLU, MEMORY, Job, Measurement, OutOfTimeError, Row, read_job, versions

REQUIREMENTS = (("torch=={torch}",), ("stanza==1.15.0",))
KINDS = ("graph", "transition")
ROWS = (
    *(
        Row(
            f"stanza-{kind}",
            f"Stanza, {kind}-based",
            "words, characters, lemmas, UPOS, XPOS, FEATS",
            {"model_type": kind},
        )
        for kind in KINDS
    ),
    *(
        Row(
            f"stanza-{kind}-no-tags",
            f"Stanza, {kind}-based, no tags",
            "words, characters",
            {"model_type": kind, "flags": ["--no_upos", "--no_xpos", "--no_ufeats"]},
        )
        for kind in KINDS
    ),
)


def main() -> None:
    import stanza.models.parser as program  # type: ignore[import-not-found]  # own environment
    import torch
    from stanza.models.depparse import trainer as trainers  # type: ignore[import-not-found]  # as above

    torch.set_num_threads(1)
    job = read_job()
    if "flags" in job.options:
        job = without_tags(job)
    measurement = Measurement(job)
    current: list[Any] = []  # the trainer that was updated last
    hook_updates(trainers, measurement, current, job)
    program.predict_dataset = off_the_clock(program.predict_dataset, measurement)
    arguments = command_line(job)
    try:
        program.main(arguments)
        measurement.trained("converged: 2000 updates without a better dev score")
        trainer = trainers.Trainer.load(filename=model_file(job), pretrain=None, device="cpu")
    except OutOfTimeError:
        measurement.out_of_time()
        trainer = current[0]
        trainer.save(model_file(job))
    read = read_test(trainer, job)
    path = Path(job.directory) / "timed.conllu"
    measurement.parsed(
        lambda path: parse_file(trainer, job, path),
        {
            CONLLU: lambda: parse_file(trainer, job, path),
            MEMORY: lambda: predict(trainer, read),
        },
    )
    measurement.finish(Path(model_file(job)), versions("stanza", "torch"))


def model_file(job: Job) -> str:
    return str(Path(job.directory) / "model.pt")


def command_line(job: Job) -> list[str]:
    """Options of Stanza's program: files, and nothing that needs a download."""
    options = {
        "--train_file": job.train,
        "--eval_file": job.dev,
        "--save_dir": job.directory,
        "--save_name": "model.pt",
        "--lang": "en",
        "--shorthand": "en_peer",
        "--model_type": job.options["model_type"],
        "--seed": str(job.seed),
        "--device": "cpu",
    }
    flags = ["--no_pretrain", "--no_checkpoint", *job.options.get("flags", [])]
    return [part for pair in options.items() for part in pair] + flags


def hook_updates(trainers: Any, measurement: Measurement, current: list[Any], job: Job) -> None:
    """Report every update of Stanza's training; the clock starts with the first."""
    update = trainers.Trainer.update

    @functools.wraps(update)
    def measured_update(self: Any, batch: Any, **options: Any) -> Any:
        if not current:
            measurement.start()
        current[:] = [self]
        result = update(self, batch, **options)
        measurement.updated(words_of(batch), lambda path: parse_file(self, job, path))
        return result

    trainers.Trainer.update = measured_update


def words_of(batch: Any) -> int:
    """Words of a batch of training; the last part of the tuple is the text."""
    return sum(len(words) for words in batch[-1])


def off_the_clock(function: Any, measurement: Measurement) -> Any:
    """The function, not counted as training."""

    @functools.wraps(function)
    def uncounted(*arguments: Any, **options: Any) -> Any:
        with measurement.off_the_clock():
            return function(*arguments, **options)

    return uncounted


def read_test(trainer: Any, job: Job) -> Any:
    """Test as batches of numbers."""
    from stanza.models.depparse.data import DataLoader  # type: ignore[import-not-found]  # as above
    from stanza.utils.conll import CoNLL  # type: ignore[import-not-found]  # as above

    document = CoNLL.conll2doc(input_file=job.test)
    size = trainer.args["batch_size"]
    return DataLoader(
        document,
        size,
        trainer.args,
        None,
        vocab=trainer.vocab,
        evaluation=True,
        sort_during_eval=True,
    )


def predict(trainer: Any, batches: Any) -> Any:
    """Heads and labels of all words."""
    from stanza.models.depparse.utils import predict_dataset  # type: ignore[import-not-found]  # as above

    return predict_dataset(trainer, batches)


def parse_file(trainer: Any, job: Job, path: Path) -> None:
    """Parse test, from CoNLL-U to CoNLL-U."""
    from stanza.utils.conll import CoNLL

    batches = read_test(trainer, job)
    trees = predict(trainer, batches)
    batches.doc.set(["head", "deprel"], [word for sentence in trees for word in sentence])
    CoNLL.write_doc2conll(batches.doc, str(path))


if __name__ == "__main__":
    main()

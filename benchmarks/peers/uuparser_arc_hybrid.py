"""UUParser: arc-hybrid with swap and a dynamic oracle over a BiLSTM of words, characters and tags
(Kiperwasser & Goldberg 2016; de Lhoneux et al. 2017), on DyNet.

Its own training of an epoch runs; a hook on its optimizer counts words and parses test at the
moments. Default sizes, and gold UPOS as embeddings of width 20, which are off by default and in
`uuparser-no-tags`. The end is its default of 30 epochs, or the end of the minutes. Parsing is
CoNLL-U to CoNLL-U. DyNet's own package has no wheels for current versions of Python; dyNET38 is a
build of the same library.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

from measurement import CONLLU, Job, Measurement, OutOfTimeError, Row, read_job, versions

REQUIREMENTS = (
    ("dyNET38==2.2", "h5py", "loguru", "tqdm"),
    ("--no-deps", "uuparser==2.4"),  # it asks for `dynet`, which dyNET38 stands in for
)
ROWS = (
    Row(
        "uuparser",
        "UUParser, arc-hybrid, dynamic oracle",
        "words, characters, UPOS",
        {"arguments": ["--pos-emb-size", "20"]},
    ),
    Row(
        "uuparser-no-tags",
        "UUParser, arc-hybrid, dynamic oracle, no tags",
        "words, characters",
        {"arguments": []},
    ),
)
EPOCHS = 30  # UUParser's default


def main() -> None:
    job = read_job()
    measurement = Measurement(job)
    directory = Path(job.directory)
    options, treebanks = prepare(job)

    import dynet  # type: ignore[import-not-found]  # in its own environment
    from uuparser import utils  # type: ignore[import-not-found]  # as above
    from uuparser.arc_hybrid import ArcHybridLSTM  # type: ignore[import-not-found]  # as above

    parser = ArcHybridLSTM(utils.get_vocab(treebanks, "train"), options)

    def parse(path: Path) -> None:
        treebanks[0].outfilename = str(path)
        utils.write_conll_multiling(list(parser.Predict(treebanks, "test", options)), treebanks)

    watch(parser, measurement, parse)
    measurement.start()
    try:
        for _ in range(EPOCHS):
            parser.Train(list(utils.read_conll_dir(treebanks, "train")), options)
        measurement.trained(f"all {EPOCHS} epochs")
    except OutOfTimeError:
        measurement.out_of_time()
        dynet.renew_cg()
    model = directory / "model"
    parser.Save(str(model))
    timed = directory / "timed.conllu"
    measurement.parsed(parse, {CONLLU: lambda: parse(timed)})
    measurement.finish(model, versions("uuparser", "dyNET38"))


def prepare(job: Job) -> tuple[Any, Any]:
    """Its options and treebanks, from its command line, which also sets up DyNet before its import.

    The defaults are nowhere else, so the command line runs up to where work starts.
    """
    import uuparser.parser as program  # type: ignore[import-not-found]  # as above

    found: list[tuple[Any, Any]] = []
    program.run = lambda experiment, options: found.append((options, experiment.treebanks))
    files = ["--trainfile", job.train, "--devfile", job.dev, "--testfile", job.test]
    quiet = ["--outdir", job.directory, "--quiet", "--disable-pred-dev"]
    seed = ["--dynet-seed", str(job.seed)]
    sys.argv = ["uuparser", *files, *quiet, *seed, *job.options["arguments"]]
    program.main()
    return found[0]


def watch(parser: Any, measurement: Measurement, parse: Any) -> None:
    """Count the words that training reads, and report every update."""
    words = [0]
    embed = parser.feature_extractor.getWordEmbeddings

    @functools.wraps(embed)
    def counted(sentence: Any, train: bool, *others: Any) -> Any:  # noqa: FBT001 - its signature
        words[0] += len(sentence) - 1 if train else 0  # without the root
        return embed(sentence, train, *others)

    class Optimizer:
        """DyNet's optimizer in a wrapper: its own methods cannot be replaced."""

        def __init__(self, optimizer: Any) -> None:
            self.optimizer = optimizer

        def update(self) -> None:
            self.optimizer.update()
            new, words[0] = words[0], 0
            measurement.updated(new, parse)

    parser.feature_extractor.getWordEmbeddings = counted
    parser.trainer = Optimizer(parser.trainer)


if __name__ == "__main__":
    main()

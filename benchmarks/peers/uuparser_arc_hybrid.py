"""UUParser: arc-hybrid with swap and a dynamic oracle over a BiLSTM of words, characters and tags
(Kiperwasser & Goldberg 2016; de Lhoneux et al. 2017), on DyNet.

Its own training of an epoch runs; a hook on the update of its optimizer counts words and parses
test at the moments. Default sizes, and gold UPOS as vectors of 20, which are off by default. The
end is its default of 30 epochs, or the minutes. Parsing is CoNLL-U to CoNLL-U. DyNet's own
package has no wheels for today's Python; dyNET38 is the same library, built.
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
    """The options and treebanks as its command line makes them; DyNet is set up before its import.

    Its command line is the only place with the defaults, so it is run up to where work begins.
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
    """Count the words of the sentences read in training, and hear of every update."""
    words = [0]
    embed = parser.feature_extractor.getWordEmbeddings

    @functools.wraps(embed)
    def counted(sentence: Any, train: bool, *others: Any) -> Any:  # noqa: FBT001 - its signature
        words[0] += len(sentence) - 1 if train else 0  # the root is no word
        return embed(sentence, train, *others)

    class Optimizer:
        """DyNet's, which cannot be changed itself."""

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

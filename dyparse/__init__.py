"""Greedy neural dependency parsing with exact dynamic oracles.

run = dyparse.train("trainer.epochs=10", treebank="sample")
parser = dyparse.load(run.model)
print(parser("The dog barks. It sleeps."))
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyparse.version import __version__

if TYPE_CHECKING:
    from dyparse.comparison.summary import Summary
    from dyparse.data.sentence import Sentence
    from dyparse.evaluation.evaluate import Report
    from dyparse.model.parser import Parser
    from dyparse.training.run_directory import TrainedRun

__all__ = ["Sentence", "__version__", "compare", "evaluate", "load", "train"]


def __getattr__(name: str) -> Any:
    """`dyparse.Sentence`, imported when it is first used: `import dyparse` takes no time."""
    if name == "Sentence":
        from dyparse.data.sentence import Sentence

        return Sentence
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load(
    directory: "str | Path | TrainedRun",
    device: str = "cpu",
    *,
    precision: str | None = None,
    keep: Sequence[str] = (),
    confidence: bool = False,
) -> "Parser":
    """The parser of a run, or saved in a model directory or in the directory of a run.

    It may also be the name of an installed package with a model, or `hf://OWNER/NAME`, a model on
    the Hugging Face Hub (`hf://OWNER/NAME@REVISION` for a branch, tag or commit).
    `dyparse.errors.CheckpointError` says what is wrong with one. Columns to keep, of upos, xpos,
    feats and lemma, stay as they are given, where the model would replace them. With `confidence`,
    tokens also have `head_confidence` and `label_confidence`, the probabilities that head and label
    are right. The precision is that of `dyparse parse --precision`; if none is given, compiled
    kernels serve where they can, without torch, in int8 where the processor can, else torch in
    float32, which gives the same trees on every machine.
    """
    from dyparse.runtime.entry import collecting_no_garbage, limit_shape_caches

    limit_shape_caches()  # before torch is imported
    with collecting_no_garbage():
        from dyparse.model.parser import Parser  # only here: `import dyparse.system` has no torch

        place = _model_directory(directory)
        parser = Parser.load(place, device, precision or "auto", keep=keep, confidence=confidence)
    if precision is None and not parser.is_compiled:
        return replace(parser, precision="float32")
    return parser


def train(*overrides: str, **options: Any) -> "TrainedRun":
    """Train a parser with the options of `dyparse train`; it prints what that prints.

        run = dyparse.train("trainer=debug", treebank="sample", system="attardi", seed=2)
        run.scores["dev"]["las"], run.curve, run.parser

    A run with the same options that is finished already is not trained again. Training seeds the
    random generators of Python, numpy and torch. DyparseError, and
    its subclasses in `dyparse.errors`, say what is wrong with options or treebank.
    """
    from dyparse.config.extras import require_training
    from dyparse.runtime.entry import limit_shape_caches

    limit_shape_caches()  # before torch is imported
    require_training("dyparse.train", "hydra", "torch")
    from dyparse.training.run import train_with

    return train_with(overrides, options)


def evaluate(
    model: "str | Path | TrainedRun",
    treebank: str | Path = "sample",
    split: str = "test",
    **options: Any,
) -> "Report":
    """The scores of a saved parser on a treebank, with the options of `dyparse evaluate`.

    print(dyparse.evaluate(run.model, "ud/UD_English-LinES").all_words.las)
    print(dyparse.evaluate(run.model, "ud/UD_English-LinES", text=True).las.f1)
    """
    from dyparse.config.extras import require_training

    require_training("dyparse.evaluate", "hydra", "torch")
    from dyparse.evaluation.evaluate import evaluate_with

    place = _model_directory(model)
    return evaluate_with({"model": place, "treebank": treebank, "split": split, **options})


def compare(
    *overrides: str,
    axes: Mapping[str, Sequence[Any]] | None = None,
    output: str | Path = "compare",
    experiment: str = "static_vs_dynamic",
    jobs: int | None = None,
) -> "Summary":
    """Train a grid of parsers, as `dyparse compare` does, and report on them.

        axes = {"system": ["arc_eager"], "exploration": ["static", "explore"], "seed": [1, 2]}
        print(dyparse.compare("trainer=debug", axes=axes, experiment="none"))

    Axes are system, exploration, loss, treebank and seed; those that are not given are the
    experiment's. Cells that are finished already are not trained again; a cell that fails is a
    warning. Cells run in processes of their own: in a script, call this below
    `if __name__ == "__main__":`.
    """
    from dyparse.config.extras import require_training
    from dyparse.runtime.launch import exit_in_imported_script

    exit_in_imported_script()
    require_training("dyparse.compare", "hydra", "torch", "matplotlib", "jinja2")
    from dyparse.comparison.experiment import compare_with  # it imports torch, which is slow

    return compare_with(overrides, axes or {}, Path(output), experiment, jobs)


def _model_directory(model: Any) -> str | Path:
    """The directory of a run or model; TypeError for anything else."""
    place = getattr(model, "directory", model)  # of a run
    if isinstance(place, str | Path):
        return place
    raise TypeError(
        f"the model is {model!r}, expected the directory of a model or of its run, or what "
        "dyparse.train returns; a parser is saved with parser.save(directory, {})"
    )

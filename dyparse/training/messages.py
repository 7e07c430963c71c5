"""The lines that a training prints."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import torch

from dyparse.config.choices import for_hydra, name_of, options_given
from dyparse.data.columns.pseudo_projective import AS_IT_IS
from dyparse.errors import TreebankError
from dyparse.model.parser import Parser
from dyparse.training.distributed import World
from dyparse.training.session import TrainingPlan
from dyparse.treebank import Treebank
from dyparse.treebank._names import with_named_treebanks

ACCURACY = "_accuracy"  # ends the names of figures of tags


def describe_run(parser: Parser, plan: TrainingPlan, place: str) -> str:
    """The model, its data and its device, in two lines."""
    names = ", ".join(map(name_of, (parser.system, plan.exploration, plan.loss)))
    if parser.projectivity != AS_IT_IS:
        names += f", projectivity {parser.projectivity}"
    parameters = sum(p.numel() for p in parser.model.parameters())
    return (
        f"          {len(plan.train)} sentences, {sum(map(len, plan.train))} words to "
        f"train on; {len(plan.dev)} sentences of dev\n"
        f"parser    {names}; {parameters / 1e6:.2f} million parameters on {place}"
    )


def place(device: torch.device, world: World) -> str:
    """The device of a training, with its threads and processes."""
    threads = torch.get_num_threads()
    name = str(device)
    if device.type == "cpu":
        name += f", {threads} thread{'s' * (threads > 1)}"
    return name if world.size == 1 else f"{world.size} processes ({name} each)"


def tokenizer_line(curve: Sequence[dict[str, float]], seconds: float) -> str:
    """The training of a tokenizer in one line, with its best scores on dev."""
    names = ("tokens", "sentences", "words")
    best = max(curve, key=lambda figures: sum(figures.get(name, 0.0) for name in names))
    scores = [f"{name} {best[name]:.2f}" for name in names if name in best]
    on_dev = f"dev F1: {', '.join(scores)}; " if scores else ""
    return f"tokenizer {on_dev}trained in {seconds:.0f} s"


def epoch_line(figures: dict[str, float], epochs: int) -> str:
    """One epoch in one line."""
    return (
        f"epoch {figures['epoch']:>3}/{epochs}   loss {figures['loss']:.4f}   "
        f"cost/state {figures['cost_per_state']:.4f}   "
        f"dev UAS {figures['dev_uas']:.2f}  LAS {figures['dev_las']:.2f}   "
        f"{_of_tags(figures)}{figures['tokens_per_second']:,.0f} tokens/s"
    )


def _of_tags(figures: dict[str, float]) -> str:
    """The accuracy of the universal tags, if they are predicted."""
    accuracy = figures.get(f"dev_upos{ACCURACY}")
    return "" if accuracy is None else f"UPOS {accuracy:.2f}   "


def result_table(results: dict[str, dict[str, float]]) -> str:
    """Results per split, for the terminal."""
    found = (name for figures in results.values() for name in figures)
    names = ["uas", "las", *dict.fromkeys(name for name in found if name.endswith(ACCURACY))]
    titles = [name.removesuffix(ACCURACY).upper() for name in names]
    widths = [max(6, len(title)) for title in titles]
    head = "  ".join(f"{title:>{width}}" for title, width in zip(titles, widths, strict=True))
    rows = ["", f"split   {head}   sentences/s"]
    rows.append(f"-----   {'  '.join('-' * width for width in widths)}   -----------")
    for split, figures in results.items():
        shown = [f"{figures[name]:.2f}" if name in figures else "-" for name in names]
        cells = "  ".join(f"{cell:>{width}}" for cell, width in zip(shown, widths, strict=True))
        rows.append(f"{split:<5}   {cells}   {_speed(figures):>11}")
    return "\n".join([*rows, ""])


def _speed(figures: dict[str, float]) -> str:
    """Sentences per second, or a dash if they were not measured."""
    speed = figures.get("sentences_per_second")
    return "-" if speed is None else f"{speed:,.0f}"


def _as_typed(options: list[str], given: dict[str, str]) -> list[str]:
    """Options that choose a UD treebank, by its directory if that means the same."""
    short = f"treebank={for_hydra(str(Path(given['root']) / given['name']))}"
    try:
        long = with_named_treebanks([short])
    except TreebankError:  # it is not there any more
        return options
    return [short, *options[len(long) :]] if options[: len(long)] == long else options


def next_commands(
    model: Path, treebank: Treebank, imports: Sequence[str] = (), *, split: str = "test"
) -> str:
    """Where the model is, and commands to use it and to evaluate it on a split; imports are modules
    outside the package that it needs.
    """
    name = name_of(treebank)
    choice, add = (f"treebank._target_={name}", "+") if "." in name else (f"treebank={name}", "")
    given = {key: str(value) for key, value in options_given(treebank) if value is not None}
    options = [f"{add}treebank.{key}={for_hydra(value)}" for key, value in given.items()]
    if name == "ud":
        choice, *options = _as_typed([choice, *options], given)
    needed = [f"imports=[{','.join(imports)}]"] if imports else []
    on_split = [] if split == "test" else [f"split={split}"]
    chosen = [f"model={for_hydra(str(model))}", choice, *options, *on_split, *needed]
    evaluate = shlex.join(["dyparse", "evaluate", *chosen])
    named = [word for module in imports for word in ("--import", module)]
    parse = shlex.join(["dyparse", "parse", *named, str(model), "FILE.txt"])
    return f"model     {model}\nparse     {parse}\nevaluate  {evaluate}"

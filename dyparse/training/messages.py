"""What a training tells on the terminal."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import torch

from dyparse.config.choices import for_hydra, name_of, options_given
from dyparse.model.parser import Parser
from dyparse.training.distributed import World
from dyparse.training.session import Lesson
from dyparse.treebank import Treebank


def describe_run(parser: Parser, lesson: Lesson, choices: dict[str, str], place: str) -> str:
    """What is trained, on what, where."""
    parameters = sum(p.numel() for p in parser.model.parameters())
    return (
        f"          {len(lesson.train)} sentences, {sum(map(len, lesson.train))} words to "
        f"learn from; {len(lesson.dev)} sentences of dev\n"
        f"parser    {choices['system']}, {choices['exploration']}, {choices['loss']}; "
        f"{parameters / 1e6:.2f} million parameters on {place}"
    )


def place(device: torch.device, processes: World) -> str:
    """Where a training runs."""
    threads = torch.get_num_threads()
    name = str(device)
    if device.type == "cpu":
        name += f", {threads} thread{'s' * (threads > 1)}"
    return name if processes.count == 1 else f"{processes.count} processes ({name} each)"


def epoch_line(figures: dict[str, float], epochs: int) -> str:
    """One epoch in one line."""
    return (
        f"epoch {figures['epoch']:>3}/{epochs}   loss {figures['loss']:.4f}   "
        f"cost/state {figures['cost_per_state']:.4f}   "
        f"dev UAS {figures['dev_uas']:.2f}  LAS {figures['dev_las']:.2f}   "
        f"{figures['tokens_per_second']:,.0f} tokens/s"
    )


def result_table(results: dict[str, dict[str, float]]) -> str:
    """Results per split, for the terminal."""
    rows = ["", "split      UAS     LAS   sentences/s", "-----   ------  ------   -----------"]
    rows += [
        f"{split:<5}   {r['uas']:6.2f}  {r['las']:6.2f}   {r['sentences_per_second']:11,.0f}"
        for split, r in results.items()
    ]
    return "\n".join([*rows, ""])


def next_commands(model: Path, treebank: Treebank, imports: Sequence[str] = ()) -> str:
    """Where the model is, and commands to use it; imports are modules outside the package that it
    needs.
    """
    name = name_of(treebank)
    choice, add = (f"treebank._target_={name}", "+") if "." in name else (f"treebank={name}", "")
    options = [
        f"{add}treebank.{key}={for_hydra(str(value))}"
        for key, value in options_given(treebank)
        if value is not None
    ]
    needed = [f"imports=[{','.join(imports)}]"] if imports else []
    chosen = [f"model={for_hydra(str(model))}", choice, *options, *needed]
    evaluate = shlex.join(["python", "evaluate.py", *chosen])
    named = [word for module in imports for word in ("--import", module)]
    parse = shlex.join(["dyparse", "parse", *named, str(model), "FILE.conllu"])
    return f"model     {model}\nparse     {parse}\nevaluate  {evaluate}"

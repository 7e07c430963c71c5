"""`dyparse trajectories`: derivations of an oracle or a model as arrays, for imitation learning."""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from dyparse.cli.arguments import (
    ALTERNATIVE,
    MODEL,
    STDIN,
    TREEBANK,
    Commands,
    add_imports,
    add_on_error,
    chosen_system,
    input_source,
)
from dyparse.cli.sentences import tree_for_oracle
from dyparse.config.choices import PATH, import_modules, load, names
from dyparse.config.extras import require_libraries
from dyparse.config.precisions import PARSING
from dyparse.data.conllu import Source as File
from dyparse.data.malformed import read_trees
from dyparse.errors import CheckpointError, ConfigError
from dyparse.model.sources import find_model
from dyparse.parsing.settings import Settings, load_parser
from dyparse.runtime.atomic_files import require_apart
from dyparse.runtime.console import print_line, print_notice
from dyparse.treebank._names import files_of

if TYPE_CHECKING:  # it imports numba, which is slow
    from dyparse.trajectories import Derivation, Source

NPZ, PARQUET = ".npz", ".parquet"
OF_ORACLES, OF_MODELS = ("follow", "mistakes"), ("exploration", "epoch")  # options


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "trajectories",
        help="write states, moves, costs and scores of derivations as arrays",
        description="Write the derivation of every sentence of a treebank as flat arrays: states,\n"
        "legal moves, their costs by the dynamic oracle, the moves taken, and of a model the\n"
        "scores of all moves. docs/trajectories.md explains every array.",
        epilog="examples:\n"
        "  dyparse trajectories arc_eager:root=first dev.conllu -o oracle.npz\n"
        "  dyparse trajectories arc_hybrid dev.conllu --mistakes 0.1 --seed 3 -o noisy.npz\n"
        "  dyparse trajectories MODEL dev.conllu -o greedy.parquet\n"
        "  dyparse trajectories MODEL dev.conllu --exploration sample:temperature=2 -o drawn.npz",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "source",
        metavar="MODEL|SYSTEM",
        help=f"whose derivations: the oracle's of a transition system, {ALTERNATIVE}, where NAME "
        f"may be the dotted path of a class; or a model's: {MODEL}",
    )
    command.add_argument(
        "file", metavar="TREEBANK", help=f"with gold trees: {TREEBANK}; {STDIN} is standard input"
    )
    command.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=Path,
        required=True,
        help=f"write here: OUT{NPZ}, flat arrays, or OUT{PARQUET}, a row per sentence",
    )
    command.add_argument(
        "--seed", type=int, default=0, help="random seed of derivations (default: %(default)s)"
    )
    oracle = command.add_argument_group("of an oracle")
    oracle.add_argument(
        "--follow",
        choices=("canonical", "best"),
        help="take the canonical move, or any of the best moves at random (default: canonical)",
    )
    oracle.add_argument(
        "--mistakes",
        metavar="P",
        type=float,
        help="probability of a random move that costs something (default: 0)",
    )
    model = command.add_argument_group("of a model")
    model.add_argument(
        "--exploration",
        metavar="EXPLORATION",
        help=f"what chooses the moves, {ALTERNATIVE} (default: the model, greedily)",
    )
    model.add_argument(
        "--epoch",
        type=int,
        help="epoch of training that the exploration takes it for (default: 100, when first "
        "epochs are over)",
    )
    model.add_argument(
        "--device", default="cpu", help="device of the network: cpu, cuda, … (default: %(default)s)"
    )
    model.add_argument(
        "--precision",
        default="float32",
        choices=PARSING,
        help="precision of the network, as of `dyparse parse` (default: %(default)s)",
    )
    add_imports(command)
    add_on_error(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the derivations; a summary on standard output."""
    from dyparse.trajectories import derivations

    write = writer(options.output)
    if options.seed < 0:
        raise ConfigError(f"--seed is {options.seed}, expected 0 or more")
    source = chosen_source(options)
    files: list[File] = (
        [input_source(options.file)] if options.file == STDIN else [*files_of(options.file)[1]]
    )
    require_apart({"--output": options.output}, [f for f in files if isinstance(f, str | Path)])
    sentences = read_trees(files, options.on_error, print_notice, check=tree_for_oracle)
    totals = Totals()
    with tqdm(unit=" sentences", desc="derivations", leave=False, disable=None) as bar:
        found = derivations(source, sentences, seed=options.seed)
        write(options.output, source, totals.counted(found, bar.update), seed=options.seed)
    print_line(f"{totals.describe()}; in {options.output}")
    return 0


def writer(output: Path) -> Callable[..., None]:
    """Function that writes a file of this name; ConfigError if there is none."""
    from dyparse.trajectories import write_npz, write_parquet

    if output.suffix == PARQUET:
        require_libraries(f"--output {output}", "parquet", "pyarrow")
        return write_parquet
    if output.suffix != NPZ:
        raise ConfigError(f"--output is {output}, expected a name that ends in {NPZ} or {PARQUET}")
    return write_npz


def chosen_source(options: argparse.Namespace) -> "Source":
    """The oracle of a system, if there is one of this name, else a model."""
    is_oracle = names_system(options.source)
    kind = "an oracle" if is_oracle else "a model"
    right, wrong = (OF_ORACLES, OF_MODELS) if is_oracle else (OF_MODELS, OF_ORACLES)
    for name in wrong:
        if getattr(options, name) is not None:
            raise ConfigError(
                f"--{name} is {getattr(options, name)}, but {options.source} is {kind}; expected "
                f"--{' or --'.join(right)}, or none"
            )
    return oracle(options) if is_oracle else model(options)


def names_system(text: str) -> bool:
    """Whether a text names a system of the package or, where there is no model of this name, a
    class by its dotted path.
    """
    name = text.partition(":")[0]
    if name in names("system"):
        return True
    if not PATH.fullmatch(name) or os.path.lexists(text):
        return False
    try:
        find_model(name)
    except CheckpointError:
        return True
    return False


def oracle(options: argparse.Namespace) -> "Source":
    """The oracle that the options mean."""
    from dyparse.trajectories import Oracle

    given = {name: getattr(options, name) for name in OF_ORACLES}
    import_modules(options.imports)
    try:
        system = chosen_system(options.source, "SYSTEM")
    except ConfigError as error:
        if options.source.partition(":")[0] in names("system"):
            raise
        raise ConfigError(f"{error}; nor is there a model of this name") from error
    try:
        return Oracle(system, **{name: value for name, value in given.items() if value is not None})
    except ValueError as error:
        raise ConfigError(f"--{error}") from error


def model(options: argparse.Namespace) -> "Source":
    """The model that the options mean, loaded."""
    from dyparse.trajectories import Model

    given = {"epoch": options.epoch} if options.epoch is not None else {}
    if options.exploration is None and given:
        raise ConfigError("--epoch is for an exploration; name one with --exploration, or leave it")
    place = named_model(options.source)
    settings = Settings(
        model=str(place),
        device=options.device,
        precision=options.precision,
        imports=tuple(options.imports),
    )
    if options.exploration is not None:
        try:
            given["exploration"] = load("exploration", options.exploration)
        except ValueError as error:
            raise ConfigError(f"--exploration {options.exploration}: {error}") from error
    parser = load_parser(settings)
    try:
        return Model(parser, **given)
    except ValueError as error:
        raise ConfigError(f"--{error}") from error


def named_model(name: str) -> str | Path:
    """The directory of a model; CheckpointError if there is neither a model nor a system."""
    try:
        return find_model(name)
    except CheckpointError as error:
        systems = ", ".join(names("system"))
        raise CheckpointError(f"{error}; transition systems are {systems}") from error


@dataclass
class Totals:
    """Totals so far."""

    sentences: int = 0
    states: int = 0
    paid: int = 0

    def counted(
        self, derivations: Iterable["Derivation"], progress: Callable[[int], object]
    ) -> Iterator["Derivation"]:
        """The same derivations; each is counted, and calls `progress(1)`."""
        for derivation in derivations:
            self.sentences += 1
            self.states += len(derivation.move)
            self.paid += int(derivation.paid.sum())
            yield derivation
            progress(1)

    def describe(self) -> str:
        """One line."""
        return (
            f"{self.sentences:,} sentences, {self.states:,} states, moves cost {self.paid:,} arcs"
        )

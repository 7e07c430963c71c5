"""`dyparse conf`: list, print or copy the yaml files with the options of training."""

import argparse
import sys
from pathlib import Path

from dyparse.cli.arguments import Commands
from dyparse.config.extras import require_training
from dyparse.errors import ConfigError
from dyparse.runtime.atomic_files import write


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "conf",
        help="list, print or copy the yaml files with the options of training",
        description="Without arguments, list the yaml files that `dyparse train` and\n"
        "`dyparse evaluate` read their options from. With names, print these files; with -o, copy\n"
        "them to a directory, to edit them there.",
        epilog="examples:\n"
        "  dyparse conf\n"
        "  dyparse conf encoder/bilstm\n"
        "  dyparse conf -o conf && dyparse train --config-path conf\n"
        "A directory with groups of your own, such as mine/experiment/small.yaml, is added with\n"
        "  dyparse train --config-dir mine experiment=small",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "files", metavar="NAME", nargs="*", help="such as encoder/bilstm (default: all)"
    )
    command.add_argument(
        "-o", "--output", metavar="DIR", type=Path, help="copy the files to this directory"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List, print or copy."""
    require_training("dyparse conf", "hydra")
    from dyparse.config.application import config_files  # Hydra is slow to import

    known = config_files()
    chosen = [chosen_name(name, known) for name in options.files]
    if options.output:
        copy({name: known[name] for name in chosen or known}, options.output)
    elif chosen:
        for name in chosen:
            sys.stdout.write(f"# {name}\n{known[name].read_text(encoding='utf-8')}")
    else:
        listing(list(known))
    return 0


def chosen_name(name: str, known: dict[str, Path]) -> str:
    """The file that a name means; ConfigError if there is none."""
    from dyparse.config.choices import suggestion

    full = f"{name.removeprefix('conf/').removesuffix('.yaml')}.yaml"
    if full not in known:
        short = [other.removesuffix(".yaml") for other in known]
        raise ConfigError(f"there is no {full}; {suggestion(name, short)}")
    return full


def copy(files: dict[str, Path], directory: Path) -> None:
    """Copy files to a directory, in which none of them may be yet."""
    there = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not there.is_dir():
        raise ConfigError(f"--output is {directory}: {there} is no directory; choose another place")
    for name in files:
        if (directory / name).exists():
            raise ConfigError(
                f"{directory / name}: exists already and is not overwritten; remove it, or choose "
                "another directory"
            )
    for name, path in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        write(directory / name, path.read_bytes())
    sys.stdout.write(f"{len(files)} files copied to {directory}\n")


def listing(names: list[str]) -> None:
    """Print a line per group with its alternatives; files of the top level first."""
    groups: dict[str, list[str]] = {}
    for name in names:
        group, _, alternative = name.removesuffix(".yaml").rpartition("/")
        groups.setdefault(group, []).append(alternative)
    width = max(map(len, groups))
    for group, alternatives in sorted(groups.items()):
        sys.stdout.write(f"{group:{width}}  {', '.join(alternatives)}\n")

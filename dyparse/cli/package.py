"""`dyparse package`: a model as a wheel that pip installs."""

import argparse
import sys
from pathlib import Path

from dyparse.cli.arguments import (
    MODEL,
    Commands,
    add_half,
    add_imports,
    add_licence,
    checked_licence,
)
from dyparse.config.choices import import_modules
from dyparse.config.extras import require_training
from dyparse.errors import ConfigError


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "package",
        help="make a package of a model, which pip installs",
        description="Write a wheel that holds a model and requires dyparse. Where it is\n"
        "installed, `dyparse.load` and all commands take its name for a model. It holds no code,\n"
        "and the same model gives the same bytes.",
        epilog="example:\n  dyparse package MODEL --name dyparse-en-lines --version 1.0 -o dist",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("model", metavar="DIR", help=MODEL)
    command.add_argument(
        "--name", required=True, help="name of the package, such as dyparse-en-lines"
    )
    command.add_argument("--version", default="0.1.0", help="its version (default: %(default)s)")
    command.add_argument(
        "-o", "--output", metavar="DIR", type=Path, default=Path(), help="write here (default: .)"
    )
    add_half(command)
    add_licence(command)
    command.add_argument(
        "--license-file", metavar="FILE", type=Path, help="text of the licence, to be included"
    )
    add_imports(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the wheel, and print how it is used."""
    require_training("dyparse package", "torch", "packaging")
    from dyparse.model.checkpoint import in_half_precision
    from dyparse.model.checkpoint_files import ModelFiles, require_directory
    from dyparse.model.sources import find_model, normalized
    from dyparse.publishing.card import Described, model_card, summary
    from dyparse.publishing.wheel import Wheel

    licence, name = checked_licence(options.license), normalized(options.name)
    text = options.license_file
    Wheel(options.name, options.version, "", "")  # its own errors, before any work
    if not options.output.is_dir():
        raise ConfigError(f"--output is {options.output}, no directory; create it first")
    import_modules(options.imports)
    directory = require_directory(find_model(options.model))
    model = Described.read(directory)
    wheel = Wheel(
        name=options.name,
        version=options.version,
        summary=summary(model),
        readme=model_card(model, name, name, licence).page,
        requirement=model.requirement(),
        licence=licence,
        licence_file=(text.name, text.read_bytes()) if text else None,
    )
    contents = ModelFiles.open(directory).contents()
    path = wheel.write(options.output, in_half_precision(contents) if options.half else contents)
    sys.stdout.write(
        f"{path}\ninstall it with: pip install {path}\nload it with: dyparse.load('{name}')\n"
    )
    return 0

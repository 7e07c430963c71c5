"""`dyparse push`: upload a model with a model card to the Hugging Face Hub."""

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
from dyparse.config.extras import require_libraries


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "push",
        help="upload a model with a model card to the Hugging Face Hub",
        description="Upload a model to the Hugging Face Hub, with a README.md made from its run:\n"
        "scores, commands to use it and to train it again, limits. Model and card are one commit.\n"
        "`dyparse.load` and all commands then take hf://OWNER/NAME for a model.",
        epilog="Log in first with `hf auth login`, or set HF_TOKEN. Look at the card before:\n"
        "  dyparse push MODEL me/dyparse-en-lines --dry-run\n"
        "  dyparse push MODEL me/dyparse-en-lines --license CC-BY-SA-4.0",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("model", metavar="DIR", help=MODEL)
    command.add_argument(
        "repository", metavar="OWNER/NAME", help="repository; it is made if there is none"
    )
    command.add_argument("--private", action="store_true", help="make a new repository private")
    command.add_argument("--revision", metavar="BRANCH", help="branch to upload to (default: main)")
    add_half(command)
    add_licence(command)
    add_imports(command)
    command.add_argument(
        "--dry-run", action="store_true", help="print the card and the files, and send nothing"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Upload model and card, and print their address."""
    require_libraries("dyparse push", "train,hub", "torch", "packaging")
    from dyparse.model.checkpoint import in_half_precision
    from dyparse.model.checkpoint_files import ModelFiles, require_directory
    from dyparse.model.hub import HubModel
    from dyparse.model.sources import find_model
    from dyparse.publishing.card import Described, model_card
    from dyparse.publishing.upload import CARD, require_repository, upload

    target = HubModel(require_repository(options.repository), options.revision)
    licence = checked_licence(options.license)
    import_modules(options.imports)
    directory: Path = require_directory(find_model(options.model))
    model = Described.read(directory)
    card = model_card(model, str(target), model.requirement("hub"), licence)
    contents = ModelFiles.open(directory).contents()
    files = in_half_precision(contents) if options.half else contents
    files[CARD] = str(card).encode()
    if options.dry_run:
        sizes = "".join(f"{len(content):>12,} {name}\n" for name, content in files.items())
        sys.stdout.write(f"{card}\n--- to {target}, not sent:\n{sizes}")
        return 0
    address = upload(target, files, private=options.private)
    sys.stdout.write(f"{address}\nload it with: dyparse.load('{target}')\n")
    return 0

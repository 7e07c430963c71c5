"""`dyparse download`: one treebank of a Universal Dependencies release."""

import argparse
import sys

from dyparse.cli.arguments import Commands
from dyparse.config.choices import for_hydra
from dyparse.config.extras import require_training
from dyparse.treebank._download import MAX_BYTES, RECORD, RELEASE, URL, download


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "download",
        help="download one treebank of a Universal Dependencies release",
        description="Download one treebank of a UD release, for\n"
        "`dyparse train treebank=DIR/NAME` and other commands.",
        epilog="If the connection breaks off or stalls, the download is tried again a few times.\n"
        "DIR/NAME appears only when it is complete. A second download of the same treebank into\n"
        "the same DIR at the same time is refused.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("name", metavar="NAME", help="treebank, for example UD_English-EWT")
    command.add_argument(
        "--root", default="ud", metavar="DIR", help="write to DIR/NAME (default: %(default)s)"
    )
    command.add_argument("--release", default=RELEASE, help="UD release (default: %(default)s)")
    command.add_argument(
        "--url", default=URL, help="address with {name} and {release} (default: %(default)s)"
    )
    command.add_argument("--sha256", help="refuse an archive with another checksum (hexadecimal)")
    command.add_argument(
        "--max-bytes",
        type=int,
        default=MAX_BYTES,
        metavar="N",
        help="refuse an archive that is larger, packed or unpacked (default: %(default)s)",
    )
    command.add_argument("--force", action="store_true", help="replace DIR/NAME if it exists")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Download the treebank, and print where it is and how to train on it."""
    require_training("dyparse download", "requests")
    directory = download(
        options.name,
        root=options.root,
        release=options.release,
        url=options.url,
        sha256=options.sha256,
        max_bytes=options.max_bytes,
        force=options.force,
    )
    sys.stdout.write((directory / RECORD).read_text(encoding="utf-8"))
    sys.stdout.write(
        f"{directory}\ntrain on it: dyparse train treebank={for_hydra(str(directory))}\n"
    )
    return 0

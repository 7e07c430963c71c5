"""`dyparse serve`: the oracle explorer and a parsing server."""

import argparse
import math

from dyparse.cli.arguments import TREEBANK, Commands, add_imports, require_positive
from dyparse.config.extras import require_libraries
from dyparse.config.precisions import PARSING
from dyparse.errors import ConfigError

LOCAL, PORT = "127.0.0.1", 8000


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "serve",
        help="explore oracles in the browser, and parse for other programs over HTTP",
        description="Start a server on this machine: a page that shows transition systems, their\n"
        "oracles and models at work, and an HTTP interface that parses.",
        epilog="examples:\n"
        "  dyparse serve\n"
        "  dyparse serve MODEL --treebank ud/UD_English-LinES\n"
        "  dyparse serve static=outputs/a/model dynamic=outputs/b/model",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "models",
        metavar="MODEL",
        nargs="*",
        help="directory of a model, as `dyparse parse` takes it, or NAME=MODEL; the first one "
        "serves requests that name none (default: no model, only the explorer)",
    )
    command.add_argument(
        "--treebank",
        action="append",
        dest="treebanks",
        default=[],
        metavar="TREEBANK",
        help=f"sentences to explore: {TREEBANK}; may be repeated (always there: sample)",
    )
    command.add_argument(
        "--host", default=LOCAL, help="address to listen on (default: %(default)s, this machine)"
    )
    command.add_argument(
        "--port", type=int, default=PORT, help="port, 0 for any that is free (default: %(default)s)"
    )
    command.add_argument(
        "--device", default="cpu", help="device of the network: cpu, cuda, … (default: %(default)s)"
    )
    command.add_argument(
        "--precision",
        default="auto",
        choices=PARSING,
        help="precision of the network, as of `dyparse parse` (default: %(default)s)",
    )
    command.add_argument(
        "--threads", type=int, metavar="N", help="CPU threads of parsing (default: all)"
    )
    command.add_argument(
        "--max-characters",
        type=int,
        default=500_000,
        metavar="N",
        help="longest text or CoNLL-U of a request (default: %(default)s)",
    )
    command.add_argument(
        "--max-waiting",
        type=int,
        default=256,
        metavar="N",
        help="requests that may wait for each model; further ones are refused "
        "(default: %(default)s)",
    )
    command.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="longest time for one request (default: %(default)s)",
    )
    add_imports(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until a signal ends it."""
    require_libraries("dyparse serve", "web", "starlette", "pydantic", "uvicorn")
    require_positive(options, "max_characters", "max_waiting", "timeout", "threads")
    if not math.isfinite(options.timeout):
        raise ConfigError(f"--timeout is {options.timeout}, expected a number of seconds")
    from dyparse.web.server.limits import Limits
    from dyparse.web.serving import ServeSettings, serve

    settings = ServeSettings(
        models=tuple(options.models),
        treebanks=tuple(options.treebanks),
        host=options.host,
        port=options.port,
        device=options.device,
        precision=options.precision,
        threads=options.threads,
        imports=tuple(options.imports),
        limits=Limits(
            characters=options.max_characters,
            waiting=options.max_waiting,
            seconds=options.timeout,
        ),
    )
    return serve(settings)

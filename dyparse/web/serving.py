"""One server, from its settings to its end."""

import socket
from contextlib import suppress
from dataclasses import dataclass, field

import uvicorn

from dyparse.errors import ConfigError
from dyparse.parsing.settings import Settings, load_parser
from dyparse.runtime.console import print_line
from dyparse.runtime.signals import Stopped
from dyparse.web.models import LoadedModel, Models, exploration_of, names_and_places
from dyparse.web.sentences import treebanks
from dyparse.web.server.app import make_app
from dyparse.web.server.guard import log_to_stderr
from dyparse.web.server.limits import Limits

LOCAL = {"127.0.0.1", "localhost", "[::1]", "::1"}
BACKLOG = 1024  # connections that the system keeps while the server is busy


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """What to serve, and where."""

    models: tuple[str, ...] = ()  # MODEL or NAME=MODEL
    treebanks: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8000
    device: str = "cpu"
    precision: str = "auto"
    threads: int | None = None
    imports: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


def serve(settings: ServeSettings) -> int:
    """Serve until a signal ends it; requests that are under way are answered first."""
    models, sentences = load_models(settings), treebanks(settings.treebanks)
    hosts = LOCAL if settings.host in LOCAL else set()  # no other site may reach it by its own name
    app = make_app(models, sentences, settings.limits, log_to_stderr, hosts)
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        lifespan="on",
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=int(settings.limits.seconds) + 1,
    )
    with listening(settings.host, settings.port) as listener, suppress(Stopped, KeyboardInterrupt):
        host, port = listener.getsockname()[:2]
        place = f"[{host}]" if ":" in host else host
        print_line(f"dyparse serves on http://{place}:{port} (Ctrl-C ends it)")
        uvicorn.Server(config).run(sockets=[listener])
    return 0


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; ConfigError if that is not possible."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server((address[0], port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"cannot listen on {host}, port {port} ({reason}); choose others: --host, --port"
        ) from error


def load_models(settings: ServeSettings) -> Models:
    """The parsers of all models; DyparseError if one cannot be loaded."""
    found = []
    for name, place in names_and_places(settings.models).items():
        how = Settings(
            model=place,
            device=settings.device,
            precision=settings.precision,
            threads=settings.threads,
            imports=settings.imports,
        )
        found.append(LoadedModel(name, load_parser(how), exploration_of(place)))
    return Models(found)

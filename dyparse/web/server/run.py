"""One server, from its settings to its end."""

from dataclasses import dataclass

import uvicorn

from dyparse.parsing.settings import Settings, load_parser
from dyparse.web.models import LoadedModel, Models, exploration_of, names_and_places
from dyparse.web.sentences import treebanks
from dyparse.web.server.app import make_app


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


def serve(settings: ServeSettings) -> int:
    """Serve until a signal ends it."""
    app = make_app(load_models(settings), treebanks(settings.treebanks))
    uvicorn.run(app, host=settings.host, port=settings.port)
    return 0


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

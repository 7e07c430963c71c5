"""The files of the page: those that come with the package, and no others."""

import mimetypes
from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

INDEX = "index.html"
TYPES = {".js": "text/javascript", ".svg": "image/svg+xml"}  # whatever the machine says


def page_routes() -> list[Route]:
    """A route for each file of the page that is there now: a request cannot name any other."""
    root = Path(str(files("dyparse.web"))) / "static"
    found = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    return [
        _route("/", root / INDEX),
        *(_route(f"/{name}", path) for name, path in sorted(found.items())),
    ]


def _route(url: str, path: Path) -> Route:
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]

    async def page(_: Request) -> Response:
        return Response(path.read_bytes(), media_type=kind)

    return Route(url, page)

"""The files of the page: those that come with the package, and no others."""

import mimetypes
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import Response

INDEX = "index.html"
mimetypes.add_type("text/javascript", ".js")


def add_pages(app: FastAPI) -> None:
    """Serve the page. A request can only name what is in the package when the server starts."""
    root = Path(str(files("dyparse.web"))) / "static"
    known = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}

    @app.get("/{name:path}", include_in_schema=False)
    def page(name: str) -> Response:
        path = known.get(name or INDEX)
        if path is None:
            return Response("there is no such page\n", 404, media_type="text/plain")
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return Response(path.read_bytes(), media_type=kind)

"""The application: all routes together."""

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError

from dyparse.errors import DyparseError
from dyparse.version import __version__
from dyparse.web.models import Models
from dyparse.web.sentences import Treebank
from dyparse.web.server.answers import PROBLEMS, invalid, problem
from dyparse.web.server.explorer import sentence_routes, state_routes
from dyparse.web.server.pages import add_pages
from dyparse.web.server.parsing import parsing_routes


def make_app(models: Models, treebanks: dict[str, Treebank]) -> FastAPI:
    """The application that serves these models and treebanks."""
    app = FastAPI(
        title="dyparse",
        version=__version__,
        description="States of transition systems with exact costs, and parsing.",
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
    )
    app.add_exception_handler(DyparseError, problem)
    app.add_exception_handler(RequestValidationError, invalid)
    app.include_router(sentence_routes(models, treebanks))
    app.include_router(state_routes(models))
    app.include_router(parsing_routes(models))
    add_pages(app)
    return app

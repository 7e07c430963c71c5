"""The application: all routes together."""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dyparse.web.models import Models
from dyparse.web.sentences import Treebank
from dyparse.web.server import udpipe
from dyparse.web.server.answers import HANDLERS, JSON, answer
from dyparse.web.server.batching import Batcher
from dyparse.web.server.explorer import sentence_operations, state_operations
from dyparse.web.server.guard import Guard
from dyparse.web.server.limits import Limits, Workers
from dyparse.web.server.metrics import MEDIA_TYPE, Metrics
from dyparse.web.server.pages import page_routes
from dyparse.web.server.parsing import parsing_operations
from dyparse.web.server.routing import openapi

EXPLORER_THREADS = 2


def make_app(
    models: Models,
    treebanks: dict[str, Treebank],
    limits: Limits | None = None,
    log: Callable[[str], object] | None = None,
    hosts: Collection[str] = (),
) -> Guard:
    """The application that serves these models and treebanks."""
    limits, metrics = limits or Limits(), Metrics()
    workers = Workers(limits, EXPLORER_THREADS)
    batchers = {
        name: Batcher(name, model.parser, limits, metrics) for name, model in models.by_name.items()
    }

    @asynccontextmanager
    async def closing(_: Starlette) -> AsyncIterator[None]:
        yield
        workers.close()
        for batcher in batchers.values():
            batcher.close()

    operations = [
        *parsing_operations(models, batchers),
        *state_operations(models, workers),
        *sentence_operations(models, treebanks, workers),
    ]
    description = openapi(operations)
    description["paths"] |= udpipe.described()
    routes = [
        *(operation.route() for operation in operations),
        *udpipe.udpipe_routes(models, batchers),
        *_own_routes(metrics, description),
        *page_routes(),
    ]
    handlers: Any = {**HANDLERS, udpipe.UDPipeError: udpipe.refuse}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=closing)
    return Guard(app, limits.body, metrics, log, hosts)


def _own_routes(metrics: Metrics, description: dict[str, Any]) -> list[Route]:
    """What concerns the server itself."""
    openapi_json = answer(description)

    async def healthy(_: Request) -> Response:
        return Response("ok\n", media_type="text/plain")

    async def counts(_: Request) -> Response:
        return Response(metrics.text(), media_type=MEDIA_TYPE)

    async def described(_: Request) -> Response:
        return Response(openapi_json, media_type=JSON)

    return [
        Route("/healthz", healthy),
        Route("/metrics", counts),
        Route("/openapi.json", described),
    ]

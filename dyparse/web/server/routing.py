"""Operations: what clients can ask for, checked on the way in, and described as OpenAPI.

    Operation("POST", "/api/state", state, gives=StateAnswer, body=StateBody)

With Starlette and pydantic alone: FastAPI takes as long for a request as the parser for a sentence.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, TypeAdapter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dyparse.version import __version__
from dyparse.web.server.answers import JSON, PROBLEMS, Problem

REFERENCE = "#/components/schemas/{model}"
DESCRIPTION = "States of transition systems with exact costs, and parsing."


@dataclass(frozen=True)
class Operation:
    """A method of a path: what it takes, what it does, what it gives."""

    method: str
    path: str
    run: Callable[..., Awaitable[Response]]  # takes `body`, `query` and the parts of the path
    gives: Any  # type of the answer
    body: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    described: Mapping[str, Any] = field(default_factory=dict)  # what else OpenAPI should say

    def route(self) -> Route:
        """The route of Starlette."""

        async def serve(request: Request) -> Response:
            return await self.run(**request.path_params, **await self._taken(request))

        return Route(self.path, serve, methods=[self.method], name=self.path)

    async def _taken(self, request: Request) -> dict[str, BaseModel]:
        """What the request holds, checked; pydantic's error says what is wrong with it."""
        found: dict[str, BaseModel] = {}
        if self.query:
            found["query"] = self.query.model_validate(dict(request.query_params))
        if self.body:
            kind = request.headers.get("content-type", "")
            if kind.partition(";")[0].strip().lower() != JSON:
                raise HTTPException(415, f"expected JSON, with the header Content-Type: {JSON}")
            found["body"] = self.body.model_validate_json(await request.body())
        return found

    def description(self, schema_of: Callable[[Any], Any]) -> dict[str, Any]:
        """The operation in OpenAPI."""
        found: dict[str, Any] = {
            "summary": str(self.run.__doc__).splitlines()[0],
            "operationId": f"{self.method.lower()} {self.path}",
            "parameters": [
                *_path_parameters(self.path),
                *(_query_parameters(self.query) if self.query else []),
            ],
            "responses": {
                "200": _content("The answer", schema_of(self.gives)),
                **{status: _content(text, schema_of(Problem)) for status, text in PROBLEMS.items()},
            },
        }
        if self.body:
            found["requestBody"] = {"required": True, **_content("", schema_of(self.body))}
        return {**found, **self.described}


def openapi(operations: Sequence[Operation]) -> dict[str, Any]:
    """The description of all operations."""
    types = [Problem, *(t for o in operations for t in (o.gives, o.body) if t is not None)]
    adapters = {id(t): TypeAdapter(t) for t in types}
    schemas, definitions = TypeAdapter.json_schemas(
        [(key, "validation", adapter) for key, adapter in adapters.items()],
        ref_template=REFERENCE,
    )
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        described = operation.description(lambda t: schemas[id(t), "validation"])
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {"title": "dyparse", "version": __version__, "description": DESCRIPTION},
        "paths": paths,
        "components": {"schemas": definitions.get("$defs", {})},
    }


def _content(text: str, schema: Any) -> dict[str, Any]:
    described = {"description": text} if text else {}
    return {**described, "content": {JSON: {"schema": schema}}}


def _path_parameters(path: str) -> Iterable[dict[str, Any]]:
    for part in path.split("/"):
        if part.startswith("{"):
            yield {"name": part[1:-1], "in": "path", "required": True, "schema": {"type": "string"}}


def _query_parameters(query: type[BaseModel]) -> Iterable[dict[str, Any]]:
    schema = query.model_json_schema()
    for name, described in schema["properties"].items():
        is_required = name in schema.get("required", [])
        yield {"name": name, "in": "query", "required": is_required, "schema": described}

"""Answers: JSON as it is, and problems as one message."""

import json
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response

from dyparse.web.server import bodies

PROBLEMS: dict[int | str, dict[str, Any]] = {
    422: {"model": bodies.Problem, "description": "What is wrong with the request"}
}


def answer(content: Any) -> Response:
    """JSON as it is: answers are made here, and need no second look."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), media_type="application/json")


def problem(_: Request, error: Exception) -> Response:
    """An error of dyparse: its message."""
    return JSONResponse({"error": str(error)}, 422)


def invalid(_: Request, error: Exception) -> Response:
    """The first fault of a request, without what it holds."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
    return JSONResponse({"error": f"{place}: {first['msg']}"}, 422)

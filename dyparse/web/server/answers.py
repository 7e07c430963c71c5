"""Answers: JSON as it is, and every problem as one message."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from dyparse.errors import DyparseError
from dyparse.web.server.limits import OverloadError, TooLargeError

JSON = "application/json"
PROBLEMS = {
    "404": "There is no such thing",
    "413": "The request is too large",
    "415": "The request is not JSON",
    "422": "What is wrong with the request",
    "503": "Too much to do; the header Retry-After says when to come back",
}


class Problem(TypedDict):
    """An error: place, finding and remedy."""

    error: str


def answer(content: Any) -> bytes:
    """JSON as it is: answers are made here, and need no second look."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def _problem(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 422)


def _invalid(_: Request, error: Exception) -> Response:
    """The first fault of a request, without what it holds."""
    assert isinstance(error, ValidationError)
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the request"
    return JSONResponse({"error": f"{place}: {first['msg']}"}, 422)


def _too_large(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 413)


def _overload(_: Request, error: Exception) -> Response:
    assert isinstance(error, OverloadError)
    return JSONResponse({"error": str(error)}, 503, {"retry-after": str(error.retry_after)})


def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)


def _failure(_: Request, error: Exception) -> Response:  # noqa: ARG001 - it goes to the log
    return JSONResponse({"error": "a fault of the server; its log has more"}, 500)


HANDLERS: Mapping[Any, Callable[[Request, Exception], Response]] = {
    DyparseError: _problem,
    ValidationError: _invalid,
    TooLargeError: _too_large,
    OverloadError: _overload,
    HTTPException: _http,
    Exception: _failure,
}

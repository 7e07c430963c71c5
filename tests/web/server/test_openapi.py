"""The OpenAPI description, and that all requests it allows are answered as it says."""

from __future__ import annotations

import schemathesis
from helpers.server import serving
from helpers.tiny import fresh_parser, sample
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]


def test_answers_are_as_described():
    with serving(fresh_parser(sample("train")[:30]), seconds=120) as client:
        schema = schemathesis.openapi.from_asgi("/openapi.json", client.app)
        operations = [found.ok() for found in schema.get_all_operations()]
        assert len(operations) == 11
        for operation in operations:

            @given(case=operation.as_strategy())
            @settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
            def require_described(case):
                case.call_and_validate(checks=CHECKS)

            require_described()


def test_every_route_for_programs_is_described():
    with serving() as client:
        paths = client.get("/openapi.json").json()["paths"]
    assert {(path, method) for path, methods in paths.items() for method in methods} == {
        ("/api/models", "get"),
        ("/api/parse", "post"),
        ("/api/play", "post"),
        ("/api/sentences", "post"),
        ("/api/state", "post"),
        ("/api/systems", "get"),
        ("/api/treebanks", "get"),
        ("/api/treebanks/{name}/sentences", "get"),
        ("/models", "get"),
        ("/process", "get"),
        ("/process", "post"),
    }

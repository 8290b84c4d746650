"""Requests that schemathesis makes up from the description: none fails the service, and each answer is described."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from firesteel.rest.routes import GROUPS
from firesteel.rest.security import Security
from firesteel.rest.server import application
from tests.rest.in_process import Server

pytestmark = pytest.mark.long

SECONDS = 40
"""After this time each operation that is left is tried once only."""

MOST = 12


def test_no_request_fails_the_service_and_each_answer_is_described(server: Server) -> None:
    import schemathesis  # takes a second
    from schemathesis.specs.openapi import checks

    wanted = (
        schemathesis.checks.not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
    )
    schema = schemathesis.openapi.from_asgi(
        "/openapi.json",
        application(server.cluster, GROUPS, Security(hosts=frozenset({"testserver"})), 1 << 16),
    )
    until, seen = time.monotonic() + SECONDS, 0
    for found in schema.get_all_operations():
        operation = found.ok()
        most = MOST if time.monotonic() < until else 1
        _try(operation, server, wanted, most)
        seen += 1
    assert seen == sum(len(group) for group in GROUPS)


def _try(operation: Any, server: Server, wanted: tuple[Any, ...], most: int) -> None:
    known = {"jobid": server.record.id, "vertexid": server.vertex("sum").rpartition("/")[2]}
    known |= {"job": server.record.id, "operator": "sum", "state": "_reduced"}

    @settings(
        max_examples=most,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def asked(case: Any) -> None:
        for name, text in case.path_parameters.items():
            if len(text) % 4:  # often what is there
                case.path_parameters[name] = known.get(name, text)
        case.call_and_validate(checks=list(wanted))

    asked()

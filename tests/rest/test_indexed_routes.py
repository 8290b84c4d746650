"""An index of routes finds what the framework finds in the routes themselves."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.testclient import TestClient

from firesteel.rest.indexed_routes import IndexedRoutes
from firesteel.rest.routes import GROUPS


async def endpoint(request: Request) -> Response:
    return PlainTextResponse(f"{request.scope['route'].path} {sorted(request.path_params.items())}")


def web(path: str) -> str:
    return re.sub(r":(\w+)(\*?)", lambda part: f"{{{part[1]}{':path' if part[2] else ''}}}", path)


ROUTES = [
    Route(prefix + web(route.path), endpoint, methods=[route.method])
    for group in GROUPS
    for route in group
    for prefix in route.prefixes
]
WORDS = sorted({part for route in ROUTES for part in route.path.split("/") if "{" not in part} | {"7", "x y"})
KNOWN = st.sampled_from([re.sub(r"\{\w+(:path)?\}", "7", route.path) for route in ROUTES])
PATHS = st.one_of(
    KNOWN, st.lists(st.sampled_from(WORDS), max_size=9).map(lambda parts: "/" + "/".join(parts))
)


def asked(routes: list[BaseRoute], method: str, path: str) -> tuple[int, str, Any]:
    answer = TestClient(Router(routes)).request(method, path, follow_redirects=False)
    return answer.status_code, answer.text, answer.headers.get("allow") or answer.headers.get("location")


@given(PATHS, st.sampled_from(["GET", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS"]))
def test_a_request_gets_what_it_would_get_from_the_routes_in_a_row(path: str, method: str) -> None:
    assert asked([IndexedRoutes(ROUTES)], method, path) == asked([*ROUTES], method, path)


def test_an_index_can_be_below_a_path() -> None:
    for path in ("/flink", "/flink/", "/flink/overview", "/flink/jobs/7/plan", "/flinkx", "/overview"):
        found = [
            asked([Mount("/flink", routes=routes)], "GET", path)
            for routes in (ROUTES, [IndexedRoutes(ROUTES)])
        ]
        assert found[0] == found[1]

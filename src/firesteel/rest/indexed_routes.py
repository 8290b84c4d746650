"""Some hundred routes of the web framework, found without trying one after the other.

Contract: what a request gets is what it would get from the routes in a row, the first that matches before those that do
so but for the method. The index only leaves out routes whose literal parts say that they cannot match.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from operator import itemgetter
from typing import Any

from starlette.routing import BaseRoute, Match, Route

_Key = tuple[int | None, str | None, str | None]
"""The number of parts (None: any from some number on), and the first and the last part (None: any)."""


class IndexedRoutes(BaseRoute):
    """Stands for many routes; the framework hands a request over to the one among them that is found.

    >>> async def endpoint(request): ...
    >>> routes = IndexedRoutes(Route(path, endpoint) for path in ("/jobs/{job}", "/jobs/overview", "/jobs/{job}/plan"))
    >>> match, found = routes.matches({"type": "http", "method": "GET", "path": "/jobs/7/plan"})
    >>> match.name, found["route"].path, found["path_params"]
    ('FULL', '/jobs/{job}/plan', {'job': '7'})
    """

    def __init__(self, routes: Iterable[Route]) -> None:
        self._by_key: defaultdict[_Key, list[tuple[int, Route]]] = defaultdict(list)
        for number, route in enumerate(routes):
            self._by_key[_key(route.path)].append((number, route))

    def matches(self, scope: Any) -> tuple[Match, Any]:
        """Return how well the first route that fits does, and what it adds to the scope."""
        partial: tuple[Match, Any] = Match.NONE, {}
        if scope["type"] != "http":
            return partial
        for route in self._candidates(scope["path"].removeprefix(scope.get("root_path", ""))):
            match, found = route.matches(scope)
            if match is Match.FULL:
                return match, {**found, "route": route}
            if match is Match.PARTIAL and partial[0] is Match.NONE:
                partial = match, {**found, "route": route}
        return partial

    def _candidates(self, path: str) -> Iterator[Route]:
        parts = path.split("/")[1:] or [""]
        keys = product((len(parts), None), {parts[0], None}, {parts[-1], None})
        found = [each for key in keys for each in self._by_key.get(key, ())]
        return (route for _, route in sorted(found, key=itemgetter(0)))

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Hand a request over to the route that `matches` has found."""
        await scope["route"].handle(scope, receive, send)


def _key(path: str) -> _Key:
    """Return what a request must have to match a path, whose parameters are in braces.

    >>> _key("/jobs/{job}/plan"), _key("/{job}/{key:path}")
    ((3, 'jobs', 'plan'), (None, None, None))
    """
    parts = path.split("/")[1:]
    first, last = (None if "{" in part else part for part in (parts[0], parts[-1]))
    return None if ":path}" in path else len(parts), first, last

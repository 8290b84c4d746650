"""The paths of Flink's SQL gateway, for the two that serve them: the server hands on what the gateway answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from firesteel.rest.calls import Call, Right, Route, RouteGroup

NEWEST: Final = 4
"""The newest version of Flink 2.3's gateway; addresses without one mean it."""


class OpenBody(msgspec.Struct, frozen=True):
    """A session to open: a name for people, and options."""

    sessionName: str | None = None  # noqa: N815 - Flink's names
    properties: dict[str, str] | None = None


class StatementBody(msgspec.Struct, frozen=True):
    """A statement, with options that hold for it alone; a time limit is none that Flink's gateway has."""

    statement: str
    executionTimeout: int | None = None  # noqa: N815
    executionConfig: dict[str, str] | None = None  # noqa: N815


class CompletionBody(msgspec.Struct, frozen=True):
    """A statement, and where in it the cursor is."""

    statement: str
    position: int


class ScriptBody(msgspec.Struct, frozen=True):
    """A script to deploy: its text or its place, and options."""

    script: str | None = None
    scriptUri: str | None = None  # noqa: N815
    executionConfig: dict[str, str] | None = None  # noqa: N815


class RefreshBody(msgspec.Struct, frozen=True):
    """A refresh of a materialised table, of some partitions if it names them.

    What Flink's scheduler says besides is refused: here the cluster itself has the schedules.
    """

    isPeriodic: bool = False  # noqa: N815
    scheduleTime: str | None = None  # noqa: N815
    dynamicOptions: dict[str, str] | None = None  # noqa: N815
    staticPartitions: dict[str, str] | None = None  # noqa: N815
    executionConfig: dict[str, str] | None = None  # noqa: N815


@dataclass(frozen=True)
class GatewayPath:
    """A path: `name` says which handler answers it, `since` is the first version that has it."""

    method: str
    path: str
    name: str
    summary: str
    since: int = 1
    body: Any = None
    query: tuple[str, ...] = ()

    def route(self, answer: Callable[[Call], Any]) -> Route:
        """Return the route that a handler answers. Whoever may use it may run code: that is what statements do."""
        return Route(
            self.method,
            self.path,
            answer,
            Right.SUBMITTER,
            body=self.body,
            query=self.query,
            prefixes=("", *(f"/v{version}" for version in range(self.since, NEWEST + 1))),
            waits=True,
            about=self.summary,
        )


_SESSION: Final = "/sessions/:session"
_OPERATION: Final = f"{_SESSION}/operations/:operation"
_SCHEDULER: Final = "/workflow/embedded-scheduler"

PATHS: Final = (
    GatewayPath("POST", "/sessions", "open", "Open a session of the SQL gateway.", body=OpenBody),
    GatewayPath("GET", _SESSION, "config", "The options of a session."),
    GatewayPath("DELETE", _SESSION, "close", "Close a session; its queries end."),
    GatewayPath("POST", f"{_SESSION}/heartbeat", "heartbeat", "Keep a session from being idle."),
    GatewayPath(
        "POST",
        f"{_SESSION}/configure-session",
        "configure",
        "Execute a statement that starts no job.",
        2,
        StatementBody,
    ),
    GatewayPath(
        "POST", f"{_SESSION}/statements", "execute", "Begin to execute a statement.", body=StatementBody
    ),
    GatewayPath(
        "GET",
        f"{_SESSION}/complete-statement",
        "complete",
        "What may stand at a place of a statement.",
        2,
        CompletionBody,
    ),
    GatewayPath(
        "POST",
        f"{_SESSION}/complete-statement",
        "complete",
        "What may stand at a place of a statement, for clients that send no body with GET.",
        2,
        CompletionBody,
    ),
    GatewayPath("GET", f"{_OPERATION}/status", "status", "How an operation stands."),
    GatewayPath("POST", f"{_OPERATION}/cancel", "cancel", "End an operation."),
    GatewayPath("DELETE", f"{_OPERATION}/close", "close_operation", "End an operation and forget it."),
    GatewayPath(
        "GET",
        f"{_OPERATION}/result/:token",
        "results",
        "A page of an operation's results.",
        query=("rowFormat",),
    ),
    GatewayPath(
        "POST", f"{_SESSION}/scripts", "deploy", "Make a job of a script of statements.", 4, ScriptBody
    ),
    GatewayPath(
        "POST",
        f"{_SESSION}/materialized-tables/:table/refresh",
        "refresh",
        "Begin to refresh a materialized table.",
        3,
        RefreshBody,
    ),
    *(
        GatewayPath("POST", f"{_SCHEDULER}/{what}", "schedule", "Schedule a materialized table.", 3)
        for what in ("create", "suspend", "resume", "delete")
    ),
)


def routes(handlers: Mapping[str, Callable[[Call], Any]]) -> RouteGroup:
    """Return the routes that handlers answer, by their names."""
    return tuple(path.route(handlers[path.name]) for path in PATHS)

"""What a route is: a function from a call to an answer, with what must be known of it. No web framework here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from firesteel.common.decoders import json_decoder
from firesteel.rest.dispatcher import Dispatcher
from firesteel.rest.page.board import Board
from firesteel.rest.page.pace import Pace
from firesteel.rest.page.recent import Recent
from firesteel.rest.page.shared import Packed, Shared
from firesteel.rest.processes import Processes
from firesteel.rest.profiling import Profiles
from firesteel.rest.reads import Readers
from firesteel.rest.records import JOB_ID, JobRecord
from firesteel.rest.standing import Standing, standing, standings

B = TypeVar("B")

FLOW_SECONDS: Final = 0.5
"""How old the numbers of a job may be that pages are sent."""

SHARED_SECONDS: Final = 1.0
"""How old an answer may be that is made once for all who ask; in Flink it is three seconds (`web.refresh-interval`)."""

PATTERNS_SECONDS: Final = 2.0
"""How old the numbers of partial matches may be that pages are sent: counting reads all keys."""


class Right(IntEnum):
    """What a caller may do; each includes those before it."""

    VIEWER = 1
    OPERATOR = 2
    SUBMITTER = 3


class Refusal(Exception):  # noqa: N818 - an answer, not a failure
    """An answer other than the route's own: an HTTP status and the reasons."""

    def __init__(self, status: int, *reasons: str) -> None:
        super().__init__(*reasons)
        self.status = status
        self.reasons = list(reasons)


@dataclass(frozen=True)
class Cluster:
    """What routes know of the server; `settings` are those that `/jobmanager/config` shows.

    `sql` hands a request on to the SQL gateway: its method, its target and its body.
    """

    dispatcher: Dispatcher
    programs: Path
    address: str
    started_at: int
    settings: Mapping[str, str] = field(default_factory=dict)
    submission: bool = True
    readers: Readers = field(default_factory=Readers)
    board: Board = field(default_factory=Board)
    answers: Shared[Packed] = field(default_factory=lambda: Shared(SHARED_SECONDS))
    flows: Shared[dict[str, Any]] = field(default_factory=lambda: Shared(FLOW_SECONDS))
    patterns: Shared[dict[str, Any]] = field(default_factory=lambda: Shared(PATTERNS_SECONDS))
    recent: Recent = field(default_factory=Recent)
    pace: Pace = field(default_factory=Pace)
    processes: Processes = field(default_factory=Processes)
    profiles: Profiles = field(default_factory=Profiles)
    sql: Callable[[str, str, bytes], Any] | None = None


@dataclass(frozen=True)
class Upload:
    """A file that was sent, in a temporary place of this machine."""

    name: str
    path: Path


@dataclass(frozen=True)
class Call:
    """A request. `path` has the parts of the address that the route names, `data` is the body of one that is JSON.

    `prefix` is the version in the address, such as `/v1`; empty if it has none. `right` is what the caller may do, and
    `page` the name that a web page has chosen for itself, empty for others.
    """

    cluster: Cluster
    path: Mapping[str, str]
    query: Mapping[str, str]
    data: bytes = b""
    uploads: tuple[Upload, ...] = ()
    prefix: str = ""
    right: Right = Right.SUBMITTER
    page: str = ""

    def record(self) -> JobRecord:
        """Return the job of the address. Raises Refusal: 400 for what is no id, 404 for an unknown one."""
        job_id = self.path["jobid"]
        if not JOB_ID.fullmatch(job_id):
            raise unreadable("jobid", job_id)
        found = self.cluster.dispatcher.job(job_id)
        if found is None:
            raise Refusal(404, f"Job {job_id} not found")
        return found

    def job(self) -> Standing:
        """Return how the job of the address stands. Raises Refusal as `record` does."""
        return standing(self.record())

    def jobs(self) -> Iterator[Standing]:
        """Yield how all jobs of the cluster stand, the newest first."""
        return standings(self.cluster.dispatcher.jobs())

    def body(self, kind: type[B]) -> B:
        """Return the body. Raises Refusal if it does not fit; a missing one is an empty object."""
        try:
            # Flink takes a number in quotes, too, and its web UI sends what was typed.
            return json_decoder(kind, strict=False).decode(self.data or b"{}")
        except msgspec.DecodeError as error:
            raise Refusal(
                400, f"Bad request received. Request did not match expected format: {error}."
            ) from None

    def number(self, name: str) -> int:
        """Return a part of the address that is a number. Raises Refusal if it is not one."""
        text = self.path[name]
        if not text.isdecimal() or len(text) > 18:
            raise unreadable(name, text)
        return int(text)

    def query_number(self, name: str, most_digits: int) -> int | None:
        """Return a parameter of the query that is a number. Raises Refusal (400) if it is something else."""
        text = self.query.get(name)
        if text is None:
            return None
        if not (text.isascii() and text.isdecimal()) or len(text) > most_digits:
            raise Refusal(400, f'Cannot resolve query parameter ({name}) from value "{text}".')
        return int(text)

    def chosen(self, name: str = "get") -> list[str]:
        """Return the names in a list of the query, such as `?get=a,b`."""
        return [each for each in self.query.get(name, "").split(",") if each]


def unreadable(name: str, text: str) -> Refusal:
    """Return the answer to an address with a part that cannot be what it stands for."""
    return Refusal(
        400,
        f'Bad request, could not parse parameters: Cannot resolve path parameter ({name}) from value "{text}".',
    )


JSON: Final = "application/json"
PLAIN: Final = "text/plain"


class Text(msgspec.Struct, frozen=True):
    """An answer that is no JSON."""

    text: str
    media_type: str = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Route:
    """One path of the service. `path` is as Flink writes it: `/jobs/:jobid`; it is served below each of `prefixes`.

    A part with an asterisk, `:key*`, is all that follows, with its slashes. `answer` returns what becomes JSON, or a
    `Text`. `soon` returns the same where nothing has to be waited for, else None; it is asked first, without a thread.
    A `shared` answer is the same for all who may ask, and may be a second old: it is made once for those who ask
    meanwhile. An answer that `waits` for something keeps no other from being given. `body` is the type of the body, for
    the description of the service; `takes_files` says that it is a form with files, and `query` names the parameters;
    `produces` has the media types of answers.
    """

    method: str
    path: str
    answer: Callable[[Call], Any]
    right: Right = Right.VIEWER
    status: int = 200
    body: Any = None
    query: tuple[str, ...] = ()
    takes_files: bool = False
    soon: Callable[[Call], Any] | None = None
    prefixes: tuple[str, ...] = ("", "/v1")
    shared: bool = False
    waits: bool = False
    about: str = ""
    produces: tuple[str, ...] = (JSON,)

    @property
    def summary(self) -> str:
        """What it is about, else the first sentence of the docstring."""
        return self.about or (self.answer.__doc__ or "").partition("\n")[0]


RouteGroup = tuple[Route, ...]

VERSION: Final = "2.3.0"
"""The version of Flink whose paths and answers these are."""

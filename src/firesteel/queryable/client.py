"""A client of queryable state, by state directory or by the address of a job in a cluster."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from types import TracebackType
from typing import Any, Final, Protocol, Self
from urllib.parse import quote, urlencode, urlsplit
from weakref import WeakSet

import msgspec

from firesteel.common.errors import ConfigurationError, StateError
from firesteel.functions.windows import CountWindow, GlobalWindow, TimeWindow
from firesteel.queryable.access import contents_of, operators_of
from firesteel.queryable.arranged import ArrangedContents
from firesteel.queryable.contents import ABSENT, Bounds, StateContents, Windowed, keys_within
from firesteel.queryable.forms import PythonForm, from_json, key_to_json, to_json
from firesteel.queryable.reader import StateReader
from firesteel.state.keys.groups import state_key

TOKEN_VARIABLE: Final = "FIRESTEEL_TOKEN"
_PAGE: Final = 1000
_TIMEOUT_SECONDS: Final = 60.0
_FORM: Final = PythonForm()


@dataclass(frozen=True)
class Answer:
    """What a state has at a key after a committed epoch; `time` is when that was committed (milliseconds)."""

    value: Any
    epoch: int
    time: int


@dataclass(frozen=True)
class Answers:
    """What a state has at several keys after one committed epoch, in their order: None where nothing is."""

    values: list[Any]
    epoch: int
    time: int


class QueryableStateClient:
    """Reads the state of a job while it runs, or when it has ended: always as one committed epoch left it.

    `location` is a state directory or a savepoint (path or URL), which is read from here, or the address of a job,
    `http://host:8081/jobs/NAME`, whose cluster then reads it; `token` (default: the variable FIRESTEEL_TOKEN) is for a
    cluster that requires one. Operators are named by uid, name, id or the beginning of an id; `epoch` is any that the
    job keeps (default: the last one).

    What there is at a key: a value, a list, the dict of a map; a list of `Windowed` for states of windows and timers; a
    list of dicts for the rows of an arrangement, whose keys are dicts of columns. By address, tuples are lists and rows
    are dicts, and objects of a program's classes are ``{"$stored": ...}``.

    Raises StateError if there is no such state, or the cluster cannot be reached, KeyEncodingError for what is no key.

    >>> with QueryableStateClient("state") as client:  # doctest: +SKIP
    ...     client.get("counts", "count", "alice").value
    5
    """

    def __init__(self, location: str, *, token: str | None = None) -> None:
        remote = location.startswith(("http://", "https://"))
        self._way: _Way = _Remote(location, token) if remote else _Local(location)

    def operators(self, *, epoch: int | None = None) -> list[dict[str, Any]]:
        """Return the operators: `id`, `name` and `states`, each with `name`, `scope`, `kind` and `type`."""
        return self._way.operators(epoch)

    def get(self, operator: str, state: str, key: Any, *, epoch: int | None = None) -> Answer | None:
        """Return what is at a key, None if nothing is."""
        found = self.get_many(operator, state, [key], epoch=epoch)
        (value,) = found.values
        return None if value is None else Answer(value, found.epoch, found.time)

    def get_many(
        self, operator: str, state: str, keys: Sequence[Any], *, epoch: int | None = None
    ) -> Answers:
        """Return what is at several keys, all after the same epoch."""
        return self._way.read(operator, state, keys, None, epoch)

    def entries(
        self, operator: str, state: str, key: Any, map_keys: Sequence[Any], *, epoch: int | None = None
    ) -> Answer:
        """Return those of some entries that the map at a key has, as a dict; nothing else of it is read."""
        found = self._way.read(operator, state, [key], map_keys, epoch)
        return Answer(found.values[0] or {}, found.epoch, found.time)

    def scan(
        self,
        operator: str,
        state: str,
        *,
        prefix: str | None = None,
        start: str | int | None = None,
        end: str | int | None = None,
        epoch: int | None = None,
    ) -> Iterator[tuple[Any, Any]]:
        """Yield keys in order with what they have, all after the same epoch: numbers, then texts, then others.

        `prefix` is for texts; `start` and `end` (exclusive) are texts, or numbers. Rows of an arrangement come with the
        key None.
        """
        return self._way.scan(operator, state, (prefix, start, end), epoch)

    def close(self) -> None:
        """Release what it holds: connections, and copies on this machine's disk."""
        self._way.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def directory_of(job: str) -> str:
    """Return where the state of a job is: of one in a cluster (by address) its state directory, else what was given.

    Raises StateError if the cluster cannot be asked.
    """
    if not job.startswith(("http://", "https://")):
        return job
    remote = _Remote(job, None)
    try:
        return remote.directory()
    finally:
        remote.close()


_Range = tuple[str | None, str | int | None, str | int | None]


class _Way(Protocol):
    """How state is reached."""

    def operators(self, epoch: int | None) -> list[dict[str, Any]]:
        """Return the operators."""

    def read(
        self, operator: str, state: str, keys: Sequence[Any], entries: Sequence[Any] | None, epoch: int | None
    ) -> Answers:
        """Return what is at keys, or the entries of the maps there."""

    def scan(self, operator: str, state: str, within: _Range, epoch: int | None) -> Iterator[tuple[Any, Any]]:
        """Yield keys with what they have."""

    def close(self) -> None:
        """Release what it holds."""


class _Local:
    """Reads the state directory."""

    def __init__(self, location: str) -> None:
        self._reader = StateReader(location)

    def operators(self, epoch: int | None) -> list[dict[str, Any]]:
        return operators_of(self._reader.saved(epoch))

    def read(
        self, operator: str, state: str, keys: Sequence[Any], entries: Sequence[Any] | None, epoch: int | None
    ) -> Answers:
        snapshot = self._reader.snapshot(operator, epoch)
        found = contents_of(snapshot, state, _FORM)
        if isinstance(found, ArrangedContents):
            values = found.of([key if isinstance(key, dict) else {found.key[0]: key} for key in keys])
        elif entries is None:
            values = found.of(list(map(state_key, keys)))
        else:
            places = list(map(state_key, entries))
            read = (zip(entries, found.entries_of(state_key(key), places), strict=True) for key in keys)
            values = [{place: value for place, value in pairs if value is not ABSENT} for pairs in read]
        return Answers(
            [None if value is ABSENT else value for value in values], snapshot.epoch, snapshot.time
        )

    def scan(self, operator: str, state: str, within: _Range, epoch: int | None) -> Iterator[tuple[Any, Any]]:
        found = contents_of(self._reader.snapshot(operator, epoch), state, _FORM)
        bounds = keys_within(*within, found.who)
        if isinstance(found, ArrangedContents) and bounds != Bounds():
            raise StateError("has no order of keys", who=found.who, got=str(within))
        after: bytes | None = b""
        while after is not None:
            if isinstance(found, StateContents):
                page = found.page(bounds, after, _PAGE)
            else:
                page = found.page(after, _PAGE)
            yield from page.items
            after = page.next

    def close(self) -> None:
        self._reader.close()


class _Remote:
    """Asks a cluster, over a connection for each thread, which stays open."""

    def __init__(self, address: str, token: str | None) -> None:
        parts = urlsplit(address)
        prefix, found, job = parts.path.rstrip("/").rpartition("/jobs/")
        if not found or not parts.hostname or "/" in job:
            raise ConfigurationError(
                "requires the address of a job in a cluster",
                who="a client of queryable state",
                got=address,
                hint="http://host:8081/jobs/NAME",
            )
        self._secure = parts.scheme == "https"
        self._place = parts.netloc.rpartition("@")[2]
        self._base = f"{prefix}/jobs/{job}/operators"
        self._token = token or os.environ.get(TOKEN_VARIABLE)
        self._local = threading.local()
        self._connections: WeakSet[HTTPConnection] = WeakSet()

    def directory(self) -> str:
        """Return the state directory, as the machine of the cluster has it."""
        found: str = self._ask("GET", "", {})["directory"]
        return found

    def operators(self, epoch: int | None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._ask("GET", "", {"epoch": epoch})["operators"]
        return found

    def read(
        self, operator: str, state: str, keys: Sequence[Any], entries: Sequence[Any] | None, epoch: int | None
    ) -> Answers:
        body = {
            "keys": [_key(key) for key in keys],
            "entries": None if entries is None else [_key(entry) for entry in entries],
            "epoch": epoch,
        }
        found = self._ask("POST", f"{_path(operator, state)}/keys", {}, msgspec.json.encode(body))
        values = [
            _content(found["scope"], each["value"]) if "value" in each else None for each in found["values"]
        ]
        return Answers(values, found["epoch"], found["time"])

    def scan(self, operator: str, state: str, within: _Range, epoch: int | None) -> Iterator[tuple[Any, Any]]:
        query = dict(zip(("prefix", "from", "to"), within, strict=True)) | {"epoch": epoch}
        while True:
            page = self._ask("GET", _path(operator, state), query | {"limit": _PAGE})
            for entry in page.get("entries", ()):
                yield from_json(entry["key"], key=True), _content(page["scope"], entry["value"])
            for row in page.get("rows", ()):
                yield None, _row(row)
            if page["next"] is None:
                return
            query["after"] = page["next"]

    def close(self) -> None:
        for connection in list(self._connections):
            connection.close()

    def _ask(self, method: str, path: str, query: Mapping[str, Any], body: bytes | None = None) -> Any:
        given = {name: value for name, value in query.items() if value is not None}
        target = f"{self._base}{path}{'?' + urlencode(given) if given else ''}"
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        try:
            status, data = self._sent(method, target, body, headers)
            answer = msgspec.json.decode(data)
        except (OSError, HTTPException, msgspec.DecodeError) as error:
            raise StateError(
                "cannot be asked", who=f"the cluster at {self._place}", got=str(error)
            ) from error
        if status != 200:
            raise StateError("refuses", who=f"the cluster at {self._place}", got="\n".join(answer["errors"]))
        return answer

    def _sent(
        self, method: str, target: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            try:
                return _exchange(connection, method, target, body, headers)
            except (OSError, HTTPException):
                connection.close()  # the server closes connections that are idle
        kind = HTTPSConnection if self._secure else HTTPConnection
        self._local.connection = connection = kind(self._place, timeout=_TIMEOUT_SECONDS)
        self._connections.add(connection)
        return _exchange(connection, method, target, body, headers)


def _exchange(
    connection: HTTPConnection, method: str, target: str, body: bytes | None, headers: dict[str, str]
) -> tuple[int, bytes]:
    connection.request(method, target, body, headers)
    response = connection.getresponse()
    return response.status, response.read()


def _path(operator: str, state: str) -> str:
    return f"/{quote(operator, safe='')}/states/{quote(state, safe='')}"


def _key(key: Any) -> Any:
    if isinstance(key, dict):  # columns of an arrangement
        return {name: to_json(value) for name, value in key.items()}
    return key_to_json(state_key(key))


def _content(scope: str, value: Any) -> Any:
    if scope in ("windowed", "timers"):
        return [Windowed(_window(each["window"]), from_json(each["value"])) for each in value]
    return [_row(row) for row in value] if scope == "arrangement" else from_json(value)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: from_json(value) for name, value in row.items()}


def _window(shown: Any) -> Any:
    if isinstance(shown, dict):
        return CountWindow(shown["id"]) if "id" in shown else TimeWindow(shown["start"], shown["end"])
    return GlobalWindow.get() if shown == "global" else shown

"""The client of a SQL gateway: Firesteel's, or Flink's from version 1.16 on."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from firesteel.common.decoders import json_decoder
from firesteel.common.errors import ConfigurationError, FiresteelError, ProgramError, StateError
from firesteel.common.logical_types import RowType
from firesteel.functions.columns.endpoints import Changes
from firesteel.rest.client import TOKEN_VARIABLE, reasons
from firesteel.rest.gateway.rows import RowReader, SentColumn, received_row
from firesteel.table.result_kind import ResultKind

_TIMEOUT_SECONDS: Final = 600.0
_VERSIONS: Final = ("V4", "V3", "V2", "V1")


class _ReceivedRow(msgspec.Struct, frozen=True):
    kind: str
    fields: list[msgspec.Raw]


class _Rows(msgspec.Struct, frozen=True):
    columns: list[SentColumn]
    data: list[_ReceivedRow]


class _Answer(msgspec.Struct, frozen=True):
    resultType: str  # noqa: N815 - Flink's names
    isQueryResult: bool = False  # noqa: N815
    resultKind: str = ResultKind.SUCCESS_WITH_CONTENT.name  # noqa: N815
    jobID: str | None = None  # noqa: N815
    results: _Rows | None = None
    nextResultUri: str | None = None  # noqa: N815


@dataclass(frozen=True)
class Answered:
    """What a statement has answered; `changes` are its rows as they come, and can be read once."""

    row: RowType
    kind: ResultKind
    is_query: bool
    job_id: str | None
    changes: Iterator[Changes]
    operation: str


class GatewayClient:
    """A session at the gateway of a URL, with a token, or that in the environment variable FIRESTEEL_TOKEN.

    Contract: one thread reads rows at a time; another one may end the operation meanwhile. Raises StateError if the
    gateway cannot be reached, ProgramError with the gateway's own words for what it refuses.
    """

    def __init__(
        self,
        url: str,
        properties: Mapping[str, str] | None = None,
        *,
        name: str = "default",
        token: str | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(
                "requires a URL", who="the SQL gateway's endpoint", got=url, hint="e.g. http://localhost:8081"
            )
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._place = parts.hostname, parts.port
        self._reading = self._connection()
        self._base = parts.path
        token = token or os.environ.get(TOKEN_VARIABLE)
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        try:
            known = self._ask("GET", "/v1/api_versions")["versions"]
            self._version = next(version for version in _VERSIONS if version in known).lower()
            sessions, body = (
                f"/{self._version}/sessions",
                {"sessionName": name, "properties": properties or {}},
            )
            self._session = f"{sessions}/{self._ask('POST', sessions, body)['sessionHandle']}"
        except BaseException:
            self._reading.close()
            raise

    def execute(self, statement: str, options: Mapping[str, str] | None = None) -> Answered:
        """Execute a statement, with options that hold for it alone; wait until its rows can be read."""
        body = {"statement": statement, **({"executionConfig": dict(options)} if options else {})}
        operation: str = self._ask("POST", f"{self._session}/statements", body)["operationHandle"]
        answer = self._page(operation, 0)
        while answer.resultType == "NOT_READY":
            answer = self._page(operation, 0)
        assert answer.results is not None
        row = received_row(answer.results.columns)
        return Answered(
            row,
            ResultKind[answer.resultKind],
            answer.isQueryResult,
            answer.jobID,
            self._changes(operation, row, answer),
            operation,
        )

    def complete(self, statement: str, position: int) -> list[str]:
        """Return the words that may stand at a place of a statement."""
        body = {"statement": statement, "position": position}
        words: list[str] = self._ask("GET", f"{self._session}/complete-statement", body)["candidates"]
        return words

    def options(self) -> dict[str, str]:
        """Return the options of the session."""
        properties: dict[str, str] = self._ask("GET", self._session)["properties"]
        return properties

    def heartbeat(self) -> None:
        """Keep the session from being idle."""
        self._ask("POST", f"{self._session}/heartbeat", {})

    def end(self, operation: str) -> None:
        """End an operation, and forget its rows."""
        self._ask("DELETE", f"{self._session}/operations/{operation}/close")

    def close(self) -> None:
        """Close the session; nothing happens if it is gone."""
        with suppress(FiresteelError):
            self._ask("DELETE", self._session)
        self._reading.close()

    def _changes(self, operation: str, row: RowType, answer: _Answer) -> Iterator[Changes]:
        reader = RowReader(row)
        while True:
            assert answer.results is not None
            if answer.results.data:
                yield reader.read(
                    [sent.kind for sent in answer.results.data], [sent.fields for sent in answer.results.data]
                )
            if answer.nextResultUri is None:
                return
            token = answer.nextResultUri.rpartition("/")[2].partition("?")[0]
            answer = self._page(operation, int(token))

    def _page(self, operation: str, token: int) -> _Answer:
        query = "" if self._version == "v1" else "?rowFormat=JSON"
        data = self._send("GET", f"{self._session}/operations/{operation}/result/{token}{query}", None)
        return json_decoder(_Answer).decode(data)

    def _ask(self, method: str, target: str, body: Mapping[str, Any] | None = None) -> Any:
        return json.loads(self._send(method, target, body))

    def _send(self, method: str, target: str, body: Mapping[str, Any] | None) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        try:
            status, answer = self._exchange(method, target, data)
        except (OSError, http.client.HTTPException) as error:
            raise StateError(
                "cannot be asked", who=f"the SQL gateway at {self.url}", got=str(error)
            ) from None
        if status >= 400:
            said = reasons(answer) or f"the SQL gateway at {self.url} answers {status}"
            raise ProgramError(said.rpartition("Caused by: ")[2].partition("\n\tat ")[0])
        return answer

    def _exchange(self, method: str, target: str, data: bytes | None) -> tuple[int, bytes]:
        """Send a request and return status and body.

        Reading keeps its connection, and opens it again when the server has closed it. Everything else has one of its
        own: it must not happen twice, and may come from another thread.
        """
        if method != "GET":
            own = self._connection()
            try:
                return self._sent(own, method, target, data)
            finally:
                own.close()
        try:
            return self._sent(self._reading, method, target, data)
        except (http.client.RemoteDisconnected, ConnectionError):
            return self._sent(self._reading, method, target, data)

    def _sent(
        self, connection: http.client.HTTPConnection, method: str, target: str, data: bytes | None
    ) -> tuple[int, bytes]:
        try:
            connection.request(method, f"{self._base}{target}", data, self._headers)
            response = connection.getresponse()
            return response.status, response.read()
        except BaseException:  # an answer that comes later must not be taken for that of another request
            connection.close()
            raise

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._place
        return self._kind(host, port, timeout=_TIMEOUT_SECONDS)

"""The server's side of the SQL gateway: starts its process, and hands requests on to it."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec

from firesteel.common.child_processes import close_input
from firesteel.rest.calls import VERSION, Call, Refusal, Route, RouteGroup, Text
from firesteel.rest.dispatcher import PRIVATE
from firesteel.rest.gateway.limits import Limits
from firesteel.rest.gateway.paths import NEWEST, PATHS

_JSON: Final = "application/json; charset=UTF-8"
_END_SECONDS: Final = 20.0
_LONGEST_SECONDS: Final = 3600.0
"""How long an answer may take: configuring a session waits for its statement."""


class GatewaySettings(msgspec.Struct, frozen=True):
    """What the gateway knows of its cluster, and the bounds of its sessions."""

    directory: str
    slots: int
    master: str | None
    submission: bool
    limits: Limits
    session: bool = False


class _LocalConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_LONGEST_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class GatewayProcess:
    """The gateway's process: it is started with the first request, and again when it has died.

    `settings` are those of `firesteel.rest.gateway.process`, as JSON; what it logs goes to a file.
    """

    def __init__(self, settings: str, log: Path) -> None:
        self._settings = settings
        self._log = log
        self._changing = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="firesteel-sql-"))
        self._socket = str(self._folder / "gateway")

    def ask(self, method: str, target: str, body: bytes) -> Any:
        """Hand a request on and return the answer. Raises Refusal for an answer that is an error.

        A request that met a process about to end goes to the next one, if the first did nothing with it that lasts.
        """
        try:
            status, data = self._exchange(method, target, body)
        except (OSError, http.client.HTTPException) as error:
            lost = isinstance(error, ConnectionRefusedError) or _opens_session(method, target)
            if not lost or not self._ends():
                raise _ended(error) from None
            try:
                status, data = self._exchange(method, target, body)
            except (OSError, http.client.HTTPException) as again:
                raise _ended(again) from None
        if status >= 400:
            raise Refusal(status, *msgspec.json.decode(data)["errors"])
        return Text(data.decode(), _JSON)

    def _exchange(self, method: str, target: str, body: bytes) -> tuple[int, bytes]:
        self._require_process()
        connection = _LocalConnection(self._socket)
        try:
            connection.request(method, target, body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _ends(self) -> bool:
        """Return whether the process has ended, or does so soon."""
        process = self._process
        try:
            return process is None or process.wait(_END_SECONDS) is not None
        except subprocess.TimeoutExpired:
            return False

    def close(self) -> None:
        """End the process."""
        with self._changing:
            if self._process is not None:
                close_input(self._process, _END_SECONDS)
            shutil.rmtree(self._folder, ignore_errors=True)

    def _require_process(self) -> None:
        with self._changing:
            if self._process is not None and self._process.poll() is None:
                return
            Path(self._socket).unlink(missing_ok=True)
            with (
                socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener,
                self._log.open("ab") as log,
            ):
                listener.bind(self._socket)
                listener.listen(128)
                number = listener.fileno()
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "firesteel.rest.gateway.process", self._settings, str(number)],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env={name: value for name, value in os.environ.items() if name not in PRIVATE},
                    pass_fds=[number],
                    start_new_session=True,
                )


def _opens_session(method: str, target: str) -> bool:
    return method == "POST" and target.endswith("/sessions")


def _ended(error: Exception) -> Refusal:
    return Refusal(503, f"the SQL gateway has ended, and its sessions with it: {error}")


def _handed_on(method: str, path: str) -> Any:
    def answer(call: Call) -> Any:
        if call.cluster.sql is None:
            raise Refusal(404, "This server has no SQL gateway.")
        parts = [quote(call.path[part[1:]], safe="") if part[:1] == ":" else part for part in path.split("/")]
        query = f"?{urlencode(dict(call.query))}" if call.query else ""
        return call.cluster.sql(method, call.prefix + "/".join(parts) + query, call.data)

    return answer


def info(_: Call) -> dict[str, str]:
    """What serves SQL here, and the version of Flink whose gateway it is."""
    return {"productName": "Firesteel", "version": VERSION}


def api_versions(_: Call) -> dict[str, list[str]]:
    """The versions of the SQL gateway's paths."""
    return {"versions": [f"V{number}" for number in range(1, NEWEST + 1)]}


_VERSIONS: Final = ("", *(f"/v{number}" for number in range(1, NEWEST + 1)))

ROUTES: Final[RouteGroup] = (
    Route("GET", "/info", info, prefixes=_VERSIONS),
    Route("GET", "/api_versions", api_versions, prefixes=_VERSIONS),
    *(path.route(_handed_on(path.method, path.path)) for path in PATHS),
)

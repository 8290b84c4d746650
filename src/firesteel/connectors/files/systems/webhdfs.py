"""The HTTP interface of HDFS (WebHDFS), as far as files need it.

Source: Hadoop's "WebHDFS REST API". A name node answers with JSON, and sends those who read or write data to a data
node. It needs no library of Hadoop's.
"""

from __future__ import annotations

import getpass
import http.client
import json
import os
from collections.abc import Sequence
from contextlib import closing
from typing import IO, Any, Final, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from firesteel.objectstores.client import patience, persevere

ADDRESSES: Final = "FIRESTEEL_WEBHDFS"
"""The variable with the HTTP addresses of the name nodes, separated by commas."""

USER: Final = "HADOOP_USER_NAME"
_PASSING: Final = frozenset({"StandbyException", "RetriableException", "SafeModeException"})


class HdfsError(OSError):
    """An answer that is an error; `kind` is the name of Java's exception."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(f"{kind or 'HTTP'} {status}: {message}")
        self.status = status
        self.kind = kind


class _Answer(NamedTuple):
    status: int
    location: str | None
    body: bytes


class WebHdfs:
    """Asks the name nodes at some HTTP addresses, the next one if one does not answer or is on standby.

    Temporary errors are waited for (`FIRESTEEL_STORAGE_TIMEOUT`). Raises FileNotFoundError for what is not there, and
    HdfsError or OSError otherwise.
    """

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = list(addresses)

    def ask(self, method: str, path: str, op: str, **parameters: Any) -> Any:
        """Return the JSON that a name node answers, None if it is nothing."""
        answer = persevere(lambda: self._request(method, path, {"op": op, **parameters}), _may_pass)
        return json.loads(answer.body) if answer.body else None

    def read(self, path: str, start: int, length: int) -> bytes:
        """Return some bytes of a file."""
        parameters = {"op": "OPEN", "offset": start, "length": length}

        def attempt() -> bytes:
            answer = self._request("GET", path, parameters)
            body = _send("GET", answer.location).body if answer.location else answer.body
            if len(body) < length:
                raise ConnectionError(f"the answer has {len(body)} bytes instead of {length}")
            return body

        return persevere(attempt, _may_pass)

    def write(self, path: str, file: IO[bytes]) -> None:
        """Write a file, in place of one of the same name."""

        def attempt() -> None:
            answer = self._request("PUT", path, {"op": "CREATE", "overwrite": "true"})
            file.seek(0)
            if answer.location is None:
                raise HdfsError(answer.status, "", "the name node named no data node")
            _send("PUT", answer.location, file)

        persevere(attempt, _may_pass)

    def _request(self, method: str, path: str, parameters: dict[str, Any]) -> _Answer:
        user = os.environ.get(USER) or getpass.getuser()
        query = urlencode({**parameters, "user.name": user})
        for _ in self._addresses[1:]:
            try:
                return _send(method, f"{self._addresses[0]}/webhdfs/v1{quote(path)}?{query}")
            except (HdfsError, ConnectionError, TimeoutError) as error:
                if not _may_pass(error):
                    raise
                self._addresses.append(self._addresses.pop(0))
        return _send(method, f"{self._addresses[0]}/webhdfs/v1{quote(path)}?{query}")


def _send(method: str, url: str, body: IO[bytes] | None = None) -> _Answer:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    with closing(kind(parts.netloc, timeout=patience() / 3)) as connection:
        headers = {} if body is None else {"Content-Type": "application/octet-stream"}
        try:
            connection.request(method, f"{parts.path}?{parts.query}", body, headers)
            response = connection.getresponse()
            answer = _Answer(response.status, response.getheader("Location"), response.read())
        except http.client.HTTPException as error:
            raise ConnectionError(f"{parts.netloc}: {type(error).__name__} {error}") from None
    if answer.status >= 400:
        raise _error(answer, parts.path)
    return answer


def _error(answer: _Answer, path: str) -> OSError:
    try:
        told = json.loads(answer.body)["RemoteException"]
        kind, message = str(told["exception"]), str(told["message"]).partition("\n")[0]
    except (ValueError, KeyError, TypeError):
        kind, message = "", http.client.responses.get(answer.status, "")
    if answer.status == 404 or kind == "FileNotFoundException":
        return FileNotFoundError(path)
    return HdfsError(answer.status, kind, message)


def _may_pass(error: Exception) -> bool:
    if isinstance(error, HdfsError):
        return error.status in (429, 500, 502, 503, 504) or error.kind in _PASSING
    return isinstance(error, (ConnectionError, TimeoutError))

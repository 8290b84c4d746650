"""A client of a cluster's server, for the command line: Flink's paths over Python's own HTTP."""

from __future__ import annotations

import json
import os
import ssl
import time
import uuid
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from firesteel.common.errors import ConfigurationError, StateError

TOKEN_VARIABLE: Final = "FIRESTEEL_TOKEN"

_TIMEOUT_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.2
_ENDED: Final = ("CANCELED", "FINISHED", "FAILED")


def is_cluster(location: str) -> bool:
    """Return whether a location on the command line is a cluster's, or a job's in one, and no directory.

    >>> is_cluster("http://localhost:8081/jobs/0af1"), is_cluster("s3://bucket/jobs/clicks")
    (True, False)
    """
    return location.startswith(("http://", "https://"))


def state_directory_of(location: str) -> str:
    """Return a state directory; for the address of a job in a cluster its own, which must be reachable here.

    Raises StateError if the cluster cannot be asked, or has no such job.
    """
    return ClusterJob(location).state_directory() if is_cluster(location) else location


class ClusterClient:
    """Talks to the server at a URL, with the token in the environment variable FIRESTEEL_TOKEN.

    Raises StateError for what the server refuses, and if it cannot be reached.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._token = os.environ.get(TOKEN_VARIABLE)

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request and return the answer."""
        data = None if body is None else json.dumps(body).encode()
        return self._send(method, path, data, "application/json")

    def upload(self, file: Path) -> str:
        """Upload a program and return its id."""
        boundary = uuid.uuid4().hex
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="jarfile"; filename="{file.name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        data = head.encode() + file.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
        stored = self._send("POST", "/programs", data, f"multipart/form-data; boundary={boundary}")
        program: str = stored["filename"].rpartition("/")[2]
        return program

    def _send(self, method: str, path: str, data: bytes | None, kind: str) -> Any:
        headers = {} if data is None else {"Content-Type": kind}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        request = Request(f"{self.url}/v1{path}", data, headers, method=method)
        try:
            with urlopen(request, timeout=_TIMEOUT_SECONDS) as response:
                return json.load(response)
        except HTTPError as error:
            said = reasons(error.read()) or f"{error.code} {error.reason}"
            hint = (
                f"set the variable {TOKEN_VARIABLE} to a token of this cluster" if error.code == 401 else None
            )
            raise StateError("refuses", who=f"the cluster at {self.url}", got=said, hint=hint) from None
        except (URLError, HTTPException, OSError, ValueError) as error:
            raise _unreachable(self.url, error) from None


def _unreachable(url: str, error: Exception) -> StateError:
    reason = error.reason if isinstance(error, URLError) else error
    untrusted = isinstance(reason, ssl.SSLCertVerificationError)
    hint = "name the CA of its certificate in the variable SSL_CERT_FILE" if untrusted else None
    return StateError("cannot be asked", who=f"the cluster at {url}", got=str(reason), hint=hint)


def reasons(answer: bytes) -> str | None:
    """Return the errors that an answer has, without what Flink puts around them; None if it has none."""
    try:
        said = "\n".join(json.loads(answer)["errors"])
    except (ValueError, KeyError, TypeError):
        return None
    marked = said.partition("<Exception on server side:\n")[2]
    return marked.partition("\nEnd of exception on server side>")[0] or said


def _matching(listed: Sequence[Mapping[str, Any]], asked: str) -> Sequence[Mapping[str, Any]]:
    """Return the jobs that an id, a name, or else the beginning of an id can mean; they are listed newest first.

    A name comes before the beginning of an id: one like "ad" is that of many jobs by chance.
    """
    named = [job for job in listed if job["name"] == asked]
    by_id = [job for job in listed if job["jid"] == asked]
    if by_id or not named:
        return by_id or [job for job in listed if job["jid"].startswith(asked)]
    return [job for job in named if job["state"] not in _ENDED] or named[:1]


class ClusterJob:
    """A job in a cluster, by its address: `http://host:8081/jobs/ID`; ID may be a name, or the beginning of the id.

    Of several with one name it is that which has not ended, else the newest. Raises ConfigurationError for another
    address, StateError if there is no such job, or several.
    """

    def __init__(self, address: str) -> None:
        base, found, asked = address.rstrip("/").rpartition("/jobs/")
        if not found or "/" in asked or not urlsplit(base).netloc:
            raise ConfigurationError(
                "requires the address of a job in a cluster",
                who="JOB",
                got=address,
                hint="http://host:8081/jobs/ID",
            )
        self._client = ClusterClient(base.removesuffix("/v1"))
        matching = _matching(self._client.ask("GET", "/jobs/overview")["jobs"], asked)
        if len(matching) != 1:
            got = ", ".join(job["jid"] for job in matching) or "none"
            raise StateError(
                f"requires one job {asked!r}",
                who=f"the cluster at {base}",
                got=got,
                hint="name one by its id" if matching else f"firesteel jobs {base} lists them",
            )
        self.id: str = matching[0]["jid"]

    def cancel(self, timeout: float) -> str:
        """End it at once, and wait until it has ended."""
        self._client.ask("PATCH", f"/jobs/{self.id}?mode=cancel")
        deadline = time.monotonic() + timeout
        while True:
            status: str = self._client.ask("GET", f"/jobs/{self.id}/status")["status"]
            if status in _ENDED:
                return f"the job {self.id} is {status}"
            self._wait(deadline, timeout)

    def stop(self, *, with_savepoint: bool, target: str | None, timeout: float, drain: bool) -> str:
        """End it after its running epoch; return where the savepoint is, or where it ended."""
        body = {"targetDirectory": target, "drain": drain, "savepoint": with_savepoint}
        return self._settled(self._client.ask("POST", f"/jobs/{self.id}/stop", body), timeout)

    def savepoint(self, target: str | None, timeout: float) -> str:
        """Take a savepoint and return where it is."""
        asked = self._client.ask("POST", f"/jobs/{self.id}/savepoints", {"target-directory": target})
        return self._settled(asked, timeout)

    def rescale(self, parallelism: int, timeout: float, *, keep: bool) -> str:
        """Change its parallelism."""
        body = {"parallelism": parallelism, "keep": keep}
        return self._settled(self._client.ask("POST", f"/jobs/{self.id}/rescale", body), timeout)

    def state_directory(self) -> str:
        """Return the job's state directory, as the machine of the cluster has it."""
        directory: str = self._client.ask("GET", f"/jobs/{self.id}")["state-directory"]
        return directory

    def _settled(self, asked: Mapping[str, str], timeout: float) -> str:
        deadline = time.monotonic() + timeout
        while True:
            answer = self._client.ask("GET", f"/jobs/{self.id}/requests/{asked['request-id']}")
            if answer["status"]["id"] == "COMPLETED":
                text: str = answer["answer"]
                return text
            self._wait(deadline, timeout)

    def _wait(self, deadline: float, timeout: float) -> None:
        if time.monotonic() >= deadline:
            raise StateError(f"did not answer within {timeout:g} s", who=f"the job {self.id}")
        time.sleep(_POLL_SECONDS)

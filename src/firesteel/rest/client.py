"""A client of a cluster's server, for the command line: Flink's paths over Python's own HTTP."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Mapping
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


def is_cluster(location: str) -> bool:
    """Return whether a location on the command line is a cluster's, or a job's in one, and no directory.

    >>> is_cluster("http://localhost:8081/jobs/0af1"), is_cluster("s3://bucket/jobs/clicks")
    (True, False)
    """
    return location.startswith(("http://", "https://"))


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
            raise StateError("refuses", who=f"the cluster at {self.url}", got=said) from None
        except (URLError, HTTPException, OSError, ValueError) as error:
            raise StateError("cannot be asked", who=f"the cluster at {self.url}", got=str(error)) from None


def reasons(answer: bytes) -> str | None:
    """Return the errors that an answer has, without what Flink puts around them; None if it has none."""
    try:
        said = "\n".join(json.loads(answer)["errors"])
    except (ValueError, KeyError, TypeError):
        return None
    marked = said.partition("<Exception on server side:\n")[2]
    return marked.partition("\nEnd of exception on server side>")[0] or said


class ClusterJob:
    """A job in a cluster, by its address: `http://host:8081/jobs/ID`; ID may be the beginning of the id, or a name.

    Raises ConfigurationError for another address, StateError if there is no such job, or several.
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
        listed = self._client.ask("GET", "/jobs/overview")["jobs"]
        matching = [job for job in listed if job["jid"].startswith(asked)]
        matching = matching or [job for job in listed if job["name"] == asked]
        if len(matching) != 1:
            got = "none" if not matching else f"{len(matching)} of them"
            raise StateError(f"requires a job {asked!r}", who=f"the cluster at {base}", got=got)
        self.id: str = matching[0]["jid"]

    def cancel(self, timeout: float) -> str:
        """End it at once, and wait until it has ended."""
        self._client.ask("PATCH", f"/jobs/{self.id}?mode=cancel")
        deadline = time.monotonic() + timeout
        while True:
            status: str = self._client.ask("GET", f"/jobs/{self.id}/status")["status"]
            if status in ("CANCELED", "FINISHED", "FAILED"):
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

"""A gateway in this process that is asked without a network, as its clients ask it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from starlette.testclient import TestClient

from firesteel.rest.gateway.limits import Limits
from tests.rest.gateway.gateway_here import LOCAL, GatewayHere

STREAMING = {"execution.runtime-mode": "STREAMING"}


class Gateway(GatewayHere):
    """A gateway, and a client's calls to it."""

    def __init__(self, directory: Path, *, submission: bool = True, limits: Limits | None = None) -> None:
        super().__init__(directory, submission=submission, limits=limits)
        self.web = TestClient(self.service, base_url=LOCAL, raise_server_exceptions=False)

    def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        answer = self.web.request(method, path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def open(self, **properties: str) -> Session:
        handle = self.ask("POST", "/v4/sessions", {"sessionName": "test", "properties": properties})
        return Session(self, f"/v4/sessions/{handle['sessionHandle']}")


class Session:
    """A session at an address."""

    def __init__(self, gateway: Gateway, path: str) -> None:
        self.gateway = gateway
        self.path = path

    def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        return self.gateway.ask(method, f"{self.path}{path}", body, status)

    def begin(self, statement: str, **more: Any) -> str:
        handle = self.ask("POST", "/statements", {"statement": statement, **more})["operationHandle"]
        return f"/operations/{UUID(handle)}"

    def first(self, operation: str, form: str = "JSON") -> Any:
        while True:
            page = self.ask("GET", f"{operation}/result/0?rowFormat={form}")
            if page["resultType"] != "NOT_READY":
                return page
            assert page["nextResultUri"] == f"{self.path}{operation}/result/0?rowFormat={form.upper()}"

    def pages(self, statement: str, form: str = "JSON", **more: Any) -> Iterator[Any]:
        page = self.first(self.begin(statement, **more), form)
        yield page
        while "nextResultUri" in page:
            page = self.gateway.ask("GET", page["nextResultUri"])
            yield page

    def rows(self, statement: str, form: str = "JSON", **more: Any) -> list[tuple[str, list[Any]]]:
        pages = self.pages(statement, form, **more)
        return [(row["kind"], row["fields"]) for page in pages for row in page["results"]["data"]]

    def error(self, statement: str) -> str:
        operation = self.begin(statement)
        while True:
            answer = self.gateway.web.get(f"{self.path}{operation}/result/0")
            if answer.status_code != 200:
                assert self.ask("GET", f"{operation}/status") == {"status": "ERROR"}
                first, text = answer.json()["errors"]
                assert first == "Internal server error."
                return shown_by_flink(text)
            assert answer.json()["resultType"] == "NOT_READY"


def shown_by_flink(text: str) -> str:
    """What Flink's SQL client shows of an error."""
    return text.rpartition("Caused by: ")[2].partition("\tat ")[0].strip()

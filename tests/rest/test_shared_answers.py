"""Answers that are made once for all who ask within a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from firesteel.rest.calls import Call, Cluster, Refusal, Right, Route
from firesteel.rest.dispatcher import Dispatcher
from firesteel.rest.page.shared import Shared
from firesteel.rest.security import Security
from firesteel.rest.server import application

TOKEN = "v" * 16


class Shop:
    """A server with one shared path, by a clock that a test moves; `asked` are the calls that were answered."""

    def __init__(self, directory: Path, security: Security | None = None) -> None:
        self.now = 0.0
        self.asked: list[tuple[str, str | None]] = []
        answers = Shared[Any](1.0, lambda: self.now)
        cluster = Cluster(Dispatcher(directory, 4), directory, "", 0, answers=answers)
        route = Route("GET", "/things/:name", self._answer, query=("size",), shared=True)
        web = application(cluster, [(route,)], security or Security())
        self._client = TestClient(web, base_url="http://127.0.0.1:8081")

    def get(self, path: str, **headers: str) -> Any:
        return self._client.get(path, headers=headers)

    def _answer(self, call: Call) -> dict[str, Any]:
        name, size = call.path["name"], call.query.get("size")
        self.asked.append((name, size))
        if name == "none":
            raise Refusal(404, "there is none")
        return {"name": name, "number": len(self.asked), "text": "x" * 2000}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_who_asks_within_a_second_is_told_the_same(shop: Shop):
    first = shop.get("/things/a")
    shop.now = 0.9
    assert shop.get("/things/a").json() == first.json()
    shop.now = 1.0
    assert shop.get("/things/a").json()["number"] == 2
    assert len(shop.asked) == 2


def test_other_parts_of_an_address_and_parameters_are_other_questions(shop: Shop):
    for path in ("a", "b", "a?size=1", "a?size=2", "a?size=1", "a?unknown=1", "a?unknown=2", "a"):
        assert shop.get(f"/things/{path}").status_code == 200
    assert shop.asked == [("a", None), ("b", None), ("a", "1"), ("a", "2")]


def test_a_refusal_is_not_kept(shop: Shop):
    assert [shop.get("/things/none").status_code for _ in range(2)] == [404, 404]
    assert len(shop.asked) == 2


def test_each_gets_it_in_the_form_that_they_take(shop: Shop):
    plain = shop.get("/things/a", **{"Accept-Encoding": "identity"})
    packed = shop.get("/things/a", **{"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert int(packed.headers["Content-Length"]) < int(plain.headers["Content-Length"])
    assert packed.json() == plain.json()


def test_who_may_not_ask_is_not_told_what_others_were(tmp_path: Path):
    shop = Shop(tmp_path, Security({TOKEN: Right.VIEWER}))
    assert shop.get("/things/a", Authorization=f"Bearer {TOKEN}").status_code == 200
    assert shop.get("/things/a").status_code == 401

"""The client of queryable state answers by address what it answers by directory, but for what JSON cannot say."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from firesteel.common.errors import ConfigurationError, KeyEncodingError, StateError
from firesteel.control.commands import now_ms
from firesteel.queryable import QueryableStateClient, Windowed
from firesteel.rest.calls import Cluster, Right
from firesteel.rest.dispatcher import Dispatcher
from firesteel.rest.records import Outcome, Submission, write
from firesteel.rest.routes import GROUPS
from firesteel.rest.security import Security
from firesteel.rest.server import application
from firesteel.state.disk.copy import close_working_stores
from tests.queryable.jobs import count_job
from tests.state import kinds

TOKEN = "v" * 16
COUNTS = Counter(key for key, *_ in kinds.EVENTS)
KEYS = sorted(COUNTS)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[str, str]]]:
    """By program, the state directory and the address of its job."""
    root, ids = tmp_path_factory.mktemp("cluster"), {"kinds": "a" * 32, "counts": "b" * 32}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_DIRS", str(tmp_path_factory.mktemp("machine")))
        patch.setattr(os, "fsync", lambda descriptor: None)
        for job in ids.values():
            (root / "jobs" / job).mkdir(parents=True)
            write(root / "jobs" / job / "submission.json", Submission(job, "levels.py", now_ms()))
            write(root / "jobs" / job / "outcome.json", Outcome("FINISHED", now_ms()))
        kinds.run(root / "jobs" / ids["kinds"] / "state", epoch_records=20)
        count_job(root / "jobs" / ids["counts"])
        with served(root) as address:
            yield {
                name: (str(root / "jobs" / job / "state"), f"{address}/jobs/{job}")
                for name, job in ids.items()
            }
        close_working_stores(root)


class served:
    """A server of a cluster's directory, in a thread, which requires a token."""

    def __init__(self, root: Path) -> None:
        self._cluster = Cluster(Dispatcher(root, 4), root / "programs", "", 0)
        web = application(self._cluster, GROUPS, Security({TOKEN: Right.VIEWER}))
        self._config = uvicorn.Config(web, port=0, log_config=None, lifespan="off")
        self._server = uvicorn.Server(self._config)
        self._listener = self._config.bind_socket()
        self._thread = threading.Thread(target=self._server.run, args=([self._listener],))

    def __enter__(self) -> str:
        self._thread.start()
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._cluster.readers.close()


@pytest.fixture(params=[0, 1], ids=["directory", "address"])
def client(
    places: dict[str, tuple[str, str]], request: pytest.FixtureRequest
) -> Iterator[QueryableStateClient]:
    with QueryableStateClient(places["kinds"][request.param], token=TOKEN) as client:
        yield client


def plain(value: object) -> object:
    """A value without the difference between tuples, lists and rows."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def test_keys_one_and_many(client: QueryableStateClient):
    answer = client.get("kinds", "count", "user3")
    assert (answer.value, answer.epoch) == (COUNTS["user3"], 6)
    assert 0 < answer.time <= now_ms()
    assert client.get("kinds", "count", "nobody") is None
    found = client.get_many("kinds", "count", [*KEYS, "nobody"])
    assert (found.values, found.epoch) == ([COUNTS[key] for key in KEYS] + [None], 6)
    assert client.get("kinds", "count", "user3", epoch=1).value == [k for k, *_ in kinds.EVENTS[:20]].count(
        "user3"
    )


def test_states_of_every_kind(client: QueryableStateClient):
    expected = kinds.expected()
    (mean,) = (value for key, value in expected["mean"] if key == "user3")
    assert plain(client.get("kinds", "mean", "user3").value) == plain(mean)
    amounts = {at: amount for key, at, amount in expected["amounts"] if key == "user3"}
    assert client.get("kinds", "amounts", "user3").value == amounts
    assert client.entries("kinds", "amounts", "user3", [1, 7]).value == {1: amounts[1]}
    assert client.get("limits", "rules", "high").value == 5
    visits = client.get("kinds", "visits", "user3").value
    assert len(visits) == COUNTS["user3"]
    ((window, events),) = client.get("sizes", "window-contents", "user0", epoch=3).value
    assert (window.start, [event[0] for event in events]) == (5000, ["user0"] * len(events))
    assert client.get("kinds", "event", "user0", epoch=3).value[0] == Windowed(None, 1_000_000)


def test_scans(client: QueryableStateClient):
    assert dict(client.scan("kinds", "count")) == COUNTS
    assert [key for key, _ in client.scan("kinds", "count", prefix="user1")] == ["user1", "user10"]
    assert [key for key, _ in client.scan("kinds", "count", start="user2", end="user4")] == ["user2", "user3"]
    early = dict(client.scan("kinds", "count", epoch=1))
    assert early == Counter(key for key, *_ in kinds.EVENTS[:20])


def test_operators_are_listed(client: QueryableStateClient):
    (found,) = (operator for operator in client.operators() if operator["name"] == "every kind")
    (count,) = (state for state in found["states"] if state["name"] == "count")
    assert count == {"name": "count", "scope": "keyed", "kind": "value", "type": "ValueState<LONG>"}


def test_what_is_not_there_is_told(client: QueryableStateClient):
    with pytest.raises(StateError, match="requires an operator with the uid, name or id 'kid'"):
        client.get("kid", "count", "a")
    with pytest.raises(StateError, match="requires epoch 99"):
        client.get("kinds", "count", "a", epoch=99)
    with pytest.raises(KeyEncodingError):
        client.get("kinds", "count", object())


@pytest.mark.parametrize("way", [0, 1])
def test_rows_of_arrangements(places: dict[str, tuple[str, str]], way: int):
    with QueryableStateClient(places["counts"][way], token=TOKEN) as client:
        rows = [row for _, row in client.scan("Count", "counts")]
        for row in rows[:3]:
            assert client.get("Count", "counts", {"key": row["key"]}).value == [row]
        assert client.get("Count", "counts", {"key": -5}) is None


def test_an_address_that_is_no_job_and_a_cluster_that_is_not_there(places: dict[str, tuple[str, str]]):
    with pytest.raises(ConfigurationError, match="requires the address of a job"):
        QueryableStateClient("http://127.0.0.1:1")
    with pytest.raises(StateError, match="cannot be asked"):
        QueryableStateClient("http://127.0.0.1:1/jobs/a").get("a", "b", "c")
    wrong = QueryableStateClient(places["kinds"][1], token="wrong")
    with wrong, pytest.raises(StateError, match="valid token"):
        wrong.get("kinds", "count", "a")

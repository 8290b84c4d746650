"""Queryable state over REST: keys, batches, scans, entries, and what is refused and why."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest
from starlette.testclient import TestClient

from firesteel.control.commands import now_ms
from firesteel.rest.calls import Cluster, Right
from firesteel.rest.dispatcher import Dispatcher
from firesteel.rest.records import Outcome, Submission, write
from firesteel.rest.routes import GROUPS
from firesteel.rest.security import Security
from firesteel.rest.server import application
from firesteel.state.disk.copy import close_working_stores
from tests.queryable.jobs import count_job
from tests.state import kinds

LOCAL = "http://127.0.0.1:8081"
JOB, TABLES, EMPTY = "a" * 32, "b" * 32, "c" * 32
COUNT = f"/jobs/{JOB}/operators/kinds/states/count"
COUNTS = Counter(key for key, *_ in kinds.EVENTS)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster's directory with a job that has ended, one with arrangements, and one without an epoch."""
    root = tmp_path_factory.mktemp("cluster")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_DIRS", str(tmp_path_factory.mktemp("machine")))
        patch.setattr(os, "fsync", lambda descriptor: None)
        for job in (JOB, TABLES, EMPTY):
            (root / "jobs" / job).mkdir(parents=True)
            write(root / "jobs" / job / "submission.json", Submission(job, "levels.py", now_ms()))
            write(root / "jobs" / job / "outcome.json", Outcome("FINISHED", now_ms()))
        kinds.run(root / "jobs" / JOB / "state", parallelism=2, epoch_records=20)
        made = count_job(root / "made")
        shutil.copytree(made.url, root / "jobs" / TABLES / "state")
        yield root
        close_working_stores(root)


@pytest.fixture(scope="module")
def cluster(directory: Path) -> Iterator[Cluster]:
    cluster = Cluster(Dispatcher(directory, 4), directory / "programs", LOCAL, 0)
    yield cluster
    cluster.readers.close()


@pytest.fixture
def service(cluster: Cluster) -> TestClient:
    return TestClient(application(cluster, GROUPS, Security()), base_url=LOCAL, raise_server_exceptions=False)


@pytest.mark.parametrize(
    "path", ["/v1" + COUNT + "/keys/user3", COUNT + "/keys/user3", f"/{JOB}/kinds/count/user3"]
)
def test_a_key_has_its_value_with_the_epoch_and_its_time(service: TestClient, path: str):
    for _ in range(3):  # at first it is waited for, then it is at hand
        found = service.get(path).json()
        assert found.pop("time") <= now_ms()
        assert len(found.pop("operator")) == 32
        assert found == {
            "state": "count", "scope": "keyed", "type": "ValueState<LONG>",
            "epoch": 6, "key": "user3", "value": COUNTS["user3"],
        }  # fmt: skip


def test_a_job_is_found_by_its_name(service: TestClient):
    assert service.get("/levels/kinds/count/user3").json()["value"] == COUNTS["user3"]


def test_a_batch_is_of_one_epoch_and_in_its_order(service: TestClient):
    for body in ({"keys": ["user3", "nobody", "user1"]}, {"keys": ["user3", "nobody", "user1"], "epoch": 6}):
        found = service.post(f"{COUNT}/keys", json=body).json()
        assert found["epoch"] == 6
        assert found["values"] == [
            {"key": "user3", "value": COUNTS["user3"]},
            {"key": "nobody"},
            {"key": "user1", "value": COUNTS["user1"]},
        ]


def test_an_epoch_that_is_kept(service: TestClient):
    found = service.get(f"{COUNT}/keys/user3", params={"epoch": 2}).json()
    seen = Counter(key for key, *_ in kinds.EVENTS[:40])
    assert (found["epoch"], found["value"]) == (2, seen["user3"])
    assert (
        service.post(f"{COUNT}/keys", json={"keys": ["user3"], "epoch": 2}).json()["values"][0]["value"]
        == (seen["user3"])
    )


def test_operators_and_states_are_listed(service: TestClient):
    found = service.get(f"/jobs/{JOB}/operators").json()
    (listed,) = (operator for operator in found["operators"] if operator["name"] == "every kind")
    states = {state["name"]: state for state in listed["states"]}
    assert (states["count"]["type"], states["last"]["ttl-ms"]) == ("ValueState<LONG>", 60000)
    assert states["amounts"]["scope"] == "keyed"
    rows = service.get(f"/jobs/{TABLES}/operators").json()["operators"]
    assert any(state["scope"] == "arrangement" for operator in rows for state in operator["states"])


def test_pages_of_a_scan_are_of_one_epoch(service: TestClient):
    pages, params = [], {"limit": "4"}
    while True:
        page = service.get(COUNT, params=params).json()
        pages.append(page["entries"])
        if page["next"] is None:
            break
        params = {"limit": "4", "after": page["next"]}
    assert [len(page) for page in pages] == [4, 4, 3]
    assert {entry["key"]: entry["value"] for page in pages for entry in page} == COUNTS
    found = service.get(COUNT, params={"prefix": "user1"}).json()["entries"]
    assert [entry["key"] for entry in found] == ["user1", "user10"]
    found = service.get(COUNT, params={"from": "user2", "to": "user4"}).json()["entries"]
    assert [entry["key"] for entry in found] == ["user2", "user3"]


def test_entries_of_maps_and_of_broadcast_state(service: TestClient):
    amounts = f"/jobs/{JOB}/operators/kinds/states/amounts/keys/user3"
    whole = dict(map(tuple, service.get(amounts).json()["value"]["$map"]))
    for place, value in whole.items():
        assert service.get(amounts, params={"entry": place}).json()["value"] == value
    asked = {"keys": ["user3", "nobody"], "entries": [1, 7]}
    found = service.post(amounts.removesuffix("/user3"), json=asked).json()["values"]
    assert found == [{"key": "user3", "value": {"$map": [[1, whole[1]]]}}, {"key": "nobody"}]
    first = service.get(amounts, params={"limit": 2}).json()
    second = service.get(amounts, params={"limit": 2, "after": first["next"]}).json()
    assert {entry["key"]: entry["value"] for page in (first, second) for entry in page["entries"]} == whole
    rules = f"/jobs/{JOB}/operators/limits/states/rules"
    assert service.get(f"{rules}/keys/high").json()["value"] == 5
    assert {entry["key"]: entry["value"] for entry in service.get(rules).json()["entries"]} == kinds.RULES


def test_contents_of_windows_and_timers(service: TestClient):
    params = {"epoch": 3}
    windows = service.get(f"/{JOB}/sizes/window-contents/user0", params=params).json()["value"]
    assert [window["window"] for window in windows] == [{"start": 5000, "end": 10000}]
    timers = service.get(f"/{JOB}/kinds/event/user0", params=params).json()["value"]
    assert timers[0] == {"window": None, "value": 1_000_000}


def pages(service: TestClient, path: str, **params: int) -> list[dict]:
    """All entries of all pages."""
    found: list[dict] = []
    after: dict = {}
    while True:
        page = service.get(path, params={**params, **after}).json()
        found += page["entries"]
        if page["next"] is None:
            return found
        after = {"after": page["next"]}


@pytest.mark.parametrize(
    ("operator", "state", "epochs"),
    [
        *(("kinds", name, (2, 5)) for name in ("count", "visits", "amounts", "highest", "anything", "event")),
        ("kinds", "last", (1, 6)),
        ("limits", "rules", (1, 3)),
        ("kinds", "count", (5, 2)),
    ],
)
@pytest.mark.parametrize("limit", [3, 1000])
def test_changes_between_two_epochs_are_the_difference_of_their_contents(
    service: TestClient, operator: str, state: str, epochs: tuple[int, int], limit: int
):
    path = f"/jobs/{JOB}/operators/{operator}/states/{state}"
    before, after = (
        {str(each if state == "event" else each["key"]): each for each in pages(service, path, epoch=epoch)}
        for epoch in epochs
    )
    wanted = [
        (before.get(key), after.get(key))
        for key in before.keys() | after.keys()
        if before.get(key) != after.get(key)
    ]
    found = pages(service, f"{path}/changes", **{"from": epochs[0], "to": epochs[1]}, limit=limit)
    assert len(found) == len(wanted)
    for entry in found:
        pair = tuple(
            {"key": entry["key"], "value": entry[name]} if name in entry else None
            for name in ("before", "after")
        )
        assert pair in wanted


def test_a_page_of_changes_ends_though_nothing_has_changed(
    service: TestClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("firesteel.queryable.changes.MOST_KEYS", 2)
    monkeypatch.setattr("firesteel.queryable.changes.PART", 2)
    same = {"from": 6, "to": 6}
    first = service.get(f"{COUNT}/changes", params=same).json()
    assert (first["entries"], pages(service, f"{COUNT}/changes", **same)) == ([], [])
    assert first["next"] is not None
    assert len(pages(service, f"{COUNT}/changes", **{"from": 2, "to": 6})) == len(COUNTS)


def test_entries_are_counted_by_key_group(service: TestClient, monkeypatch: pytest.MonkeyPatch):
    found = service.get(f"{COUNT}/groups").json()
    assert (found["epoch"], found["parallelism"], found["complete"]) == (6, 2, True)
    assert (len(found["entries"]), sum(found["entries"])) == (128, len(COUNTS))
    assert [size > 0 for size in found["bytes"]] == [count > 0 for count in found["entries"]]
    assert sum(service.get(f"{COUNT}/groups?epoch=1").json()["entries"]) == len(
        {key for key, *_ in kinds.EVENTS[:20]}
    )
    monkeypatch.setattr("firesteel.rest.routes.states._MOST_COUNTED", 1)
    visits = service.get(f"/jobs/{JOB}/operators/kinds/states/amounts/groups").json()
    assert (visits["complete"], max(visits["entries"])) == (False, 1)


def test_rows_of_arrangements(service: TestClient):
    base = f"/jobs/{TABLES}/operators/Count/states/counts"
    rows = service.get(base, params={"limit": 1000}).json()["rows"]
    for row in rows[:3]:
        assert service.get(f"{base}/keys/{row['key']}").json()["value"] == [row]
        assert service.get(f"{base}/keys/{quote(msgspec.json.encode({'key': row['key']}))}").json()[
            "value"
        ] == [row]
    found = service.post(f"{base}/keys", json={"keys": [{"key": rows[0]["key"]}, {"key": -5}]}).json()[
        "values"
    ]
    assert found == [{"key": {"key": rows[0]["key"]}, "value": [rows[0]]}, {"key": {"key": -5}}]


@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [
        (f"/jobs/{'0' * 32}/operators", 404, "not found"),
        ("/jobs/nobody/operators", 404, "not found"),
        (f"/jobs/{EMPTY}/operators", 404, "no state yet"),
        (f"/jobs/{JOB}/operators/kid/states/count/keys/a", 404, "requires an operator"),
        (f"/jobs/{JOB}/operators/kinds/states/cnt/keys/a", 404, "has no state 'cnt'"),
        (f"{COUNT}/keys/nobody", 404, "has nothing at the key nobody after epoch 6"),
        (f"{COUNT}/keys/", 404, "has nothing at the key"),
        (f"{COUNT}/keys/a/b", 404, "at the key a/b"),
        (f"{COUNT}/keys/..%2f..%2fetc%2fpasswd", 404, "at the key ../../etc/passwd"),
        (f"{COUNT}/keys/a?epoch=99", 404, "requires epoch 99"),
        (f"{COUNT}/keys/a?epoch=x", 400, "epoch"),
        (f"{COUNT}/keys/a?entry=5", 404, "has no entries"),
        (f"{COUNT}?prefix=a&from=b", 400, "both"),
        (f"{COUNT}?after=nonsense", 400, "after requires"),
        (f"{COUNT}?after=kqF4xAFw", 410, "Begin again"),
        (f"{COUNT}?limit=-1", 400, "limit"),
        (f"/jobs/{TABLES}/operators/Count/states/counts/keys/abc", 400, "a value of type"),
        (f"/jobs/{TABLES}/operators/Count/states/counts?prefix=a", 400, "no order of keys"),
        (f"{COUNT}/changes?from=1", 400, "the two epochs"),
        (f"{COUNT}/changes?from=1&to=99", 404, "requires epoch 99"),
        (f"{COUNT}/changes?from=1&to=2&after=nonsense", 400, "after requires"),
        (f"/jobs/{TABLES}/operators/Count/states/counts/changes?from=8&to=9", 400, "has rows"),
        (f"/jobs/{TABLES}/operators/Count/states/counts/groups", 400, "has rows"),
        (f"/jobs/{JOB}/operators/limits/states/rules/groups", 400, "not spread over key groups"),
        ("/nothing/of/this/kind", 404, "Job nothing not found"),
    ],
)
def test_what_is_not_there_is_refused_with_the_reason(
    service: TestClient, path: str, status: int, reason: str
):
    answer = service.get(path)
    assert (answer.status_code, reason in answer.json()["errors"][0]) == (status, True), answer.text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"nonsense", 400),
        (b"{}", 400),
        (b'{"keys": 5}', 400),
        (b'{"keys": [{"$nothing": 1}]}', 400),
        (b'{"keys": [{"$date": "yesterday"}]}', 400),
        (b'{"keys": [{"$key": "Cg=="}]}', 400),
        (b'{"keys": [{"a": 1}]}', 400),
        (b'{"keys": ["a"], "epoch": 99}', 404),
        (msgspec.json.encode({"keys": ["a"] * 10_001}), 400),
        (b'{"keys": ["%s"]}' % (b"a" * (1 << 20)), 413),
    ],
)
def test_bad_batches_are_refused(service: TestClient, body: bytes, status: int):
    assert service.post(f"{COUNT}/keys", content=body).status_code == status


def test_a_viewer_may_read_and_nobody_without_a_token(cluster: Cluster):
    web = application(cluster, GROUPS, Security({"v" * 16: Right.VIEWER}))
    service = TestClient(web, base_url=LOCAL)
    for ask in (lambda **more: service.get(f"{COUNT}/keys/user3", **more),
                lambda **more: service.post(f"{COUNT}/keys", json={"keys": ["user3"]}, **more)):  # fmt: skip
        assert ask().status_code == 401
        assert ask(headers={"Authorization": f"Bearer {'v' * 16}"}).status_code == 200

"""Every path that Flink's answers were recorded of: the same fields, of the same types."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from firesteel.checkpoint.savepoint import new_savepoint
from firesteel.control.views.metrics import FailedCheckpoint, read_metrics, write_metrics
from firesteel.rest.calls import Refusal
from firesteel.rest.records import Asked, write
from firesteel.rest.standing import standing
from tests.rest.in_process import Server
from tests.rest.shapes import RECORDED, Recorded, differences, recorded

OTHERWISE = ("savepoint", "checkpoints/370029")
"""Paths of requests to a job that runs; `test_served` asks for them."""

ANSWERS = [
    request
    for request in recorded()
    if request.method == "GET"
    and request.status == 200
    and not any(word in request.path for word in OTHERWISE)
    and "details_4." not in request.name  # a failed checkpoint is none here, and neither is a savepoint
    and "details_3." not in request.name
]

SAVEPOINT: dict[str, Any] = json.loads(
    (RECORDED / "GET_jobs_ID_checkpoints_details_3.200.txt").read_text().split("\n")[3]
)


def path_here(server: Server, path: str) -> str:
    """The path of a recorded request, with the ids that things have here."""
    vertex = server.vertex("sum").rpartition("/")[2]
    manager = server.get("/taskmanagers")["taskmanagers"][0]["id"]
    before = {
        "jobs": server.record.id,
        "applications": server.record.id,
        "vertices": vertex,
        "subtasks": vertex,
    }
    before |= {"taskmanagers": manager, "details": str(server.said().epoch)}
    parts, question = path.removeprefix("/v1").partition("?")[::2]
    here = parts.split("/")
    for place, part in enumerate(parts.split("/")[1:], 1):
        known = before.get(parts.split("/")[place - 1])
        if known is not None and (len(part) == 32 or part.isdecimal() or part.startswith("localhost:")):
            here[place] = part if part == "0" else known
    return "/".join(here) + (f"?{question}" if question else "")


@pytest.mark.parametrize("request_", ANSWERS, ids=lambda request: request.name)
def test_answers_have_flinks_shape(server: Server, request_: Recorded) -> None:
    ours = server.get(path_here(server, request_.path))
    assert list(differences(request_.answer, ours)) == []


@pytest.mark.parametrize("what", ["exceptions", "execution-result"])
def test_answers_about_a_failed_job_have_flinks_shape(server: Server, what: str) -> None:
    theirs = json.loads((RECORDED / f"GET_jobs_ID_{what}_failed.json").read_text())
    assert list(differences(theirs, server.get(f"JOB/{what}", server.failed))) == []


@pytest.mark.parametrize(
    ("theirs", "ours", "found"),
    [
        ({"a": 1}, {}, [".a: is missing"]),
        ({"a": 1}, {"a": 1, "b": 2}, [".b: is not in Flink"]),
        ({"a": 1}, {"a": 1.0}, [".a: int there, float here"]),
        ({"a": 1}, {"a": None}, [".a: int there, NoneType here"]),
        ({"a": [1]}, {"a": []}, [".a: is empty"]),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1}, {"b": "x"}]}, [".a[].b: int there, str here"]),
        ({"a": None}, {"a": 1}, [".a: NoneType there, int here"]),
    ],
)
def test_what_is_compared(theirs: Any, ours: Any, found: list[str]) -> None:
    assert list(differences(theirs, ours)) == found


def test_checkpoints_say_how_long_they_took_and_what_they_stored(server: Server) -> None:
    answer = server.get("JOB/checkpoints")
    last = answer["latest"]["completed"]
    assert last["end_to_end_duration"] == last["latest_ack_timestamp"] - last["trigger_timestamp"] >= 0
    assert last["checkpointed_size"] > 0
    assert answer["counts"] == {
        "restored": 0, "total": last["id"], "in_progress": 0, "completed": last["id"], "failed": 0,
    }  # fmt: skip
    details = server.get(f"JOB/checkpoints/details/{last['id']}")
    assert sum(task["checkpointed_size"] for task in details["tasks"].values()) == last["checkpointed_size"]
    assert sum(task["state_size"] for task in details["tasks"].values()) == last["state_size"]
    of_sum = server.get(
        f"JOB/checkpoints/details/{last['id']}/subtasks/{server.vertex('sum').rpartition('/')[2]}"
    )
    assert sum(each["checkpointed_size"] for each in of_sum["subtasks"]) == of_sum["checkpointed_size"] > 0
    assert of_sum["summary"]["checkpointed_size"]["max"] <= of_sum["checkpointed_size"]


def test_a_kept_epoch_says_what_each_operator_stored(server: Server) -> None:
    last = server.get("JOB/checkpoints")["latest"]["completed"]
    answer = server.get(f"JOB/epochs/{last['id']}")
    operators = {each["name"]: each for each in answer["operators"]}
    assert [*operators] == ["Source: numbers", "same", "sum", "Sink: out"]
    summed = operators["sum"]
    assert (summed["uid"], operators["same"]["uid"]) == ("sums", None)
    assert summed["vertex"] == server.vertex("sum").rpartition("/")[2]
    assert summed["end_to_end_duration"] >= 0
    (part,) = summed["parts"]
    assert (part["checkpointed_size"], part["state_size"]) == (last["checkpointed_size"], last["state_size"])
    assert len(part["states"]) == 1
    for size in ("checkpointed_size", "state_size"):
        assert sum(each[size] for each in answer["operators"]) == summed[size] == part[size] > 0
    with pytest.raises(Refusal) as raised:
        server.get("JOB/epochs/999")
    assert raised.value.status == 404


def test_a_failure_is_an_exception_with_its_task_and_the_users_traceback(server: Server) -> None:
    entries = server.get("JOB/exceptions", server.failed)["exceptionHistory"]["entries"]
    assert len(entries) == 2  # the attempt, and the restart; the end is the second of them
    for entry in entries:
        assert entry["exceptionName"] == "firesteel.common.errors.UserFunctionError"
        assert "divide" in entry["taskName"]
        assert "ZeroDivisionError" in entry["stacktrace"]
    assert server.get("JOB", server.failed)["vertices"][0]["status"] == "FAILED"
    shown = server.get("JOB/exceptions?maxExceptions=1", server.failed)["exceptionHistory"]
    assert (shown["entries"], shown["truncated"]) == (entries[:1], True)


def test_processes_say_how_much_memory_state_takes(server: Server) -> None:
    (manager,) = server.get("/taskmanagers")["taskmanagers"]
    names = {metric["id"] for metric in server.get(f"/taskmanagers/{manager['id']}/metrics")}
    assert {"Status.Flink.Memory.Managed.Used", "Status.Flink.Memory.Managed.Total"} <= names
    (limit,) = server.get("/taskmanagers/metrics?get=Status.Flink.Memory.Managed.Total")
    assert manager["hardware"]["managedMemory"] == limit["sum"]
    one = server.get(f"/taskmanagers/{manager['id']}")
    assert sum(slot["assignedTasks"] for slot in one["allocatedSlots"]) == manager["assignedTasks"]


def test_processes_say_what_memory_their_jvm_has(server: Server) -> None:
    (listed,) = server.get("/taskmanagers")["taskmanagers"]
    one = server.get(f"/taskmanagers/{listed['id']}")
    assert (listed["hardware"]["freeMemory"], listed["memoryConfiguration"]["taskHeap"]) == (2, 9)
    figures = one["metrics"]
    assert (figures["heapUsed"], figures["heapMax"], figures["nonHeapMax"]) == (7, 9, -1)
    assert (figures["directCount"], figures["nettyShuffleMemoryUsed"]) == (-1, 0)  # not said; there is none
    assert [(each["name"], each["count"], each["time"]) for each in figures["garbageCollectors"]] == [
        ("All", 4, 42), ("G1_Young_Generation", 3, 12), ("G1_Old_Generation", 1, 30),
    ]  # fmt: skip
    names = "Status.JVM.Memory.Heap.Used,Status.JVM.GarbageCollector.G1_Old_Generation.Time,driverMemoryBytes"
    found = server.get(f"/taskmanagers/{listed['id']}/metrics?get={names}")
    assert [metric["value"] for metric in found] == ["7", "30", "50000000"]
    (bound,) = server.get(f"/taskmanagers/{listed['id']}/metrics?get=Status.JVM.Memory.Metaspace.Max")
    assert int(bound["value"]) == listed["hardware"]["physicalMemory"]


def test_the_server_shows_its_threads_and_its_python(server: Server) -> None:
    threads = {each["threadName"]: each for each in server.get("/jobmanager/thread-dump")["threadInfos"]}
    assert "threads_here" in threads["MainThread"]["stringifiedThreadInfo"]
    assert server.get("/jobmanager/environment")["jvm"]["version"].startswith("CPython 3")
    assert server.get("/jobmanager/profiler") == {"profilingList": []}


def test_the_last_checkpoint_that_failed_and_the_last_savepoint(server: Server, tmp_path: Path) -> None:
    storage = standing(server.record).storage()
    metrics = read_metrics(storage)
    assert metrics is not None
    failed = FailedCheckpoint(7, 1_234, "the disk is full")
    write_metrics(storage, msgspec.structs.replace(metrics, failed=failed))
    first, second = (new_savepoint(storage, server.said().epoch, place) for place in (None, str(tmp_path)))
    request = server.record.directory / "requests" / f"{'a' * 32}.json"
    write(request, Asked("one", 1, location=second))
    try:
        latest = server.get("JOB/checkpoints")["latest"]
        recorded = json.loads(
            (RECORDED / "GET_jobs_ID_checkpoints_details_4.200.txt").read_text().split("\n")[3]
        )
        assert list(differences({**recorded, "tasks": {}}, latest["failed"])) == []
        assert (latest["failed"]["id"], latest["failed"]["failure_message"]) == (7, "the disk is full")
        assert latest["savepoint"]["external_path"] == f"file:{second}"
        assert latest["savepoint"]["is_savepoint"]
        history = server.get("JOB/checkpoints")["history"]
        listed = [each["external_path"] for each in history if each["is_savepoint"]]
        assert listed == [f"file:{second}", f"file:{first}"]
        assert [each["id"] for each in history] == sorted((each["id"] for each in history), reverse=True)
        assert {each["checkpoint_type"] for each in history} == {"CHECKPOINT", "SAVEPOINT"}
        assert not latest["completed"]["is_savepoint"]
        # Flink's was one to stop the job with.
        assert list(differences({**SAVEPOINT, "tasks": {}}, latest["savepoint"])) == []
        shutil.rmtree(second)
        assert server.get("JOB/checkpoints")["latest"]["savepoint"]["external_path"] == f"file:{first}"
    finally:
        shutil.rmtree(first)
        request.unlink()
        write_metrics(storage, metrics)


def test_a_savepoint_has_details_when_its_epoch_is_not_kept(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    epoch = server.said().epoch
    place = new_savepoint(standing(server.record).storage(), epoch, None)
    try:
        assert not server.get(f"JOB/checkpoints/details/{epoch}")["is_savepoint"]
        monkeypatch.setattr("firesteel.rest.routes.checkpoints.find_checkpoints", lambda storage: [])
        details = server.get(f"JOB/checkpoints/details/{epoch}")
        assert details["external_path"] == f"file:{place}"
        assert (details["is_savepoint"], details["checkpoint_type"]) == (True, "SAVEPOINT")
        for size in ("checkpointed_size", "state_size"):
            assert sum(task[size] for task in details["tasks"].values()) == details[size] > 0
        assert list(differences({**SAVEPOINT, "tasks": {}}, {**details, "tasks": {}})) == []
        with pytest.raises(Refusal):
            server.get(f"JOB/checkpoints/details/{epoch + 1}")
    finally:
        shutil.rmtree(place)


def test_the_attempt_of_a_subtask(server: Server) -> None:
    subtask = f"{server.vertex('same')}/subtasks/1"
    assert server.get(f"{subtask}/attempts/0")["subtask"] == 1
    assert server.get(f"{subtask}/attempts/0/accumulators")["user-accumulators"] == []
    with pytest.raises(Refusal, match="Could not find attempt number 1"):
        server.get(f"{subtask}/attempts/1")


def test_a_vertex_has_the_parallelism_that_its_job_has_now(server: Server) -> None:
    before = server.said().parallelism
    server.say(parallelism=3)
    try:
        assert {vertex["parallelism"] for vertex in server.get("JOB")["vertices"]} == {1, 3}
    finally:
        server.say(parallelism=before)

"""Metrics over HTTP, of a job that ran in this process: what clients of Flink ask for, and what Prometheus does."""

from __future__ import annotations

import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from firesteel.common.errors import UnsupportedError
from firesteel.control.commands import Reply, now_ms, write_reply
from firesteel.control.flame_sampling import FlameSampling
from firesteel.control.views.flamegraphs import FlameSamples, Stack, write_samples
from firesteel.rest.calls import Refusal
from firesteel.rest.profiling import Profiles
from firesteel.rest.routes import processes
from firesteel.rest.standing import standing
from firesteel.runtime.processes import JvmView, ProcessView, ThreadView
from tests.rest.in_process import NUMBERS, Server

SHARES = ("busyTimeMsPerSecond", "backPressuredTimeMsPerSecond", "idleTimeMsPerSecond")


def test_a_jobs_own_metrics_have_names_and_values(server: Server) -> None:
    names = {metric["id"] for metric in server.get("JOB/metrics")}
    assert {"numRestarts", "lastCheckpointDuration", "lastCheckpointSize", "uptime"} <= names
    (restarts,) = server.get("JOB/metrics?get=numRestarts,unknown")
    assert restarts == {"id": "numRestarts", "value": "0"}
    (together,) = server.get("/jobs/metrics?get=numberOfCompletedCheckpoints")
    assert together["sum"] == together["max"] >= 4


def test_a_vertex_has_its_own_metrics_and_those_of_its_operators(server: Server) -> None:
    vertex = server.vertex("same")
    values = {
        metric["id"]: float(metric["value"])
        for metric in server.get(f"{vertex}/metrics?get=0.numRecordsIn,1.numRecordsIn,0.same.numRecordsIn")
    }
    assert values["0.numRecordsIn"] + values["1.numRecordsIn"] == NUMBERS
    assert values["0.same.numRecordsIn"] == values["0.numRecordsIn"]
    shares = server.get(f"{vertex}/metrics?get={','.join(f'0.{name}' for name in SHARES)}")
    assert sum(float(metric["value"]) for metric in shares) == pytest.approx(1000, abs=1)


def test_subtasks_are_aggregated_as_flink_does(server: Server) -> None:
    (records,) = server.get(f"{server.vertex('same')}/subtasks/metrics?get=numRecordsIn")
    assert set(records) == {"id", "min", "max", "avg", "sum", "skew"}
    assert (records["sum"], records["avg"]) == (NUMBERS, NUMBERS / 2)
    asked = f"{server.vertex('same')}/subtasks/metrics?get=numRecordsIn"
    assert server.get(f"{asked}&agg=sum,max&subtasks=1") == [
        {"id": "numRecordsIn", "max": NUMBERS / 2, "sum": NUMBERS / 2}
    ]
    assert server.get(f"{asked}&agg=sum&subtasks=0-1") == [{"id": "numRecordsIn", "sum": NUMBERS}]
    for wrong in ("agg=median", "subtasks=x", "subtasks=0-x", "subtasks=-1"):
        with pytest.raises(Refusal) as refused:
            server.get(f"{asked}&{wrong}")
        assert refused.value.status == 400


def test_back_pressure_has_flinks_shape(server: Server) -> None:
    found = server.get(f"{server.vertex('same')}/backpressure")
    assert set(found) == {"status", "backpressureLevel", "end-timestamp", "subtasks", "backpressure-level"}
    for subtask in found["subtasks"]:
        assert set(subtask) == {
            "subtask", "backpressureLevel", "ratio", "idleRatio", "busyRatio", "backpressure-level",
        }  # fmt: skip
        assert subtask["ratio"] + subtask["idleRatio"] + subtask["busyRatio"] == pytest.approx(1, abs=0.01)


def test_a_vertex_says_what_it_read_and_how_long_it_worked(server: Server) -> None:
    metrics = server.get(server.vertex("same"))["aggregated"]["metrics"]
    assert metrics["read-records"]["sum"] == NUMBERS
    assert metrics["read-bytes"]["sum"] > 0


def test_the_bottleneck_is_named(server: Server) -> None:
    found = server.get("JOB/bottleneck")
    assert found["found"] is True
    assert found["name"]


def test_flame_graphs_come_from_the_last_samples(server: Server) -> None:
    vertex = server.vertex("same")
    assert server.get(f"{vertex}/flamegraph?type=on_cpu") == {"endTimestamp": -3}
    operator = next(
        operator.id
        for found in standing(server.record).vertices
        for operator in found.operators
        if operator.name == "same"
    )
    stacks = (Stack(operator, 0, True, ("run", "parse"), 3), Stack(operator, 1, False, ("run",), 1))
    write_samples(standing(server.record).storage(), FlameSamples(77, 10, stacks))
    full = server.get(f"{vertex}/flamegraph?type=full")
    assert full["endTimestamp"] == 77
    parse = {"name": "parse", "value": 3, "children": []}
    assert full["data"] == {
        "name": "root",
        "value": 4,
        "children": [{"name": "run", "value": 4, "children": [parse]}],
    }
    assert server.get(f"{vertex}/flamegraph?type=off_cpu")["data"]["value"] == 1
    assert server.get(f"{vertex}/flamegraph?subtaskindex=0")["data"]["value"] == 3
    for wrong in ("type=other", "subtaskindex=2"):
        with pytest.raises(Refusal) as refused:
            server.get(f"{vertex}/flamegraph?{wrong}")
        assert refused.value.status == 400
    assert server.answer(f"{vertex}/flamegraph?format=svg").text.startswith("<svg")


def test_threads_of_tasks_are_where_they_were_found_most_often(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    (vertex,) = [each for each in standing(server.record).vertices if "same" in each.name]
    stacks = (
        Stack(vertex.operators[0].id, 1, True, ("run", "parse"), 3),
        Stack(vertex.operators[0].id, 1, False, ("run", "wait"), 1),
    )
    write_samples(standing(server.record).storage(), FlameSamples(now_ms(), 10, stacks))
    jvm = JvmView({}, (), (ThreadView("gc", '"gc"'),))
    process = ProcessView(1, jvm, (ThreadView("MainThread", '"MainThread"'),))
    monkeypatch.setattr(processes, "threads_asked", lambda _: process)
    (manager,) = server.get("/taskmanagers")["taskmanagers"]
    threads = server.get(f"/taskmanagers/{manager['id']}/thread-dump")["threadInfos"]
    assert [each["threadName"] for each in threads] == ["MainThread", f"{vertex.name} (2/2)#0", "gc"]
    assert threads[1]["stringifiedThreadInfo"].splitlines()[1:] == ["\tat parse", "\tat run", ""]


def test_a_profile_is_a_flame_graph_of_all_operators(server: Server) -> None:
    job, profiles = standing(server.record), Profiles()
    storage = job.storage()
    begun = profiles.begin("driver", job, "CPU", 5)
    refused = profiles.begin("driver", job, "WALL", 5)
    assert [each.described()["status"] for each in profiles.of("driver", job)] == ["RUNNING", "RUNNING"]
    operator = job.vertices[0].operators[0].id
    write_samples(storage, FlameSamples(1, 10, (Stack(operator, 0, True, ("run",), 3),)))
    write_reply(storage, Reply(begun.request.id, result="flamegraph.json"))
    write_reply(storage, Reply(refused.request.id, error="has ended"))
    second, first = profiles.of("driver", job)
    assert first.picture is not None
    assert "measured, CPU, 5 s: 3 samples" in first.picture
    assert (first.described()["status"], first.described()["outputFile"]) == ("FINISHED", first.file)
    assert (second.described()["status"], second.described()["message"]) == ("FAILED", "has ended")
    assert profiles.of("another", job) == []


def test_prometheus_gets_every_job(server: Server) -> None:
    answer = server.answer("/metrics")
    assert answer.media_type.startswith("text/plain; version=0.0.4")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    samples = families["firesteel_operator_num_records_in"].samples
    found = [sample for sample in samples if sample.labels["operator_name"] == "same"]
    assert sum(sample.value for sample in found) == NUMBERS
    assert {sample.labels["job_id"] for sample in found} == {server.record.id}


def test_a_flame_graph_that_cannot_be_taken_is_refused_with_the_reason(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = standing(server.record).storage()
    write_samples(storage, FlameSamples(1, 10, ()))
    flamegraph = f"{server.vertex('same')}/flamegraph?type=on_cpu"
    assert server.get(flamegraph)["endTimestamp"] == 1  # old: others are asked for
    (command,) = [path.rpartition("/")[2].removesuffix(".json") for path in storage.list("commands")]
    monkeypatch.delattr(time, "pthread_getcpuclockid")
    with pytest.raises(UnsupportedError) as unsupported:
        FlameSampling(storage).ask(5.0)
    write_reply(storage, Reply(command, error=str(unsupported.value)))
    with pytest.raises(Refusal, match="needs to know the processor time of a thread") as refused:
        server.get(flamegraph)
    assert refused.value.status == 501

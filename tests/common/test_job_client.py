from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Any

import pytest

from firesteel.common import (
    CompletableFuture,
    InputDependencyConstraint,
    JobClient,
    JobExecutionResult,
    JobID,
    JobStatus,
)
from firesteel.common.errors import EngineError, FiresteelError, ProgramError
from firesteel.common.metrics import MetricGroup, Reading


@dataclass
class Result:
    status: JobStatus
    runtime_ms: int


class Handle:
    """A job that ends when told how."""

    job_id = "0a"

    def __init__(self) -> None:
        self.status = JobStatus.RUNNING
        self.outcome: Future[Result] = Future()
        self.asked: list[tuple[Any, ...]] = []

    def wait(self) -> Result:
        return self.outcome.result()

    def cancel(self) -> Future[str]:
        self.status = JobStatus.CANCELED
        self.outcome.set_result(Result(JobStatus.CANCELED, 5))
        return self._asked("cancel")

    def stop(self, savepoint: str | None = None, drain: bool = False) -> Future[str]:
        return self._asked("drain" if drain else "stop", savepoint)

    def savepoint(self, target: str | None = None) -> Future[str]:
        return self._asked("savepoint", target)

    def rescale(self, parallelism: int, keep: bool = False) -> Future[str]:
        return self._asked("rescale", parallelism)

    def _asked(self, *what: Any) -> Future[str]:
        self.asked.append(what)
        answer: Future[str] = Future()
        answer.set_result("answer")
        return answer


def test_a_client_watches_its_job() -> None:
    handle = Handle()
    client = JobClient(handle)
    assert client.get_job_id() == JobID("0a")
    assert client.get_job_status().result() is JobStatus.RUNNING
    assert client.get_accumulators().result() == {}
    result = client.get_job_execution_result()
    assert not result.done()
    assert result.exception() is None
    handle.outcome.set_result(Result(JobStatus.FINISHED, 1500))
    ended = result.result()
    assert (str(ended.get_job_id()), ended.get_net_runtime()) == ("0a", 1500)
    assert (result.done(), result.cancelled(), result.cancel(), result.exception()) == (
        True,
        False,
        False,
        None,
    )


def test_a_failed_job_hands_over_its_error() -> None:
    handle = Handle()
    handle.outcome.set_exception(EngineError("no memory"))
    future = JobClient(handle).get_job_execution_result()
    with pytest.raises(EngineError, match="no memory"):
        future.result()
    assert isinstance(future.exception(), EngineError)


def test_a_cancelled_job_has_no_result() -> None:
    client = JobClient(Handle())
    assert client.cancel().result() is None
    assert client.get_job_status().result() is JobStatus.CANCELED
    with pytest.raises(FiresteelError, match="the job 0a was cancelled"):
        client.get_job_execution_result().result()


def test_a_client_asks_for_what_it_is_told() -> None:
    handle = Handle()
    client = JobClient(handle)
    assert client.trigger_savepoint("s3://bucket/kept").result() == "answer"
    assert client.trigger_savepoint().result() == "answer"
    assert client.stop_with_savepoint(False, "kept").result() == "answer"
    assert client.stop_with_savepoint(advance_to_end_of_event_time=False).result() == "answer"
    assert client.stop_with_savepoint(advance_to_end_of_event_time=True).result() == "answer"
    assert client.stop().result() is None
    assert client.rescale(3).result() is None
    assert handle.asked == [
        ("savepoint", "s3://bucket/kept"),
        ("savepoint", None),
        ("stop", "kept"),
        ("stop", ""),
        ("drain", ""),
        ("stop", None),
        ("rescale", 3),
    ]


def test_a_client_refuses_what_cannot_be_done() -> None:
    handle = Handle()
    for parallelism in (0, -1, True, "3"):
        with pytest.raises(ProgramError, match="requires a parallelism of at least 1"):
            JobClient(handle).rescale(parallelism)  # type: ignore[arg-type]
    assert handle.asked == []


def test_futures() -> None:
    assert CompletableFuture.of(lambda: 3).result() == 3
    pending: Future[Any] = Future()
    future = CompletableFuture(pending, str)
    assert str(future) == "CompletableFuture[not completed]"
    pending.set_result(5)
    assert future.result() == "5"
    assert str(future) == "CompletableFuture[completed]"
    cancelled = CompletableFuture(Future())
    assert cancelled.cancel()
    assert cancelled.cancelled()
    assert isinstance(cancelled.exception(), CancelledError)
    assert str(cancelled) == "CompletableFuture[cancelled]"


def test_futures_keep_no_program_alive() -> None:
    running, release = threading.Event(), threading.Event()

    def work() -> bool:
        running.set()
        release.wait()
        return threading.current_thread().daemon

    future = CompletableFuture.of(work)
    running.wait()
    assert not future.cancel()
    release.set()
    assert future.result() is True


def test_results_show_as_flinks_do() -> None:
    result = JobExecutionResult(JobID("0a"), 10417, {"seen": 3})
    assert str(result).splitlines() == [
        "Program execution finished",
        "Job with JobID 0a has finished.",
        "Job Runtime: 10417 ms",
        "Accumulator Results: ",
        "- seen: 3",
    ]
    assert result.get_accumulator_result("seen") == 3
    assert result.get_accumulator_result("other") is None
    assert result.get_all_accumulator_results() == {"seen": 3}


def test_statuses() -> None:
    terminal = {status.name for status in JobStatus if status.is_terminal_state()}
    assert terminal == {"FAILED", "CANCELED", "FINISHED", "SUSPENDED"}
    assert {status.name for status in JobStatus if status.is_globally_terminal_state()} == terminal - {
        "SUSPENDED"
    }
    assert [constraint.name for constraint in InputDependencyConstraint] == ["ANY", "ALL"]


def test_job_ids() -> None:
    assert JobID("0a") == JobID("0a")
    assert len({JobID.generate(), JobID.generate()}) == 2
    assert len(str(JobID.generate())) == 32


def test_metrics() -> None:
    group = MetricGroup(["job", "map", "0"])
    group.counter("seen").inc(3)
    group.counter("seen").dec()
    inner = group.add_group("kind", "a")
    inner.meter("rate").mark_event(4)
    for value in (3, 1, 2):
        inner.distribution("size").update(value)
    group.distribution("nothing")
    readings = [1]
    group.gauge("last", lambda: readings[-1])
    readings.append(7)
    assert group.take() == {
        "seen": Reading("counter", (2,)),
        "nothing": Reading("distribution", (0, 0, 0, 0)),
        "last": Reading("gauge", (7,)),
        "kind.a.rate": Reading("meter", (4, 60)),
        "kind.a.size": Reading("distribution", (3, 6, 1, 3)),
    }
    assert group.take() == {}
    group.counter("seen").inc(5)
    inner.distribution("size").update(9)
    inner.meter("rate").mark_event()
    readings.append(8)
    assert group.take() == {
        "seen": Reading("counter", (5,)),
        "last": Reading("gauge", (8,)),
        "kind.a.rate": Reading("meter", (1, 60)),
        "kind.a.size": Reading("distribution", (1, 9, 9, 9)),
    }
    readings.append("many")
    with pytest.raises(ProgramError, match="requires gauge 'last' to return a number; got str"):
        group.take()
    assert inner.scope == ("job", "map", "0", "kind", "a")
    with pytest.raises(ProgramError, match="got a counter of that name"):
        group.meter("seen")
    with pytest.raises(ProgramError, match="requires a callable"):
        group.gauge("x", 5)  # type: ignore[arg-type]

"""Adding up what subtasks report."""

from __future__ import annotations

import math

from firesteel.common.errors import ConnectorError
from firesteel.common.metrics import Reading
from firesteel.common.time import MIN_WATERMARK
from firesteel.compiler import PlanSettings, compile_graph
from firesteel.control.events import Command, Committed, Failed, Recovered
from firesteel.control.metrics import Metrics
from firesteel.control.rates import BUCKET_MS
from firesteel.control.views.failures import Failure, Failures
from firesteel.control.views.metrics import CheckpointFigures, FailedCheckpoint, MetricView, Restored
from firesteel.runtime.plan import Plan, SubtaskReport
from firesteel.runtime.usage import Usage
from tests.compiler.graph_text import parse


def plan(parallelism: int = 2) -> Plan:
    text = "numbers: source own=1\ncount: map <- numbers\nout: sink <- count"
    return compile_graph(parse(text), PlanSettings(parallelism=parallelism)).plan


def report(
    subtask: int, operator: int = 1, watermark: int = MIN_WATERMARK, **metrics: Reading
) -> SubtaskReport:
    return SubtaskReport(operator, subtask, watermark, metrics=metrics)


def views(metrics: Metrics, now: int = 0, operator: int = 1) -> dict[str, MetricView]:
    seen = metrics.view(now)
    assert seen is not None
    return {view.name: view for view in seen.operators[operator].metrics}


def test_before_the_first_epoch_there_is_nothing() -> None:
    assert Metrics(plan()).view(0) is None


def test_a_subtask_without_a_reading_keeps_what_it_had() -> None:
    metrics = Metrics(plan())
    metrics.add(4, [report(0, seen=Reading("counter", (3,))), report(1)], 0)
    metrics.add(5, [report(0), report(1, seen=Reading("counter", (-1,)))], 0)
    assert views(metrics)["seen"] == MetricView("seen", "counter", 2, (3, -1))
    seen = metrics.view(0)
    assert seen is not None
    assert (seen.since, seen.epoch) == (4, 5)


def test_another_parallelism_begins_anew() -> None:
    metrics = Metrics(plan())
    metrics.add(1, [report(1, seen=Reading("counter", (3,)))], 0)
    metrics.start(plan(3))
    assert metrics.view(0) is None
    metrics.add(2, [report(2, seen=Reading("counter", (1,)))], 0)
    assert views(metrics)["seen"].subtasks == (None, None, 1)


def test_rates_are_of_the_time_span() -> None:
    metrics = Metrics(plan())
    metrics.add(1, [report(0, hits=Reading("meter", (120, 60)))], 0)
    metrics.add(2, [report(1, hits=Reading("meter", (60, 60)))], 30_000)
    assert views(metrics, 30_000)["hits.rate"] == MetricView("hits.rate", "meter", 3, (2, 1))
    assert views(metrics, 60_000 + BUCKET_MS)["hits.rate"].subtasks == (0, 1)
    assert views(metrics, 90_000 + BUCKET_MS)["hits.rate"].value == 0
    assert views(metrics, 90_000 + BUCKET_MS)["hits"].value == 180


def test_gauges_stand_for_themselves() -> None:
    metrics = Metrics(plan())
    metrics.add(1, [report(0, 1, 5, size=Reading("gauge", (1,))), report(1, 1, 7)], 0)
    metrics.add(2, [report(0, 1, 6, size=Reading("gauge", (math.nan,))), report(1, 1, 8), report(0, 0, 9)], 0)
    assert views(metrics)["size"] == MetricView("size", "gauge", None, (None, None))
    assert views(metrics)["currentInputWatermark"].subtasks == (6, 8)
    assert views(metrics, operator=0)["currentOutputWatermark"].subtasks == (9,)


def test_a_distribution_that_is_empty_has_no_bounds() -> None:
    metrics = Metrics(plan())
    metrics.add(1, [report(0, size=Reading("distribution", (0, 0, 0, 0)))], 0)
    assert sorted(name for name in views(metrics) if name.startswith("size")) == ["size.count", "size.sum"]
    metrics.add(2, [report(1, size=Reading("distribution", (2, -7, -4, -3)))], 0)
    assert views(metrics)["size.min"] == MetricView("size.min", "distribution", -4, (0, -4))
    assert views(metrics)["size.mean"] == MetricView("size.mean", "distribution", -3.5, (None, -3.5))


def test_checkpoints_and_failures_are_remembered_and_where_the_job_began_again() -> None:
    metrics = Metrics(plan())
    metrics.carried_out(Command.RECOVER, Recovered(finished=False), 1.0, 10)
    stored = SubtaskReport(1, 0, MIN_WATERMARK, usage=Usage(persist_ns=3_000_000))
    metrics.add(8, [stored, report(1)], 20)
    metrics.carried_out(Command.COMMIT, Committed(finished=False), 2.0, 22)
    seen = metrics.view(30)
    assert seen is not None
    assert seen.checkpoints == (CheckpointFigures(8, 20, 5.0, {plan().operators[1].id: (3.0, 0.0)}),)
    assert seen.restored == Restored(7, 10)
    metrics.carried_out(Command.RUN, Failed(ConnectorError("is full", who="sink 'out'")), 1.0, 40)
    metrics.carried_out(Command.RECOVER, Recovered(finished=False), 1.0, 50)
    again = metrics.view(60)
    assert again is not None
    assert again.restored == Restored(8, 50)
    assert again.failed == FailedCheckpoint(9, 40, "sink 'out' is full")
    kind = "firesteel.common.errors.ConnectorError"
    assert metrics.failures() == Failures((Failure(40, kind, "sink 'out' is full", "sink 'out'"),))
    for epoch in range(9, 30):
        metrics.add(epoch, [report(0)], epoch)
        metrics.carried_out(Command.COMMIT, Committed(finished=False), 2.0, epoch)
    later = metrics.view(60)
    assert later is not None
    assert later.failed == again.failed
    assert [figures.epoch for figures in later.checkpoints] == list(range(20, 30))


def test_an_epoch_that_fails_before_any_other_has_the_number_of_the_next() -> None:
    metrics = Metrics(plan())
    metrics.carried_out(Command.RECOVER, Recovered(finished=False), 1.0, 10)
    metrics.carried_out(Command.RUN, Failed(ConnectorError("is full")), 1.0, 40)
    metrics.add(8, [report(0)], 50)
    seen = metrics.view(60)
    assert seen is not None
    assert seen.failed == FailedCheckpoint(8, 40, "is full")

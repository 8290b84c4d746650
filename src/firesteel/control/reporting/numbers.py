"""The metrics of a job as a flat list of numbers, each with the place that it is of: what reporters send."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from firesteel.checkpoint.objects import Storage
from firesteel.control.commands import read_status
from firesteel.control.reporting.catalogue import RISING
from firesteel.control.views.metrics import JobMetrics, MetricView, OperatorMetrics, read_metrics


class Number(NamedTuple):
    """One value; `operator` is None for those of the job, `subtask` for those that are of no single one.

    `rises` is whether it only rises while a driver runs; a counter of a program's own may fall, too.
    """

    name: str
    value: float
    rises: bool = False
    operator: str | None = None
    operator_id: str | None = None
    subtask: int | None = None
    worker: str | None = None


class Reported(NamedTuple):
    """The numbers of a job at a moment (milliseconds)."""

    job_id: str
    job_name: str
    time: int
    numbers: tuple[Number, ...]


def reported(job_id: str, job_name: str, metrics: JobMetrics) -> Reported:
    """Return all numbers of a job; what was not measured has none."""
    return Reported(job_id, job_name, metrics.measured_at, tuple(_numbers(metrics)))


def read_reported(storage: Storage) -> Reported | None:
    """Return the numbers that the driver of a job wrote last to its state directory; None if there are none."""
    metrics, status = read_metrics(storage), read_status(storage)
    if metrics is None or status is None:
        return None
    return reported(status.job_id, status.job_name, metrics)


def _numbers(metrics: JobMetrics) -> Iterator[Number]:
    for view in metrics.job:
        if view.value is not None:
            yield Number(view.name, view.value, _rises(view))
    for operator in metrics.operators:
        for view in operator.metrics:
            yield from _of_operator(operator, view)
    for worker in metrics.workers:
        place = f"{worker.host}:{worker.pid}"
        yield Number("workerMemoryBytes", worker.memory, worker=place)
        yield Number("workerStateMemoryBytes", worker.state_memory, worker=place)
        yield Number("workerStateMemoryLimitBytes", worker.state_limit, worker=place)


def _of_operator(operator: OperatorMetrics, view: MetricView) -> Iterator[Number]:
    rises = _rises(view)
    if not view.subtasks and view.value is not None:
        yield Number(view.name, view.value, rises, operator.name, operator.id)
    for subtask, value in enumerate(view.subtasks):
        if value is not None:
            yield Number(view.name, value, rises, operator.name, operator.id, subtask)


def _rises(view: MetricView) -> bool:
    return view.name in RISING

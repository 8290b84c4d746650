"""The metrics of a job: those of its operators in the epochs that its driver has committed."""

from __future__ import annotations

from typing import Final

import msgspec

from firesteel.checkpoint.documents import read_document, write_document
from firesteel.checkpoint.objects import Storage
from firesteel.common.metrics import Kind

FILE: Final = "metrics.json"


class MetricView(msgspec.Struct, frozen=True):
    """One number of an operator: `subtasks` has the value of each subtask (None: nothing measured there).

    `name` has the user's groups before it, joined by dots. A meter `m` gives `m` (its count) and `m.rate` (events per
    second); a distribution `d` gives `d.count`, `d.sum`, `d.min`, `d.max` and `d.mean`. `value` is that of all subtasks
    together; None for gauges.
    """

    name: str
    kind: Kind
    value: int | float | None
    subtasks: tuple[int | float | None, ...]


class OperatorMetrics(msgspec.Struct, frozen=True):
    """The metrics of an operator, by name; `id` is the id of its state."""

    id: str
    name: str
    metrics: tuple[MetricView, ...]

    def value(self, name: str) -> int | float | None:
        """Return the value of a metric over all subtasks; None if there is none."""
        return next((metric.value for metric in self.metrics if metric.name == name), None)


class JobMetrics(msgspec.Struct, frozen=True):
    """The metrics of a job's operators, in topological order.

    They cover the epochs from `since`, the first that the driver committed (after its last change of parallelism, if
    any), up to `epoch`.
    """

    since: int
    epoch: int
    operators: tuple[OperatorMetrics, ...]


def read_metrics(storage: Storage) -> JobMetrics | None:
    """Return the last metrics that a driver of the job wrote; None if there are none."""
    return read_document(storage, FILE, JobMetrics, hint=None)


def write_metrics(storage: Storage, metrics: JobMetrics) -> None:
    """Replace the last metrics that a driver of the job wrote."""
    write_document(storage, FILE, metrics)

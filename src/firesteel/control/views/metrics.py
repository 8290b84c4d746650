"""The metrics of a job, of its operators in the epochs that its driver has committed, and of its workers."""

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


class WorkerMetrics(msgspec.Struct, frozen=True):
    """A process that ran tasks of the job: its resident memory, its state's and the limit of that, in bytes.

    `seen_at` is when it ended its last task (milliseconds).
    """

    host: str
    pid: int
    memory: int
    state_memory: int
    state_limit: int
    seen_at: int


class Bottleneck(msgspec.Struct, frozen=True):
    """What the job spends most of its time on: a subtask, or (`operator` is None) a phase of the epochs on the driver.

    `busy` is its time in milliseconds per second. With `at_limit` the job would read more if this were faster: it does
    not wait for input.
    """

    name: str
    busy: float
    at_limit: bool
    operator: str | None = None
    subtask: int | None = None


class CheckpointFigures(msgspec.Struct, frozen=True):
    """How an epoch became a checkpoint: when its manifest was written, and how long that and storing its state took.

    Times are in milliseconds. `stored` has, for each operator with state, how long each subtask stored it.
    """

    epoch: int
    at: int
    duration: float
    stored: dict[str, tuple[float, ...]] = {}


class EpochFigures(msgspec.Struct, frozen=True):
    """An epoch whose output is visible since `published_at` (milliseconds since 1970), and how long each phase took.

    The phases are in milliseconds, one after the other; `wait` is for the output of the epoch before it. `records` is
    what it read, `largest` what of that comes from the source that gave most: at most about `limit`, if the epochs of
    the job are limited. `stored` are the bytes of state that it wrote. After it the job's admission expects an epoch to
    take `floor` and `cost` for each record of that source (milliseconds), and lets the next one read `next_limit`
    records of each source; `certain` is whether it has compared epochs of different sizes.
    """

    epoch: int
    published_at: int
    plan: float
    run: float
    wait: float
    commit: float
    publish: float
    records: int
    largest: int
    stored: int
    limit: int
    floor: float
    cost: float
    certain: bool
    next_limit: int

    @property
    def duration(self) -> float:
        """How long it took until its output was visible."""
        return round(self.plan + self.run + self.wait + self.commit + self.publish, 3)


class FailedCheckpoint(msgspec.Struct, frozen=True):
    """An epoch that did not become a checkpoint, when that was known (milliseconds), and why.

    It is run again, under its number.
    """

    epoch: int
    at: int
    message: str


class Restored(msgspec.Struct, frozen=True):
    """The epoch from which the job began again last, and when (milliseconds)."""

    epoch: int
    at: int


class JobMetrics(msgspec.Struct, frozen=True):
    """The metrics of a job: its own, and those of its operators, in topological order.

    They cover the epochs from `since`, the first that the driver committed (after its last change of parallelism, if
    any), up to `epoch`. `measured_at` is the time of the values (milliseconds), `workers` are the processes of the last
    minute, `checkpoints` the last epochs that were committed, `epochs` those whose output is visible, oldest first, and
    `failed` is the last one that failed.
    """

    since: int
    epoch: int
    operators: tuple[OperatorMetrics, ...]
    job: tuple[MetricView, ...] = ()
    workers: tuple[WorkerMetrics, ...] = ()
    measured_at: int = 0
    bottleneck: Bottleneck | None = None
    checkpoints: tuple[CheckpointFigures, ...] = ()
    restored: Restored | None = None
    epochs: tuple[EpochFigures, ...] = ()
    failed: FailedCheckpoint | None = None


def read_metrics(storage: Storage) -> JobMetrics | None:
    """Return the last metrics that a driver of the job wrote; None if there are none."""
    return read_document(storage, FILE, JobMetrics, hint=None)


def write_metrics(storage: Storage, metrics: JobMetrics) -> None:
    """Replace the last metrics that a driver of the job wrote."""
    write_document(storage, FILE, metrics)

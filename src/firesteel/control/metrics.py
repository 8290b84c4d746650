"""What is measured of a job: of each subtask, epoch by epoch, and of the job as a whole.

Contract: `add` takes the reports of a committed epoch, so that failed epochs do not count, and nothing is counted
twice; restarts by the restart strategy keep the counts. `made_way` follows when the next epoch can begin, `published`
when the epoch's output is visible. `carried_out` tells how long each command of the machine took. `start` resets what
belongs to operators, for a plan with another parallelism. `view` may be called from any thread.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from typing import Final

from firesteel.common.metrics import Reading
from firesteel.control.bottleneck import bottleneck_of
from firesteel.control.events import Command, Event, Planned
from firesteel.control.job_metrics import JobFigures
from firesteel.control.latencies import Latencies
from firesteel.control.rates import SPAN_MS
from firesteel.control.subtask_metrics import SubtaskFigures
from firesteel.control.time_shares import TimeShares
from firesteel.control.views.failures import Failures
from firesteel.control.views.metrics import (
    EpochFigures,
    JobMetrics,
    MetricView,
    OperatorMetrics,
    WorkerMetrics,
)
from firesteel.runtime.plan import Plan, SubtaskReport, TaskReport

Number = int | float
_NONE: Final = SubtaskFigures()


class Metrics:
    """The metrics of a running job; `now` is the time at which its driver started (milliseconds)."""

    def __init__(self, plan: Plan, now: int = 0) -> None:
        self._lock = threading.Lock()
        self._job = JobFigures(now)
        self._workers: dict[tuple[str, int], WorkerMetrics] = {}
        self.start(plan, now)

    def start(self, plan: Plan, now: int = 0) -> None:
        """Forget everything of operators, and continue with another plan."""
        with self._lock:
            self._plan = plan
            self._since = self._epoch = 0
            self._subtasks: dict[tuple[int, int], SubtaskFigures] = {}
            self._shares = TimeShares(plan, now)
            self._latencies = Latencies(plan)

    def add(self, epoch: int, reports: Sequence[SubtaskReport], now: int) -> None:
        """Add the subtasks' metrics of a committed epoch; `now` is the time (milliseconds)."""
        with self._lock:
            self._since = self._since or epoch
            self._epoch = epoch
            self._job.committed(epoch, reports, [spec.id for spec in self._plan.operators], now)
            for report in reports:
                place = (report.operator, report.subtask)
                subtask = self._subtasks.get(place)
                if subtask is None:
                    subtask = self._subtasks[place] = SubtaskFigures()
                subtask.add(report, now)

    def published(self, tasks: Sequence[TaskReport], epoch: EpochFigures) -> None:
        """Add an epoch whose output has become visible, and the latencies in it."""
        with self._lock:
            self._job.epochs.append(epoch)
            self._latencies.add((report for task in tasks for report in task.subtasks), epoch.published_at)

    def made_way(self, tasks: Sequence[TaskReport], now: int) -> None:
        """Add the tasks of an epoch after which the next one can begin, at once if there is input."""
        with self._lock:
            self._shares.ran(tasks, now)
            for task in tasks:
                worker = task.worker
                if worker is not None:
                    self._workers[worker.host, worker.pid] = WorkerMetrics(
                        worker.host, worker.pid, worker.memory, worker.state_memory, worker.state_limit, now
                    )
            self._workers = {key: seen for key, seen in self._workers.items() if now - seen.seen_at < SPAN_MS}

    def carried_out(self, command: Command, event: Event, ms: float, now: int) -> None:
        """Note how long a command of the machine took."""
        with self._lock:
            if isinstance(event, Planned) and event.work:
                self._shares.went_on(self._job.goes_on_at_once, now)
            self._job.carried_out(command, event, ms, now)

    def view(self, now: int) -> JobMetrics | None:
        """Return all metrics, with rates as of `now` (milliseconds); None before the first epoch."""
        with self._lock:
            if not self._epoch:
                return None
            operators = tuple(
                OperatorMetrics(spec.id, spec.name, tuple(self._views(spec.index, spec.parallelism, now)))
                for spec in self._plan.operators
            )
            job = tuple(
                view
                for name, reading in sorted(self._job.readings(now).items())
                for view in _views_of(name, [reading], single=True)
            )
            workers = tuple(self._workers[key] for key in sorted(self._workers))
            bottleneck = bottleneck_of(operators, self._job.shares(now), self._job.waiting(now))
            return JobMetrics(
                self._since,
                self._epoch,
                operators,
                job,
                workers,
                now,
                bottleneck,
                tuple(self._job.checkpoints),
                self._job.restored,
                tuple(self._job.epochs),
                self._job.failed,
            )

    def failures(self) -> Failures:
        """Return the last failures since the driver started."""
        with self._lock:
            return Failures(tuple(self._job.failures))

    def _views(self, operator: int, parallelism: int, now: int) -> Iterator[MetricView]:
        is_source = not self._plan.operators[operator].ports
        subtasks = [self._subtasks.get((operator, subtask), _NONE) for subtask in range(parallelism)]
        totals = [figures.readings(is_source, now) for figures in subtasks]
        for subtask, readings in enumerate(totals):
            if readings:
                shares = self._shares.of((operator, subtask), now)
                readings.update({name: _share(name, value) for name, value in shares.items()})
        for name in sorted({name for readings in totals for name in readings}):
            yield from _views_of(name, [readings.get(name) for readings in totals])
            rates = tuple(figures.rate(name, now) for figures in subtasks)
            if any(rate is not None for rate in rates):
                yield MetricView(f"{name}.rate", "meter", sum(filter(None, rates)), rates)
        for name, value in self._latencies.of(operator):
            yield MetricView(name, "gauge", value, ())


def _share(name: str, value: float) -> Reading:
    return Reading("counter" if name.startswith("accumulate") else "gauge", (value,))


def _views_of(name: str, readings: list[Reading | None], *, single: bool = False) -> Iterator[MetricView]:
    """Yield the numbers of a metric; a `single` one is not of subtasks."""
    found = [reading for reading in readings if reading is not None]
    kind = found[-1].kind
    if kind != "distribution":
        numbers = _column(readings, 0)
        value = None if kind == "gauge" else sum(number for number in numbers if number is not None)
        yield MetricView(name, kind, numbers[0] if single else value, () if single else numbers)
        return
    merged = found[0]
    for reading in found[1:]:
        merged = merged.plus(reading)
    count, total, least, greatest = merged.numbers
    counts, sums = _column(readings, 0), _column(readings, 1)
    yield MetricView(f"{name}.count", kind, count, () if single else counts)
    yield MetricView(f"{name}.sum", kind, total, () if single else sums)
    if count:
        means = tuple(
            total / count if count and total is not None else None
            for count, total in zip(counts, sums, strict=True)
        )
        yield MetricView(f"{name}.min", kind, least, () if single else _column(readings, 2))
        yield MetricView(f"{name}.max", kind, greatest, () if single else _column(readings, 3))
        yield MetricView(f"{name}.mean", kind, total / count, () if single else means)


def _column(readings: list[Reading | None], place: int) -> tuple[Number | None, ...]:
    return tuple(
        reading.numbers[place] if reading is not None and math.isfinite(reading.numbers[place]) else None
        for reading in readings
    )

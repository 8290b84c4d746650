"""Sums of the metrics of a job's subtasks, epoch by epoch.

Contract: `add` takes the reports of a committed epoch, so that failed epochs do not count, and nothing is counted
twice; restarts by the restart strategy keep the counts. `start` resets everything, for a plan with another parallelism.
`view` may be called from any thread.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from firesteel.common.metrics import Reading
from firesteel.common.time import MIN_WATERMARK
from firesteel.control.views.metrics import JobMetrics, MetricView, OperatorMetrics
from firesteel.runtime.plan import Plan, SubtaskReport

BUCKET_MS: Final = 5_000
"""The resolution at which rates remember when events happened (Flink's MeterView has the same)."""

Number = int | float


class Metrics:
    """The metrics of a running job."""

    def __init__(self, plan: Plan) -> None:
        self._lock = threading.Lock()
        self.start(plan)

    def start(self, plan: Plan) -> None:
        """Forget everything, and continue with another plan."""
        with self._lock:
            self._plan = plan
            self._since = self._epoch = 0
            self._subtasks: dict[tuple[int, int], _Subtask] = {}

    def add(self, epoch: int, reports: Iterable[SubtaskReport], now: int) -> None:
        """Add the subtasks' metrics of a committed epoch; `now` is the time (milliseconds)."""
        with self._lock:
            self._since = self._since or epoch
            self._epoch = epoch
            for report in reports:
                place = (report.operator, report.subtask)
                subtask = self._subtasks.get(place)
                if subtask is None:
                    subtask = self._subtasks[place] = _Subtask()
                subtask.add(report, now)

    def view(self, now: int) -> JobMetrics | None:
        """Return all metrics, with rates as of `now` (milliseconds); None before the first epoch."""
        with self._lock:
            if not self._epoch:
                return None
            operators = tuple(
                OperatorMetrics(spec.id, spec.name, tuple(self._views(spec.index, spec.parallelism, now)))
                for spec in self._plan.operators
            )
            return JobMetrics(self._since, self._epoch, operators)

    def _views(self, operator: int, parallelism: int, now: int) -> Iterator[MetricView]:
        none = _Subtask()
        is_source = not self._plan.operators[operator].ports
        subtasks = [self._subtasks.get((operator, subtask), none) for subtask in range(parallelism)]
        totals = [subtask.readings(is_source) for subtask in subtasks]
        for name in sorted({name for readings in totals for name in readings}):
            yield from _views_of(name, [readings.get(name) for readings in totals])
            rates = tuple(subtask.rate(name, now) for subtask in subtasks)
            if any(rate is not None for rate in rates):
                yield MetricView(f"{name}.rate", "meter", sum(filter(None, rates)), rates)


class _Subtask:
    """The metrics of one subtask; the engine's own are plain numbers, because every epoch adds to them."""

    __slots__ = ("_events", "_records_in", "_records_out", "_reported", "_totals", "_watermark")

    def __init__(self) -> None:
        self._reported = False
        self._records_in = self._records_out = 0
        self._watermark = MIN_WATERMARK
        self._totals: dict[str, Reading] = {}
        self._events: dict[str, _Events] = {}

    def add(self, report: SubtaskReport, now: int) -> None:
        self._reported = True
        self._records_in += report.records_in
        for split in report.splits:
            self._records_in += split.records
        self._records_out += report.records_out
        self._watermark = report.watermark
        for name, reading in report.metrics.items():
            before = self._totals.get(name)
            self._totals[name] = reading if before is None else before.plus(reading)
            if reading.kind == "meter":
                count, span = reading.numbers
                self._events.setdefault(name, _Events()).add(count, int(span) * 1000, now)

    def readings(self, is_source: bool) -> dict[str, Reading]:
        """Return all metrics, the engine's by Flink's names; the records that a source reads count as its input."""
        if not self._reported:
            return {}
        readings = {
            **self._totals,
            "numRecordsIn": Reading("counter", (self._records_in,)),
            "numRecordsOut": Reading("counter", (self._records_out,)),
        }
        if self._watermark > MIN_WATERMARK:
            mark = "currentOutputWatermark" if is_source else "currentInputWatermark"
            readings[mark] = Reading("gauge", (self._watermark,))
        return readings

    def rate(self, name: str, now: int) -> float | None:
        """Return the events per second of a meter; None for any other metric."""
        events = self._events.get(name)
        return None if events is None else events.rate(now)


class _Events:
    """The times of a meter's events within its time span."""

    __slots__ = ("_buckets", "_span_ms")

    def __init__(self) -> None:
        self._buckets: deque[tuple[int, float]] = deque()
        self._span_ms = 0

    def add(self, count: float, span_ms: int, now: int) -> None:
        self._span_ms = span_ms
        bucket = now // BUCKET_MS
        if self._buckets and self._buckets[-1][0] == bucket:
            count += self._buckets.pop()[1]
        self._buckets.append((bucket, count))
        self._forget(now)

    def rate(self, now: int) -> float:
        """Return the events per second over the whole time span, even before its end (as Flink's MeterView)."""
        self._forget(now)
        return sum(count for _, count in self._buckets) * 1000 / self._span_ms

    def _forget(self, now: int) -> None:
        while self._buckets and (self._buckets[0][0] + 1) * BUCKET_MS <= now - self._span_ms:
            self._buckets.popleft()


def _views_of(name: str, readings: list[Reading | None]) -> Iterator[MetricView]:
    found = [reading for reading in readings if reading is not None]
    kind = found[-1].kind
    if kind != "distribution":
        numbers = _column(readings, 0)
        value = None if kind == "gauge" else sum(number for number in numbers if number is not None)
        yield MetricView(name, kind, value, numbers)
        return
    merged = found[0]
    for reading in found[1:]:
        merged = merged.plus(reading)
    count, total, least, greatest = merged.numbers
    counts, sums = _column(readings, 0), _column(readings, 1)
    yield MetricView(f"{name}.count", kind, count, counts)
    yield MetricView(f"{name}.sum", kind, total, sums)
    if count:
        means = tuple(
            total / count if count and total is not None else None
            for count, total in zip(counts, sums, strict=True)
        )
        yield MetricView(f"{name}.min", kind, least, _column(readings, 2))
        yield MetricView(f"{name}.max", kind, greatest, _column(readings, 3))
        yield MetricView(f"{name}.mean", kind, total / count, means)


def _column(readings: list[Reading | None], place: int) -> tuple[Number | None, ...]:
    return tuple(
        reading.numbers[place] if reading is not None and math.isfinite(reading.numbers[place]) else None
        for reading in readings
    )

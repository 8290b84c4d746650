"""What one operator subtask has measured, over the epochs that were committed."""

from __future__ import annotations

from typing import Final

from firesteel.common.metrics import Reading
from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.control.rates import SPAN_MS, Events
from firesteel.runtime.plan import SubtaskReport

_FLOWS: Final = ("numRecordsIn", "numRecordsOut", "numBytesIn", "numBytesOut")
"""Counters of the engine, each with its rate over a minute (Flink: `numRecordsInPerSecond`)."""


class SubtaskFigures:
    """The figures of a subtask; the engine's own are plain numbers, because every epoch adds to them."""

    __slots__ = ("_events", "_flows", "_last", "_rates", "_reads", "_seen", "_totals")

    def __init__(self) -> None:
        self._flows = [0, 0, 0, 0]
        self._rates = [Events() for _ in _FLOWS]
        self._reads = self._seen = 0
        self._totals: dict[str, Reading] = {}
        self._events: dict[str, Events] = {}
        self._last: SubtaskReport | None = None

    def add(self, report: SubtaskReport, now: int) -> None:
        """Add a committed epoch; `now` is the time (milliseconds)."""
        read, read_bytes = (
            sum(split.records for split in report.splits),
            sum(split.bytes for split in report.splits),
        )
        usage = report.usage
        flows = (report.records_in + read, report.records_out, usage.bytes_in + read_bytes, usage.bytes_out)
        for place, amount in enumerate(flows):
            self._flows[place] += amount
            self._rates[place].add(amount, SPAN_MS, now)
        self._reads += usage.store.reads
        self._seen += report.records_in
        self._last = report
        for name, reading in report.metrics.items():
            before = self._totals.get(name)
            self._totals[name] = reading if before is None else before.plus(reading)
            if reading.kind == "meter":
                count, span = reading.numbers
                self._events.setdefault(name, Events()).add(count, int(span) * 1000, now)

    def readings(self, is_source: bool, now: int) -> dict[str, Reading]:
        """Return all metrics, the engine's by Flink's names; the records that a source reads count as its input."""
        last = self._last
        if last is None:
            return {}
        readings = dict(self._totals)
        for name, count, events in zip(_FLOWS, self._flows, self._rates, strict=True):
            readings[name] = Reading("counter", (count,))
            readings[f"{name}PerSecond"] = Reading("meter", (events.rate(now), SPAN_MS // 1000))
        gauges = self._gauges_of_state(last)
        if last.watermark > MIN_WATERMARK:
            gauges["currentOutputWatermark" if is_source else "currentInputWatermark"] = last.watermark
            if last.watermark < MAX_WATERMARK:
                gauges["watermarkLag"] = now - last.watermark
        return readings | {name: Reading("gauge", (value,)) for name, value in gauges.items()}

    def rate(self, name: str, now: int) -> float | None:
        """Return the events per second of a meter of the program; None for any other metric."""
        events = self._events.get(name)
        return None if events is None else events.rate(now)

    def _gauges_of_state(self, last: SubtaskReport) -> dict[str, float]:
        usage = last.usage
        gauges: dict[str, float] = {}
        if last.schemas is not None or usage.arranged_rows is not None:
            gauges["stateChangedBytes"] = sum(run.size for run in last.runs)
            gauges["stateChangedEntries"] = sum(run.entries for run in last.runs)
            gauges["statePersistTimeMs"] = usage.persist_ns / 1_000_000
        if last.schemas is not None:
            gauges["stateMemoryBytes"] = usage.state_memory
            gauges["stateSpilledBytes"] = usage.spilled
            gauges["stateReads"] = self._reads
            if self._seen:
                gauges["stateCacheHitRatio"] = max(0.0, 1 - self._reads / self._seen)
        if usage.store.entries is not None and usage.store.bytes is not None:
            gauges["stateEntries"], gauges["stateBytes"] = usage.store.entries, usage.store.bytes
        if usage.arranged_rows is not None:
            gauges["arrangedRows"] = usage.arranged_rows
        return gauges

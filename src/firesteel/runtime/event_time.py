"""Timestamps and watermarks of one stream: a source split, or what `assign_timestamps_and_watermarks` is given.

Contract: `EventTime.stamp(values, timestamps)` assigns timestamps and feeds the generator; it returns
segments, each a list of records and the watermark that stands behind it. A built-in strategy yields one
segment a batch (the watermark is the batch's maximum minus the bound minus one: Flink's
`BoundedOutOfOrdernessWatermarks`); a generator of the user's own is asked record by record, and each
watermark it emits ends a segment, so its place among the records is exact.

What it knows is `state` (picklable): the generator, the last watermark, and since when nothing came
(processing time), for idleness (Flink: `WatermarksWithIdleness`). It survives in the manifest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firesteel.common.time import MIN_WATERMARK
from firesteel.common.watermark_strategy import WatermarkOutput, WatermarkStrategy
from firesteel.runtime.failures import user_failure

Segment = tuple[list[Any], list[int | None] | None, int | None]
"""(values, timestamps, watermark behind them or None if it did not rise)."""


class _Emitted(WatermarkOutput):
    """Collects what a generator emits."""

    __slots__ = ("idle", "watermark")

    def __init__(self) -> None:
        self.watermark: int | None = None
        self.idle: bool | None = None

    def emit_watermark(self, watermark: int) -> None:
        self.watermark = watermark
        self.idle = False

    def mark_idle(self) -> None:
        self.idle = True

    def mark_active(self) -> None:
        self.idle = False


class EventTime:
    """Assigner and generator of one stream; times in milliseconds."""

    __slots__ = (
        "_assign", "_bound", "_emitted", "_generator", "_idle_timeout", "_now", "_who",
        "active_at", "idle", "watermark",
    )  # fmt: skip

    def __init__(self, strategy: WatermarkStrategy, who: str, state: Any, now: int) -> None:
        self._who = who
        self._now = now
        assigner = strategy.timestamp_assigner
        self._assign = None if assigner is None else assigner.extract_timestamp
        self._idle_timeout: int | None = strategy.idle_timeout
        factory = strategy.generator_factory
        self._emitted = _Emitted()
        if state is None:
            self._generator = None if factory is None else factory()
            self.watermark, self.active_at, self.idle = MIN_WATERMARK, now, False
        else:
            self._generator, self.watermark, self.active_at, self.idle = state
        self._bound: int | None = getattr(self._generator, "out_of_orderness", None)

    @property
    def state(self) -> Any:
        """What to hand to the next epoch."""
        return (self._generator, self.watermark, self.active_at, self.idle)

    def check_idle(self) -> bool:
        """Turn idle if nothing came for the timeout; answer whether the stream is idle."""
        if self._idle_timeout is not None and self._now - self.active_at >= self._idle_timeout:
            self.idle = True
        return self.idle

    def idle_deadline(self) -> int | None:
        """Return the processing time at which this stream turns idle, None if it never will."""
        return None if self._idle_timeout is None or self.idle else self.active_at + self._idle_timeout

    def stamp(self, values: list[Any], timestamps: list[int | None] | None) -> Iterator[Segment]:
        """Assign timestamps to `values` and yield them in segments."""
        self.active_at, self.idle = self._now, False
        if self._assign is not None:
            timestamps = self._assigned(values, timestamps)
        if self._generator is None:
            yield values, timestamps, None
        elif self._bound is not None:
            yield values, timestamps, self._rise_to_bound(timestamps)
        else:
            yield from self._record_by_record(values, timestamps)

    def _assigned(self, values: list[Any], timestamps: list[int | None] | None) -> list[int | None]:
        assign = self._assign
        assert assign is not None
        iterator = iter(values)
        try:
            if timestamps is None:
                return [assign(value, MIN_WATERMARK) for value in iterator]
            return [
                assign(value, MIN_WATERMARK if known is None else known)
                for value, known in zip(iterator, timestamps, strict=True)
            ]
        except Exception as error:
            raise user_failure(error, self._who, values, iterator) from error

    def _rise_to_bound(self, timestamps: list[int | None] | None) -> int | None:
        if timestamps is None:
            return None
        assert self._bound is not None
        try:
            highest = max(timestamps)  # type: ignore[type-var]
        except TypeError:
            highest = max((stamp for stamp in timestamps if stamp is not None), default=MIN_WATERMARK)
        return self._rise(max(MIN_WATERMARK, highest - self._bound - 1))  # type: ignore[operator]

    def _rise(self, watermark: int | None) -> int | None:
        if watermark is None or watermark <= self.watermark:
            return None
        self.watermark = watermark
        return watermark

    def _record_by_record(self, values: list[Any], timestamps: list[int | None] | None) -> Iterator[Segment]:
        generator, emitted = self._generator, self._emitted
        start = 0
        for position, value in enumerate(values):
            stamp = None if timestamps is None else timestamps[position]
            emitted.watermark = None
            try:
                generator.on_event(value, MIN_WATERMARK if stamp is None else stamp, emitted)
            except Exception as error:
                raise user_failure(error, self._who, values[position : position + 1], iter(())) from error
            risen = self._rise(emitted.watermark)
            if risen is not None:
                end = position + 1
                yield values[start:end], None if timestamps is None else timestamps[start:end], risen
                start = end
        emitted.watermark = None
        generator.on_periodic_emit(emitted)
        self.idle = bool(emitted.idle)
        yield (
            values[start:],
            None if timestamps is None else timestamps[start:],
            self._rise(emitted.watermark),
        )

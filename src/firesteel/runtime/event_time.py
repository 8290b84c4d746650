"""Timestamps and watermarks of one stream: a source split, or what `assign_timestamps_and_watermarks` is
given.

Contract: `EventTime.stamp(values, timestamps)` assigns timestamps and feeds the generator; it yields segments, each
with some records and the watermark after them. `flush` returns the watermark that is still held back when an epoch
ends.

A watermark that follows from the records seen so far (a built-in strategy's, or a periodic one) is not sent at once but
before a later batch, when `interval` milliseconds or a whole batch of records have passed since the last one: Flink's
periodic emission, bounded in records. So a short bounded input is read with only the final watermark, as in Flink.
Watermarks that a user's generator emits in `on_event` are sent at once, and their place among the records is exact.

Its `state` (picklable) is the generator, the last watermark and, for idleness, the steady time since when nothing came.
It survives in the manifest. As in Flink (`WatermarksWithIdleness`), setting the machine's clock does not change when a
stream becomes idle, and a job that resumes waits for the whole timeout again.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator
from operator import index
from typing import Any, Final

from firesteel.common.errors import TypeMismatchError
from firesteel.common.time import MIN_WATERMARK
from firesteel.common.watermark_strategy import WatermarkOutput, WatermarkStrategy
from firesteel.functions.epoch import EpochFacts
from firesteel.runtime.batch import MAX_BATCH
from firesteel.runtime.failures import RAISED, summary, user_failure

_INT: Final = frozenset({int})
_HINTS: Final = {
    float: "return int(seconds * 1000)",
    dt.datetime: "return int(moment.timestamp() * 1000)",
    type(None): "return a timestamp for every record, or filter out those that have none before",
}

Segment = tuple[list[Any], list[int | None] | None, int | None]
"""(values, timestamps, the watermark after them or None if it did not rise)."""


def watermark_of(state: Any) -> int:
    """Return the watermark of an `EventTime.state` (milliseconds)."""
    watermark: int = state[1]
    return watermark


class _Emitted(WatermarkOutput):
    """Collects the watermarks that a generator emits."""

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
    """Assigner and generator of one stream in one epoch; times in milliseconds, `active_at` is a steady time."""

    __slots__ = (
        "_assign", "_bound", "_emitted", "_generator", "_held", "_idle_timeout", "_interval", "_now", "_sent_at",
        "_since", "_who", "active_at", "idle", "watermark",
    )  # fmt: skip

    def __init__(
        self, strategy: WatermarkStrategy, who: str, state: Any, facts: EpochFacts, interval: int
    ) -> None:
        self._who = who
        self._now = facts.steady_time
        assigner = strategy.timestamp_assigner
        self._assign = None if assigner is None else assigner.extract_timestamp
        self._idle_timeout: int | None = strategy.idle_timeout
        factory = strategy.generator_factory
        self._emitted = _Emitted()
        if state is None:
            self._generator = None if factory is None else factory()
            self.watermark, self.active_at, self.idle = MIN_WATERMARK, self._now, False
        else:
            self._generator, self.watermark, self.active_at, self.idle = state
            if self._idle_timeout is not None and self.active_at < facts.resumed_at:
                self.active_at, self.idle = facts.resumed_at, False
        self._bound: int | None = getattr(self._generator, "out_of_orderness", None)
        self._interval = interval / 1000
        self._held: int | None = None
        self._since = 0
        self._sent_at = time.monotonic()

    @property
    def state(self) -> Any:
        """The state to pass to the next epoch."""
        return (self._generator, self.watermark, self.active_at, self.idle)

    def check_idle(self) -> bool:
        """Become idle if nothing came for the timeout; return whether the stream is idle."""
        if self._idle_timeout is not None and self._now - self.active_at >= self._idle_timeout:
            self.idle = True
        return self.idle

    def idle_deadline(self) -> int | None:
        """Return the steady time at which this stream becomes idle; None if it never will."""
        return None if self._idle_timeout is None or self.idle else self.active_at + self._idle_timeout

    def stamp(self, values: list[Any], timestamps: list[int | None] | None) -> Iterator[Segment]:
        """Assign timestamps to `values` and yield them in segments."""
        self.active_at, self.idle = self._now, False
        if self._assign is not None:
            timestamps = self._assigned(values, timestamps)
        if self._generator is None:
            yield values, timestamps, None
            return
        if self._since >= MAX_BATCH or (self._since and time.monotonic() - self._sent_at >= self._interval):
            yield [], None, self.flush()
        self._since += len(values)
        if self._bound is not None:
            self._hold(timestamps)
            yield values, timestamps, None
        else:
            yield from self._record_by_record(values, timestamps)

    def flush(self) -> int | None:
        """Return the watermark that follows from the records seen so far; None if it has not risen."""
        self._since = 0
        self._sent_at = time.monotonic()
        if self._generator is not None and self._bound is None:
            self._emitted.watermark = self._emitted.idle = None
            self._generator.on_periodic_emit(self._emitted)
            self._held = self._emitted.watermark
            if self._emitted.idle is not None:
                self.idle = self._emitted.idle
        return self._rise(self._held)

    def _assigned(self, values: list[Any], timestamps: list[int | None] | None) -> list[int | None]:
        assign = self._assign
        assert assign is not None
        iterator = iter(values)
        try:
            assigned: list[int | None]
            if timestamps is None:
                assigned = [assign(value, MIN_WATERMARK) for value in iterator]
            else:
                assigned = [
                    assign(value, MIN_WATERMARK if known is None else known)
                    for value, known in zip(iterator, timestamps, strict=True)
                ]
        except RAISED as error:
            raise user_failure(error, self._who, values, iterator) from error
        if _INT.issuperset(map(type, assigned)):
            return assigned
        return [self._checked(value, stamp) for value, stamp in zip(values, assigned, strict=True)]

    def _checked(self, value: Any, timestamp: Any) -> int:
        """Return a timestamp as an int; a number type of another library is accepted, too."""
        try:
            return index(timestamp)
        except TypeError as error:
            raise TypeMismatchError(
                "requires its timestamp assigner to return an int, in milliseconds since 1970",
                who=self._who,
                got=f"a {type(timestamp).__name__}: {timestamp!r:.80}",
                hint=_HINTS.get(type(timestamp)),
                details=f"record: {summary(value)}",
            ) from error

    def _hold(self, timestamps: list[int | None] | None) -> None:
        if timestamps is None:
            return
        assert self._bound is not None
        try:
            highest: int = max(timestamps)  # type: ignore[type-var, assignment]
        except TypeError:
            highest = max((stamp for stamp in timestamps if stamp is not None), default=MIN_WATERMARK)
        watermark = max(MIN_WATERMARK, highest - self._bound - 1)
        if self._held is None or watermark > self._held:
            self._held = watermark

    def _rise(self, watermark: int | None) -> int | None:
        if watermark is None or watermark <= self.watermark:
            return None
        self.watermark = watermark
        return watermark

    def _record_by_record(self, values: list[Any], timestamps: list[int | None] | None) -> Iterator[Segment]:
        generator, emitted = self._generator, self._emitted
        assert generator is not None
        start = 0
        for position, value in enumerate(values):
            stamp = None if timestamps is None else timestamps[position]
            emitted.watermark = None
            try:
                generator.on_event(value, MIN_WATERMARK if stamp is None else stamp, emitted)
            except RAISED as error:
                raise user_failure(error, self._who, values[position : position + 1], iter(())) from error
            risen = self._rise(emitted.watermark)
            if risen is not None:
                end = position + 1
                yield values[start:end], None if timestamps is None else timestamps[start:end], risen
                start = end
        if emitted.idle is not None:
            self.idle = emitted.idle
        yield values[start:], None if timestamps is None else timestamps[start:], None

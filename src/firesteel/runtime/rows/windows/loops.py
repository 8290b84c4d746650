"""The hot loops of windows, which work on whole batches, for the assigners and triggers that are part of Firesteel.

The watermark does not change within a batch, and a default trigger only waits for the end of its window. So the records
of a batch whose windows have not ended can be added window by window and key by key, with timers registered once per
pane. The result is the same as record by record (except the order of elements within sessions that merge, which Flink
leaves undefined). All other records take the general path.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from firesteel.functions.assigners import (
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    no_timestamp_error,
)
from firesteel.functions.sessions import DynamicEventTimeSessionWindows, EventTimeSessionWindows
from firesteel.functions.triggers import EventTimeTrigger, ProcessingTimeTrigger
from firesteel.functions.windows import time_window
from firesteel.runtime.failures import summary
from firesteel.runtime.rows.windows.by_record import RecordByRecord
from firesteel.runtime.rows.windows.contents import own_copy
from firesteel.runtime.rows.windows.merging import MergingWindowSet
from firesteel.runtime.rows.windows.panes import Panes
from firesteel.runtime.rows.windows.sessions import DynamicSessionPanes, SessionPanes


def _nothing() -> None:
    pass


Take = Callable[[list[Any], list[Any], list[int | None] | None], None]
"""Adds a batch, given as keys, values and timestamps."""


class Loops(NamedTuple):
    """How an operator takes batches, fires due event-time timers, and prepares the end of an epoch."""

    take: Take
    fire: Callable[[int], None]
    settle: Callable[[], None] = _nothing


def specialised(panes: Panes, general: RecordByRecord) -> Loops | None:
    """Return the loops for the assigner and trigger of the general path; None if they have no loops."""
    trigger = type(general.trigger)
    if trigger is EventTimeTrigger and panes.event_time:
        if general.merging is not None:
            return _sessions(panes, general, general.merging)
        return Loops(_event_time_loop(panes, general) or general.take, panes.fire_ended)
    assigner: Any = general.assigner
    if trigger is ProcessingTimeTrigger and type(assigner) in (
        TumblingProcessingTimeWindows,
        SlidingProcessingTimeWindows,
    ):
        return Loops(ProcessingTimePanes(panes, assigner).take, general.fire)
    return None


def _event_time_loop(panes: Panes, general: RecordByRecord) -> Take | None:
    assigner: Any = general.assigner
    if type(assigner) is TumblingEventTimeWindows:
        return TumblingPanes(panes, general.take, assigner.size, assigner.size, assigner.offset).take
    if type(assigner) is SlidingEventTimeWindows:
        return SlidingPanes(panes, general.take, assigner.size, assigner.slide, assigner.offset).take
    return None


def _sessions(panes: Panes, general: RecordByRecord, merging: MergingWindowSet) -> Loops | None:
    assigner: Any = general.assigner
    sessions: SessionPanes
    if type(assigner) is EventTimeSessionWindows:
        sessions = SessionPanes(panes, general, merging, assigner.session_gap)
    elif type(assigner) is DynamicEventTimeSessionWindows:
        sessions = DynamicSessionPanes(panes, general, merging, assigner)
    else:
        return None

    def take(keys: list[Any], values: list[Any], timestamps: list[int | None] | None) -> None:
        sessions.take(keys, values, require_timestamps(panes.who, values, timestamps))

    return Loops(take, sessions.fire, sessions.settle)


def require_timestamps(who: str, values: list[Any], timestamps: list[int | None] | None) -> list[int]:
    """Return the timestamps. Raises RecordError, with the first record that has none, unless all records have one."""
    if timestamps is not None and None not in timestamps:
        return timestamps  # type: ignore[return-value]
    error = no_timestamp_error(who)
    if values:
        error.details = f"record: {summary(values[0 if timestamps is None else timestamps.index(None)])}"
    raise error


class TumblingPanes:
    """Event-time windows of a fixed size; `take` splits a batch by window."""

    def __init__(self, panes: Panes, take_ended: Take, size: int, slide: int, offset: int) -> None:
        self._panes = panes
        self._take_each = take_ended
        self._size = size
        self._slide = slide
        self._offset = offset

    def take(self, keys: list[Any], values: list[Any], timestamps: list[int | None] | None) -> None:
        """Add a batch; records in windows that have ended take the general path."""
        panes = self._panes
        times = require_timestamps(panes.who, values, timestamps)
        if not times:
            return
        earliest = min(times)
        live = self._live_from(panes.clock.watermark)
        if earliest < live:
            keys, values, times = self._take_ended(keys, values, times, live)
            if not times:
                return
            earliest = min(times)
        self._take_live(keys, values, times, earliest)

    def _live_from(self, watermark: int) -> int:
        """Return the earliest timestamp whose windows are all still open at `watermark`."""
        before = watermark + 1 - self._size
        return before - (before - self._offset) % self._slide + self._size

    def _take_ended(
        self, keys: list[Any], values: list[Any], times: list[int], live: int
    ) -> tuple[list[Any], list[Any], list[int]]:
        """Take the records before `live` one by one; return the others."""
        ended = [index for index, time in enumerate(times) if time < live]
        self._take_each(
            [keys[index] for index in ended],
            [values[index] for index in ended],
            [times[index] for index in ended],
        )
        others = [index for index, time in enumerate(times) if time >= live]
        return (
            [keys[index] for index in others],
            [values[index] for index in others],
            [times[index] for index in others],
        )

    def _take_live(self, keys: list[Any], values: list[Any], times: list[int], earliest: int) -> None:
        size, offset = self._size, self._offset
        start = earliest - (earliest - offset) % size
        fold, on_new = self._panes.contents.fold, self._panes.register
        if max(times) < start + size:
            fold(time_window(start, start + size), keys, values, on_new)
            return
        buckets: dict[int, tuple[list[Any], list[Any]]] = {}
        low = high = start  # [low, high) is empty until the first window is set
        for key, value, time in zip(keys, values, times, strict=True):
            if not low <= time < high:
                low = time - (time - offset) % size
                high = low + size
                bucket = buckets.get(low)
                if bucket is None:
                    bucket = buckets[low] = [], []
                add_key, add_value = bucket[0].append, bucket[1].append
            add_key(key)
            add_value(value)
        for low, (bucket_keys, bucket_values) in buckets.items():
            fold(time_window(low, low + size), bucket_keys, bucket_values, on_new)


class SlidingPanes(TumblingPanes):
    """Event-time windows that overlap."""

    def _take_ended(
        self, keys: list[Any], values: list[Any], times: list[int], live: int
    ) -> tuple[list[Any], list[Any], list[int]]:
        """Take the records up to the last one before `live`, which open windows get in its turn; return the others."""
        done = 0
        for index, time in enumerate(times):
            if time < live:
                if done < index:
                    before = slice(done, index)
                    self._take_live(keys[before], values[before], times[before], min(times[before]))
                self._take_each([keys[index]], [values[index]], [time])
                done = index + 1
        return keys[done:], values[done:], times[done:]

    def _take_live(self, keys: list[Any], values: list[Any], times: list[int], earliest: int) -> None:
        size, slide, offset = self._size, self._slide, self._offset
        own = own_copy(self._panes.contents)
        buckets: defaultdict[int, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
        for key, value, time in zip(keys, values, times, strict=True):
            copy = value
            for start in range(time - (time - offset) % slide, time - size, -slide):
                bucket = buckets[start]
                bucket[0].append(key)
                bucket[1].append(copy)
                copy = own(value)
        fold, on_new = self._panes.contents.fold, self._panes.register
        for start, (bucket_keys, bucket_values) in buckets.items():
            fold(time_window(start, start + size), bucket_keys, bucket_values, on_new)


class ProcessingTimePanes:
    """Processing-time windows: time does not change within a batch, so all its records are in the same windows."""

    def __init__(
        self,
        panes: Panes,
        assigner: TumblingProcessingTimeWindows[Any] | SlidingProcessingTimeWindows[Any],
    ) -> None:
        self._panes = panes
        self._assigner = assigner

    def take(self, keys: list[Any], values: list[Any], timestamps: list[int | None] | None) -> None:
        """Add a batch."""
        panes = self._panes
        windows = self._assigner.windows_of(panes.clock.processing_time)
        own = own_copy(panes.contents)
        copies = values
        for window in windows:
            panes.contents.fold(window, keys, copies, panes.register)
            copies = list(map(own, values))

"""Window assigners, which decide the windows of a record.

Users subclass `WindowAssigner` and `MergingWindowAssigner`. The assigners by time are here, those by number of records
in `count_windows`. Sizes, slides, offsets and gaps are given as `Time` or `Duration` and kept in
milliseconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from firesteel.common.errors import ProgramError, RecordError
from firesteel.common.serializer import TypeSerializer
from firesteel.common.time import MIN_WATERMARK, Duration, Time
from firesteel.functions.triggers import EventTimeTrigger, ProcessingTimeTrigger, Trigger
from firesteel.functions.windows import TimeWindow, TimeWindowSerializer, WindowMergeCallback, milliseconds

if TYPE_CHECKING:
    from firesteel.functions.base import RuntimeContext

__all__ = [
    "ByEventTime",
    "ByProcessingTime",
    "MergingWindowAssigner",
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "TimeWindows",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
    "WindowAssigner",
    "no_timestamp_error",
]

T = TypeVar("T")
W = TypeVar("W")


class WindowAssigner(ABC, Generic[T, W]):
    """Assigns zero or more windows to each record."""

    class WindowAssignerContext(ABC):
        """The context of an assigner, valid only during the call."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the processing time: the start of the current epoch (milliseconds)."""

        @abstractmethod
        def get_runtime_context(self) -> RuntimeContext:
            """Return the runtime context: its state is scoped to the record's key, not to a window."""

    @abstractmethod
    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[W]:
        """Return the windows of `element`; a record without a timestamp (milliseconds) has -2**63."""

    @abstractmethod
    def get_default_trigger(self, env: Any) -> Trigger[T, W]:
        """Return the trigger to use if the program sets none."""

    @abstractmethod
    def get_window_serializer(self) -> TypeSerializer[W]:
        """Return the serializer of the windows."""

    @abstractmethod
    def is_event_time(self) -> bool:
        """Return whether windows are assigned, and expire, by event time."""


class MergingWindowAssigner(WindowAssigner[T, W]):
    """An assigner whose windows can merge, as sessions do when a record closes the gap between them."""

    MergeCallback: TypeAlias = WindowMergeCallback

    @abstractmethod
    def merge_windows(self, windows: Iterable[W], callback: WindowMergeCallback[W]) -> None:
        """Call `callback.merge` for every group of `windows` that become one."""


def no_timestamp_error(who: str | None = None) -> RecordError:
    """Return the error for a record without a timestamp in an event-time window; the runtime fills in the operator."""
    return RecordError(
        "requires records with timestamps",
        who=who,
        got="a record without one",
        hint="call assign_timestamps_and_watermarks(...) before the window, or use a processing-time window",
    )


class TimeWindows(WindowAssigner[T, TimeWindow]):
    """Windows by time: a subclass defines the windows of a time, a mixin which time is used."""

    @abstractmethod
    def windows_of(self, time: int, element: Any = None) -> list[TimeWindow]:
        """Return the windows that contain `time` (milliseconds); for sessions they also depend on the record."""

    def get_window_serializer(self) -> TimeWindowSerializer:
        """Return the serializer of time windows."""
        return TimeWindowSerializer()


class ByEventTime(TimeWindows[T]):
    """Windows by the timestamps of the records."""

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        """Return the windows that contain `timestamp`, the latest first. Raises RecordError without a timestamp."""
        if timestamp == MIN_WATERMARK:
            raise no_timestamp_error()
        return self.windows_of(timestamp, element)

    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        """Return an EventTimeTrigger."""
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        """Return True."""
        return True


class ByProcessingTime(TimeWindows[T]):
    """Windows by the time at which records are processed."""

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        """Return the windows that contain the current processing time, the latest first."""
        return self.windows_of(context.get_current_processing_time(), element)

    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        """Return a ProcessingTimeTrigger."""
        return ProcessingTimeTrigger()

    def is_event_time(self) -> bool:
        """Return False."""
        return False


class _Tumbling(TimeWindows[T]):
    """Windows of `size` that start at multiples of it, shifted by `offset`."""

    def __init__(self, size: int, offset: int) -> None:
        if size <= 0 or abs(offset) >= size:
            raise _invalid(self, "size > 0 and abs(offset) < size", size=size, offset=offset)
        self.size = size
        self.offset = offset

    def windows_of(self, time: int, element: Any = None) -> list[TimeWindow]:
        """Return the windows that contain `time` (milliseconds)."""
        start = time - (time - self.offset) % self.size
        return [TimeWindow(start, start + self.size)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.size}, {self.offset})"


class _Sliding(TimeWindows[T]):
    """Windows of `size` that start at multiples of `slide`, shifted by `offset`."""

    def __init__(self, size: int, slide: int, offset: int) -> None:
        if size <= 0 or abs(offset) >= slide:
            raise _invalid(self, "size > 0 and abs(offset) < slide", size=size, slide=slide, offset=offset)
        self.size = size
        self.slide = slide
        self.offset = offset

    def windows_of(self, time: int, element: Any = None) -> list[TimeWindow]:
        """Return the windows that contain `time` (milliseconds), the latest first."""
        last = time - (time - self.offset) % self.slide
        return [TimeWindow(start, start + self.size) for start in range(last, time - self.size, -self.slide)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.size}, {self.slide}, {self.offset})"


class TumblingEventTimeWindows(ByEventTime[T], _Tumbling[T]):
    """Windows of a fixed size that do not overlap, by the records' timestamps.

    >>> TumblingEventTimeWindows.of(Time.minutes(1))
    TumblingEventTimeWindows(60000, 0)
    >>> TumblingEventTimeWindows.of(Time.hours(1), Time.minutes(15)).windows_of(0)
    [TimeWindow(start=-2700000, end=900000)]
    """

    @staticmethod
    def of(size: Time | Duration, offset: Time | Duration | None = None) -> TumblingEventTimeWindows[Any]:
        """Return windows of `size` whose starts are shifted by `offset` (Time.hours(-8) for days of UTC+8).

        Raises ProgramError unless `abs(offset) < size`.
        """
        who = "TumblingEventTimeWindows.of"
        return TumblingEventTimeWindows(milliseconds(size, who), _offset(offset, who))


class TumblingProcessingTimeWindows(ByProcessingTime[T], _Tumbling[T]):
    """Windows of a fixed size that do not overlap, by processing time."""

    @staticmethod
    def of(
        size: Time | Duration, offset: Time | Duration | None = None
    ) -> TumblingProcessingTimeWindows[Any]:
        """Return windows of `size` whose starts are shifted by `offset`.

        Raises ProgramError unless `abs(offset) < size`.
        """
        who = "TumblingProcessingTimeWindows.of"
        return TumblingProcessingTimeWindows(milliseconds(size, who), _offset(offset, who))


class SlidingEventTimeWindows(ByEventTime[T], _Sliding[T]):
    """Windows of a fixed size, a new one every slide, by timestamp. A record is in `size / slide` windows.

    >>> SlidingEventTimeWindows.of(Time.seconds(10), Time.seconds(5)).windows_of(7_000)
    [TimeWindow(start=5000, end=15000), TimeWindow(start=0, end=10000)]
    """

    @staticmethod
    def of(
        size: Time | Duration, slide: Time | Duration, offset: Time | Duration | None = None
    ) -> SlidingEventTimeWindows[Any]:
        """Return windows of `size`, one every `slide`, whose starts are shifted by `offset`.

        Raises ProgramError unless `abs(offset) < slide` and `size > 0`.
        """
        who = "SlidingEventTimeWindows.of"
        return SlidingEventTimeWindows(
            milliseconds(size, who), milliseconds(slide, who), _offset(offset, who)
        )


class SlidingProcessingTimeWindows(ByProcessingTime[T], _Sliding[T]):
    """Windows of a fixed size, a new one every slide, by processing time."""

    @staticmethod
    def of(
        size: Time | Duration, slide: Time | Duration, offset: Time | Duration | None = None
    ) -> SlidingProcessingTimeWindows[Any]:
        """Return windows of `size`, one every `slide`, whose starts are shifted by `offset`.

        Raises ProgramError unless `abs(offset) < slide` and `size > 0`.
        """
        who = "SlidingProcessingTimeWindows.of"
        return SlidingProcessingTimeWindows(
            milliseconds(size, who), milliseconds(slide, who), _offset(offset, who)
        )


def _offset(offset: Time | Duration | None, who: str) -> int:
    return 0 if offset is None else milliseconds(offset, who)


def _invalid(assigner: object, condition: str, **arguments: int) -> ProgramError:
    got = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return ProgramError(f"requires {condition} (milliseconds)", who=type(assigner).__name__, got=got)

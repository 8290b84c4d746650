"""Session windows: they end when no record came for a gap, and merge when a record falls into the gap between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import Any, TypeVar

from firesteel.common.errors import ProgramError, RecordError
from firesteel.common.time import MIN_WATERMARK, Duration, Time
from firesteel.functions.assigners import MergingWindowAssigner, WindowAssigner, no_timestamp
from firesteel.functions.triggers import EventTimeTrigger, ProcessingTimeTrigger, Trigger
from firesteel.functions.windows import TimeWindow, TimeWindowSerializer, milliseconds

__all__ = [
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EventTimeSessionWindows",
    "ProcessingTimeSessionWindows",
    "SessionWindowTimeGapExtractor",
]

T = TypeVar("T")


class SessionWindowTimeGapExtractor(ABC):
    """Tells of each record how long its session lasts if no other record comes.

    >>> class GapOfUser(SessionWindowTimeGapExtractor):
    ...     def extract(self, element):
    ...         return 60_000 if element["mobile"] else 1_800_000
    """

    @abstractmethod
    def extract(self, element: Any) -> int:
        """Return the gap after `element`, in milliseconds, greater than 0."""


class _Sessions(MergingWindowAssigner[T, TimeWindow]):
    """What all sessions share: a window per record, from its time until the gap is over; windows that touch merge."""

    def merge_windows(
        self, windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]
    ) -> None:
        """Merge windows that overlap or touch."""
        TimeWindow.merge_windows(windows, callback)

    def get_window_serializer(self) -> TimeWindowSerializer:
        """Return the serializer of time windows."""
        return TimeWindowSerializer()


class _EventTimeSessions(_Sessions[T]):
    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        """Return an EventTimeTrigger."""
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        """Return True."""
        return True

    def assign_windows(
        self,
        element: T,
        timestamp: int,
        context: WindowAssigner.WindowAssignerContext,
    ) -> Collection[TimeWindow]:
        """Return the window from `timestamp` to the end of the gap; raises RecordError if there is no timestamp."""
        if timestamp == MIN_WATERMARK:
            raise no_timestamp()
        return [TimeWindow(timestamp, timestamp + self.gap_after(element))]

    @abstractmethod
    def gap_after(self, element: T) -> int: ...


class _ProcessingTimeSessions(_Sessions[T]):
    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        """Return a ProcessingTimeTrigger."""
        return ProcessingTimeTrigger()

    def is_event_time(self) -> bool:
        """Return False."""
        return False

    def assign_windows(
        self,
        element: T,
        timestamp: int,
        context: WindowAssigner.WindowAssignerContext,
    ) -> Collection[TimeWindow]:
        """Return the window from the current processing time to the end of the gap."""
        now = context.get_current_processing_time()
        return [TimeWindow(now, now + self.gap_after(element))]

    @abstractmethod
    def gap_after(self, element: T) -> int: ...


class _FixedGap:
    def __init__(self, session_gap: int) -> None:
        if session_gap <= 0:
            raise ProgramError(
                "requires a gap greater than 0 milliseconds", who=type(self).__name__, got=str(session_gap)
            )
        self.session_gap = session_gap

    def gap_after(self, element: Any) -> int:
        return self.session_gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.session_gap})"


class _DynamicGap:
    def __init__(self, session_window_time_gap_extractor: SessionWindowTimeGapExtractor) -> None:
        if not callable(getattr(session_window_time_gap_extractor, "extract", None)):
            raise ProgramError(
                "requires a SessionWindowTimeGapExtractor",
                who=type(self).__name__,
                got=f"{type(session_window_time_gap_extractor).__name__}: {session_window_time_gap_extractor!r:.80}",
                hint="pass an object with a method extract(element) that returns milliseconds",
            )
        self._session_window_time_gap_extractor = session_window_time_gap_extractor

    def gap_after(self, element: Any) -> int:
        gap = self._session_window_time_gap_extractor.extract(element)
        if gap <= 0:
            raise RecordError(
                "requires the extracted gap to be greater than 0 milliseconds",
                who=type(self).__name__,
                got=str(gap),
            )
        return gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class DynamicEventTimeSessionWindows(_DynamicGap, _EventTimeSessions[T]):
    """Sessions by the records' timestamps, whose gap depends on the record."""

    @staticmethod
    def with_dynamic_gap(extractor: SessionWindowTimeGapExtractor) -> DynamicEventTimeSessionWindows[Any]:
        """Return sessions whose gap after each record is what `extractor` answers (milliseconds)."""
        return DynamicEventTimeSessionWindows(extractor)


class DynamicProcessingTimeSessionWindows(_DynamicGap, _ProcessingTimeSessions[T]):
    """Sessions by processing time, whose gap depends on the record."""

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicProcessingTimeSessionWindows[Any]:
        """Return sessions whose gap after each record is what `extractor` answers (milliseconds)."""
        return DynamicProcessingTimeSessionWindows(extractor)


class EventTimeSessionWindows(_FixedGap, _EventTimeSessions[T]):
    """Sessions by the records' timestamps, with a fixed gap.

    >>> EventTimeSessionWindows.with_gap(Time.minutes(30))
    EventTimeSessionWindows(1800000)
    """

    @staticmethod
    def with_gap(size: Time | Duration) -> EventTimeSessionWindows[Any]:
        """Return sessions that end after `size` without a record; raises ProgramError unless it is greater than 0."""
        return EventTimeSessionWindows(milliseconds(size, "EventTimeSessionWindows.with_gap"))

    @staticmethod
    def with_dynamic_gap(extractor: SessionWindowTimeGapExtractor) -> DynamicEventTimeSessionWindows[Any]:
        """Return sessions whose gap after each record is what `extractor` answers (milliseconds)."""
        return DynamicEventTimeSessionWindows(extractor)


class ProcessingTimeSessionWindows(_FixedGap, _ProcessingTimeSessions[T]):
    """Sessions by processing time, with a fixed gap."""

    @staticmethod
    def with_gap(size: Time | Duration) -> ProcessingTimeSessionWindows[Any]:
        """Return sessions that end after `size` without a record; raises ProgramError unless it is greater than 0."""
        return ProcessingTimeSessionWindows(milliseconds(size, "ProcessingTimeSessionWindows.with_gap"))

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicProcessingTimeSessionWindows[Any]:
        """Return sessions whose gap after each record is what `extractor` answers (milliseconds)."""
        return DynamicProcessingTimeSessionWindows(extractor)

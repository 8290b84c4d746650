"""Session windows, which end after a gap without records and merge when a record falls into the gap between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, TypeVar

from firesteel.common.errors import ProgramError, RecordError
from firesteel.common.time import Duration, Time
from firesteel.functions.assigners import ByEventTime, ByProcessingTime, MergingWindowAssigner, TimeWindows
from firesteel.functions.windows import TimeWindow, WindowMergeCallback, milliseconds

__all__ = [
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EventTimeSessionWindows",
    "ProcessingTimeSessionWindows",
    "SessionWindowTimeGapExtractor",
]

T = TypeVar("T")


class SessionWindowTimeGapExtractor(ABC):
    """Returns for each record how long its session lasts if no other record comes.

    >>> class GapOfUser(SessionWindowTimeGapExtractor):
    ...     def extract(self, element):
    ...         return 60_000 if element["mobile"] else 1_800_000
    """

    @abstractmethod
    def extract(self, element: Any) -> int:
        """Return the gap after `element` in milliseconds; it must be greater than 0."""


class _Sessions(TimeWindows[T], MergingWindowAssigner[T, TimeWindow]):
    """The common part of sessions: a window per record, from its time to the end of the gap. Touching windows merge."""

    @abstractmethod
    def gap_after(self, element: T) -> int:
        """Return the gap after a record, in milliseconds."""

    def windows_of(self, time: int, element: Any = None) -> list[TimeWindow]:
        """Return the window from `time` to the end of the gap after the record."""
        return [TimeWindow(time, time + self.gap_after(element))]

    def merge_windows(self, windows: Iterable[TimeWindow], callback: WindowMergeCallback[TimeWindow]) -> None:
        """Merge windows that overlap or touch."""
        TimeWindow.merge_windows(windows, callback)


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


class DynamicEventTimeSessionWindows(_DynamicGap, ByEventTime[T], _Sessions[T]):
    """Sessions by the records' timestamps, whose gap depends on the record."""

    @staticmethod
    def with_dynamic_gap(extractor: SessionWindowTimeGapExtractor) -> DynamicEventTimeSessionWindows[Any]:
        """Return sessions whose gap after each record is the one that `extractor` returns (milliseconds)."""
        return DynamicEventTimeSessionWindows(extractor)


class DynamicProcessingTimeSessionWindows(_DynamicGap, ByProcessingTime[T], _Sessions[T]):
    """Sessions by processing time, whose gap depends on the record."""

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicProcessingTimeSessionWindows[Any]:
        """Return sessions whose gap after each record is the one that `extractor` returns (milliseconds)."""
        return DynamicProcessingTimeSessionWindows(extractor)


class EventTimeSessionWindows(_FixedGap, ByEventTime[T], _Sessions[T]):
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
        """Return sessions whose gap after each record is the one that `extractor` returns (milliseconds)."""
        return DynamicEventTimeSessionWindows(extractor)


class ProcessingTimeSessionWindows(_FixedGap, ByProcessingTime[T], _Sessions[T]):
    """Sessions by processing time, with a fixed gap."""

    @staticmethod
    def with_gap(size: Time | Duration) -> ProcessingTimeSessionWindows[Any]:
        """Return sessions that end after `size` without a record; raises ProgramError unless it is greater than 0."""
        return ProcessingTimeSessionWindows(milliseconds(size, "ProcessingTimeSessionWindows.with_gap"))

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicProcessingTimeSessionWindows[Any]:
        """Return sessions whose gap after each record is the one that `extractor` returns (milliseconds)."""
        return DynamicProcessingTimeSessionWindows(extractor)

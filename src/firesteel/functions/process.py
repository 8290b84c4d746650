"""Process functions: records with their time, keyed state and timers.

`process_element` and `on_timer` emit what they yield (or the items of an iterable they return); `yield tag, value` with
an `OutputTag` emits to a side output. A context is valid only during the call that receives it. All times are
milliseconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any

from firesteel.functions.base import Function

__all__ = [
    "CoProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "ProcessFunction",
    "TimeDomain",
    "TimerService",
]


class TimeDomain(Enum):
    """Which clock fired a timer."""

    EVENT_TIME = 0
    """The watermark: the timer's time is compared with the records' timestamps."""
    PROCESSING_TIME = 1
    """The machine's clock, which does not change within an epoch."""


class TimerService(ABC):
    """The clocks, and the timers of the current key.

    Timers need a keyed stream; elsewhere they raise UnsupportedError. There is at most one timer per key, time and
    domain: to register it again changes nothing. A timer in the past fires at the next opportunity.
    """

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the processing time: the start of the current epoch."""

    @abstractmethod
    def current_watermark(self) -> int:
        """Return the watermark: -2**63 before the first one."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None:
        """Register a timer: `on_timer` is called for the current key once processing time reaches `timestamp`."""

    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None:
        """Register a timer: `on_timer` is called for the current key once the watermark reaches `timestamp`."""

    @abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Delete the current key's processing-time timer of that time, if there is one."""

    @abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None:
        """Delete the current key's event-time timer of that time, if there is one."""


class _Context(ABC):
    """The common part of all contexts of process functions."""

    @abstractmethod
    def timer_service(self) -> TimerService:
        """Return the clocks and timers."""

    @abstractmethod
    def timestamp(self) -> Any:
        """Return the record's timestamp (int) or the firing timer's time; None if the record has none."""


class _KeyedContext(_Context):
    @abstractmethod
    def get_current_key(self) -> Any:
        """Return the key of the record or of the firing timer."""


class ProcessFunction(Function):
    """Turns each record, with its timestamp and the clocks, into any number of records."""

    class Context(_Context):
        """The context of a record."""

    @abstractmethod
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        """Yield the records that `value` becomes, or return an iterable of them, or None."""


class KeyedProcessFunction(Function):
    """A process function on a keyed stream: with state and timers per key.

    >>> class CountUntilQuiet(KeyedProcessFunction):
    ...     def open(self, runtime_context):
    ...         self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
    ...     def process_element(self, value, ctx):
    ...         self.count.update((self.count.value() or 0) + 1)
    ...         ctx.timer_service().register_event_time_timer(ctx.timestamp() + 60_000)
    ...     def on_timer(self, timestamp, ctx):
    ...         yield ctx.get_current_key(), self.count.value()
    """

    class Context(_KeyedContext):
        """The context of a record or of a timer that fires."""

    class OnTimerContext(Context):
        """The context of a timer that fires."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return which clock fired the timer."""

    @abstractmethod
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        """Yield the records that `value` becomes, or return an iterable of them, or None."""

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
        """Yield the results of the timer at `timestamp`, for the key that it was registered under."""


class CoProcessFunction(Function):
    """A process function of two connected streams; both methods share the object."""

    class Context(_Context):
        """The context of a record."""

    @abstractmethod
    def process_element1(self, value: Any, ctx: CoProcessFunction.Context) -> Any:
        """Yield the records that `value` from the first stream becomes."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: CoProcessFunction.Context) -> Any:
        """Yield the records that `value` from the second stream becomes."""


class KeyedCoProcessFunction(Function):
    """A process function of two connected keyed streams: one state and one set of timers per key for both."""

    class Context(_KeyedContext):
        """The context of a record or of a timer that fires."""

    class OnTimerContext(Context):
        """The context of a timer that fires."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return which clock fired the timer."""

    @abstractmethod
    def process_element1(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Any:
        """Yield the records that `value` from the first stream becomes."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Any:
        """Yield the records that `value` from the second stream becomes."""

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Any:
        """Yield the results of the timer at `timestamp`, for the key that it was registered under."""

"""Functions of a stream connected with a broadcast stream, whose records every subtask receives and keeps in state.

The broadcast side may write broadcast state; the other side may only read it. This keeps the copies of all subtasks
equal, so the broadcast side must depend on nothing but its records. Results are yielded as in process functions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from firesteel.functions.base import Function
from firesteel.functions.process import TimeDomain, TimerService

if TYPE_CHECKING:
    from firesteel.state.api import BroadcastState, ReadOnlyBroadcastState
    from firesteel.state.descriptors import MapStateDescriptor

__all__ = ["BaseBroadcastProcessFunction", "BroadcastProcessFunction", "KeyedBroadcastProcessFunction"]

IN1 = TypeVar("IN1")
IN2 = TypeVar("IN2")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")


class BaseBroadcastProcessFunction(Function):
    """The contexts of both broadcast process functions."""

    class BaseContext(ABC):
        """The clocks, in milliseconds."""

        @abstractmethod
        def timestamp(self) -> Any:
            """Return the record's timestamp (int) or the firing timer's time; None if the record has none."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the processing time: the start of the current epoch."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the watermark: -2**63 before the first one."""

    class Context(BaseContext):
        """The context of the broadcast side, which may write broadcast state."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
            """Return the broadcast state of that name; ProgramError if `broadcast()` did not get its descriptor."""

    class ReadOnlyContext(BaseContext):
        """The context of the other side, which may only read broadcast state."""

        @abstractmethod
        def get_broadcast_state(
            self, state_descriptor: MapStateDescriptor
        ) -> ReadOnlyBroadcastState[Any, Any]:
            """Return a read-only view of that state; ProgramError if `broadcast()` did not get its descriptor."""


class BroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[IN1, IN2, OUT]):
    """A function of a stream without keys (IN1) and a broadcast stream (IN2)."""

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """The context of a record of the broadcast side."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """The context of a record of the other side."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: ReadOnlyContext) -> Any:
        """Yield the records that a record of the other stream becomes."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: Context) -> Any:
        """Process a broadcast record, usually by writing broadcast state; yield results, once per subtask."""


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[KEY, IN1, IN2, OUT]):
    """A function of a keyed stream (IN1) and a broadcast stream (IN2): with state and timers per key."""

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """The context of a record of the broadcast side."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """The context of a record of the keyed side."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return the clocks and the current key's timers."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """Return the key of the record or of the firing timer."""

    class OnTimerContext(ReadOnlyContext, ABC):
        """The context of a timer that fires."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return which clock fired the timer."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: ReadOnlyContext) -> Any:
        """Yield the records that a record of the keyed stream becomes."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: Context) -> Any:
        """Process a broadcast record, usually by writing broadcast state; yield results, once per subtask."""

    def on_timer(self, timestamp: int, ctx: OnTimerContext) -> Any:
        """Yield the results of the timer at `timestamp`, for the key that it was registered under."""

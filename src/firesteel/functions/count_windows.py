"""Windows that are not bounded by time: by number of records, and the global window."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any, ClassVar, Final, TypeVar

from firesteel.common.errors import ProgramError
from firesteel.common.typeinfo import Types
from firesteel.functions.assigners import WindowAssigner
from firesteel.functions.triggers import CountTrigger, NeverTrigger, Trigger
from firesteel.functions.windows import (
    CountWindow,
    CountWindowSerializer,
    GlobalWindow,
    GlobalWindowSerializer,
)
from firesteel.state.descriptors import ValueStateDescriptor

__all__ = ["CountSlidingWindowAssigner", "CountTumblingWindowAssigner", "GlobalWindows"]

T = TypeVar("T")
_REMEMBERED: Final = 1 << 12


class _CountWindows(WindowAssigner[T, CountWindow]):
    """Windows of `window_size` records of a key; they fire when they are full."""

    _counter: ClassVar[str]
    """The name of the state that counts a key's records."""

    def __init__(self, window_size: int) -> None:
        self._window_size = window_size
        self._count_descriptor = ValueStateDescriptor(self._counter, Types.LONG())

    def _place_of_next(self, context: WindowAssigner.WindowAssignerContext) -> int:
        """Count the record; return how many records of its key came before it."""
        state = context.get_runtime_context().get_state(self._count_descriptor)
        count: int = state.value() or 0
        state.update(count + 1)
        return count

    def get_default_trigger(self, env: Any) -> Trigger[T, CountWindow]:
        """Return the trigger that fires when a window is full."""
        return CountTrigger(self._window_size)

    def get_window_serializer(self) -> CountWindowSerializer:
        """Return the serializer of count windows."""
        return CountWindowSerializer()

    def is_event_time(self) -> bool:
        """Return False."""
        return False


class CountTumblingWindowAssigner(_CountWindows[T]):
    """Puts the first `window_size` records of a key into window 0, the next into window 1, and so on.

    A window fires when it is full; a window that never fills is not emitted.
    """

    _counter = "tumble-count-assigner"

    def __init__(self, window_size: int) -> None:
        _check_positive("CountTumblingWindowAssigner", window_size=window_size)
        super().__init__(window_size)

    @staticmethod
    def of(window_size: int) -> CountTumblingWindowAssigner[Any]:
        """Return windows of `window_size` records."""
        return CountTumblingWindowAssigner(window_size)

    def assign_windows(
        self,
        element: T,
        timestamp: int,
        context: WindowAssigner.WindowAssignerContext,
    ) -> Collection[CountWindow]:
        """Count the record and return its window."""
        count = self._place_of_next(context)
        return [_window(count // self._window_size)]

    def __repr__(self) -> str:
        return f"CountTumblingWindowAssigner({self._window_size})"


class CountSlidingWindowAssigner(_CountWindows[T]):
    """Starts a new window of `window_size` records at every `window_slide`-th record of a key.

    As in PyFlink, and unlike in Java, a window fires only when it holds `window_size` records.
    """

    _counter = "slide-count-assigner"

    def __init__(self, window_size: int, window_slide: int) -> None:
        _check_positive("CountSlidingWindowAssigner", window_size=window_size, window_slide=window_slide)
        super().__init__(window_size)
        self._window_slide = window_slide

    @staticmethod
    def of(window_size: int, window_slide: int) -> CountSlidingWindowAssigner[Any]:
        """Return windows of `window_size` records, one every `window_slide` records."""
        return CountSlidingWindowAssigner(window_size, window_slide)

    def assign_windows(
        self,
        element: T,
        timestamp: int,
        context: WindowAssigner.WindowAssignerContext,
    ) -> Collection[CountWindow]:
        """Count the record and return its windows, the latest first; none if it falls between two windows."""
        count = self._place_of_next(context)
        last = count // self._window_slide
        first = max(0, (count - self._window_size) // self._window_slide + 1)
        return [_window(number) for number in range(last, first - 1, -1)]

    def __repr__(self) -> str:
        return f"CountSlidingWindowAssigner({self._window_size}, {self._window_slide})"


class GlobalWindows(WindowAssigner[T, GlobalWindow]):
    """Puts all records of a key into one window that never ends. Set a trigger, or nothing is ever emitted."""

    @staticmethod
    def create() -> GlobalWindows[Any]:
        """Return the assigner."""
        return GlobalWindows()

    def assign_windows(
        self,
        element: T,
        timestamp: int,
        context: WindowAssigner.WindowAssignerContext,
    ) -> Collection[GlobalWindow]:
        """Return the global window."""
        return [GlobalWindow.get()]

    def get_default_trigger(self, env: Any) -> Trigger[T, GlobalWindow]:
        """Return the trigger that never fires."""
        return NeverTrigger()

    def get_window_serializer(self) -> GlobalWindowSerializer:
        """Return the serializer of the global window."""
        return GlobalWindowSerializer()

    def is_event_time(self) -> bool:
        """Return False."""
        return False

    def __repr__(self) -> str:
        return "GlobalWindows()"


@lru_cache(_REMEMBERED)
def _window(number: int) -> CountWindow:
    """Return the same object for the same window, so that caches of state find it without a comparison."""
    return CountWindow(number)


def _check_positive(who: str, **arguments: int) -> None:
    for name, value in arguments.items():
        if not isinstance(value, int) or value <= 0:
            raise ProgramError(f"requires {name} to be a number greater than 0", who=who, got=repr(value))

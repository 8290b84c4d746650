"""Functions of the contents of a window. They return an iterable of results, or yield them, or return None.

After `reduce` or `aggregate`, `inputs` holds exactly one element: the window's aggregate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from firesteel.functions.base import Function

if TYPE_CHECKING:
    from firesteel.functions.base import KeyedStateStore

__all__ = [
    "AllWindowFunction",
    "PassThroughAllWindowFunction",
    "PassThroughWindowFunction",
    "ProcessAllWindowFunction",
    "ProcessWindowFunction",
    "WindowFunction",
]

W = TypeVar("W")
W2 = TypeVar("W2")
IN = TypeVar("IN")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")


class WindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Evaluates a window of a keyed stream.

    >>> class Count(WindowFunction):
    ...     def apply(self, key, window, inputs):
    ...         yield key, window.start, len(list(inputs))
    """

    @abstractmethod
    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return the results of `window` for `key`; `inputs` are in order of arrival."""


class AllWindowFunction(Function, Generic[IN, OUT, W]):
    """Evaluates a window of a stream without keys."""

    @abstractmethod
    def apply(self, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return the results of `window`; `inputs` are in order of arrival."""


class _WindowContext(ABC, Generic[W2]):
    """The common part of all window contexts; valid only during the call that receives it."""

    @abstractmethod
    def window(self) -> W2:
        """Return the window being evaluated or cleared."""

    @abstractmethod
    def window_state(self) -> KeyedStateStore:
        """Return the store of state per key and window; clean it up in `clear`.

        With merging windows (sessions) its methods raise ProgramError: the window has no fixed identity (as in Flink).
        """

    @abstractmethod
    def global_state(self) -> KeyedStateStore:
        """Return the store of state per key, shared by all of its windows."""


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Evaluates a window of a keyed stream with a context: the clocks, and state per window and per key."""

    class Context(_WindowContext[W2], Generic[W2]):
        """The context in which a window is evaluated or cleared; times are milliseconds."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the processing time: the start of the current epoch."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the watermark."""

    @abstractmethod
    def process(
        self, key: KEY, context: ProcessWindowFunction.Context[Any], elements: Iterable[IN]
    ) -> Iterable[OUT]:
        """Return the results of the context's window for `key`; `elements` are in order of arrival."""

    def clear(self, context: ProcessWindowFunction.Context[Any]) -> None:
        """Delete the window's own state; called when the window expires (its end plus the allowed lateness)."""


class ProcessAllWindowFunction(Function, Generic[IN, OUT, W]):
    """Evaluates a window of a stream without keys with a context: state per window and for the stream as a whole."""

    class Context(_WindowContext[W2], Generic[W2]):
        """The context in which a window is evaluated or cleared."""

    @abstractmethod
    def process(
        self, context: ProcessAllWindowFunction.Context[Any], elements: Iterable[IN]
    ) -> Iterable[OUT]:
        """Return the results of the context's window; `elements` are in order of arrival."""

    def clear(self, context: ProcessAllWindowFunction.Context[Any]) -> None:
        """Delete the window's own state; called when the window expires (its end plus the allowed lateness)."""


class PassThroughWindowFunction(WindowFunction[IN, IN, KEY, W]):
    """Emits the contents of a window unchanged."""

    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Iterable[IN]:
        """Return `inputs`."""
        return inputs


class PassThroughAllWindowFunction(AllWindowFunction[IN, IN, W]):
    """Emits the contents of a window unchanged."""

    def apply(self, window: W, inputs: Iterable[IN]) -> Iterable[IN]:
        """Return `inputs`."""
        return inputs

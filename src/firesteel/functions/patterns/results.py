"""Functions of matches.

A match is a dict: for each step that took events, in the order of the first of them, the list of its events. The
methods emit what they yield (or the items of an iterable they return); `yield tag, value` with an `OutputTag` emits to
a side output, as `ctx.output` does. A result has the time of the event that completed the match; in processing time it
has none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from firesteel.functions.base import Function, RuntimeContext
from firesteel.functions.output_tag import OutputTag

__all__ = [
    "Match",
    "PatternContext",
    "PatternFlatSelectFunction",
    "PatternFlatTimeoutFunction",
    "PatternProcessFunction",
    "PatternSelectFunction",
    "PatternTimeoutFunction",
    "TimedOutPartialMatchHandler",
]

Match = dict[str, list[Any]]
"""The events of a match, by the name of the step."""


class PatternContext(ABC):
    """The context of a match; valid only during the call that receives it."""

    @abstractmethod
    def timestamp(self) -> int:
        """Return the time of the match (milliseconds): of its last event, or at which it was certain, or timed out."""

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the processing time (milliseconds)."""

    @abstractmethod
    def output(self, output_tag: OutputTag, value: Any) -> None:
        """Emit a value to a side output."""

    def pattern_id(self) -> str | None:
        """Return the id of the pattern that has matched; None if only one pattern is looked for."""
        return None

    def pattern_version(self) -> int | None:
        """Return the version of the pattern that has matched; None unless it comes from a stream of definitions."""
        return None


class PatternProcessFunction(Function):
    """Processes each match.

    >>> class Names(PatternProcessFunction):
    ...     def process_match(self, match, ctx):
    ...         yield ctx.timestamp(), list(match)
    """

    Context = PatternContext

    @abstractmethod
    def process_match(self, match: Match, ctx: PatternContext) -> Any:
        """Yield the results of a match, or return an iterable of them, or None for no result."""


class TimedOutPartialMatchHandler(ABC):
    """A mixin for a PatternProcessFunction that also wants partial matches whose time has run out.

    >>> class Late(PatternProcessFunction, TimedOutPartialMatchHandler):
    ...     def process_match(self, match, ctx):
    ...         yield match
    ...     def process_timed_out_match(self, match, ctx):
    ...         ctx.output(OutputTag("late"), match)
    """

    @abstractmethod
    def process_timed_out_match(self, match: Match, ctx: PatternContext) -> Any:
        """Take a partial match; what it emits goes to side outputs: `ctx.output`, or `yield tag, value`."""


class PatternSelectFunction(Function):
    """Turns each match into one result."""

    @abstractmethod
    def select(self, match: Match) -> Any:
        """Return the result of a match."""


class PatternFlatSelectFunction(Function):
    """Turns each match into any number of results."""

    @abstractmethod
    def flat_select(self, match: Match) -> Any:
        """Yield the results of a match, or return an iterable of them, or None."""


class PatternTimeoutFunction(Function):
    """Turns each partial match whose time has run out into one result."""

    @abstractmethod
    def timeout(self, match: Match, timeout_timestamp: int) -> Any:
        """Return the result of a partial match; its time ran out at `timeout_timestamp` (milliseconds)."""


class PatternFlatTimeoutFunction(Function):
    """Turns each partial match whose time has run out into any number of results."""

    @abstractmethod
    def timeout(self, match: Match, timeout_timestamp: int) -> Any:
        """Yield the results of a partial match, or return an iterable of them, or None."""


class Selecting(PatternProcessFunction):
    """Emits what a function returns for each match; `flat`: all that it returns or yields."""

    def __init__(self, function: Function, select: Callable[[Match], Any], *, flat: bool) -> None:
        self._function = function
        self._select = select
        self._flat = flat

    def open(self, runtime_context: RuntimeContext) -> None:
        self._function.open(runtime_context)

    def close(self) -> None:
        self._function.close()

    def process_match(self, match: Match, ctx: PatternContext) -> Any:
        result = self._select(match)
        return result if self._flat else (result,)


class SelectingTimeouts(Selecting, TimedOutPartialMatchHandler):
    """Also emits to a side output what a second function returns for each partial match whose time has run out."""

    def __init__(
        self,
        function: Function,
        select: Callable[[Match], Any],
        tag: OutputTag,
        timeout: PatternTimeoutFunction | PatternFlatTimeoutFunction,
        *,
        flat: bool,
    ) -> None:
        super().__init__(function, select, flat=flat)
        self._tag = tag
        self._timeout = timeout

    def open(self, runtime_context: RuntimeContext) -> None:
        super().open(runtime_context)
        self._timeout.open(runtime_context)

    def close(self) -> None:
        super().close()
        self._timeout.close()

    def process_timed_out_match(self, match: Match, ctx: PatternContext) -> Iterator[tuple[OutputTag, Any]]:
        result = self._timeout.timeout(match, ctx.timestamp())
        for each in (result or ()) if self._flat else (result,):
            yield self._tag, each

"""Conditions: whether an event fits a step of a pattern.

Contract, for one condition object in one worker process: `open` once (of a `RichIterativeCondition` only), then
`filter` any number of times, then `close` once. A condition must answer the same if it is asked again, and must not
change the event. A `SimpleCondition` looks at the event alone: it is asked at most once per event, and may be asked for
many events together, by `filter_all`. Any other condition is asked for each partial match.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final

from firesteel.common.errors import ProgramError
from firesteel.functions.base import Function, RuntimeContext
from firesteel.functions.patterns.demands import Demands

__all__ = [
    "ConditionContext",
    "IterativeCondition",
    "RichAndCondition",
    "RichIterativeCondition",
    "RichNotCondition",
    "RichOrCondition",
    "SimpleCondition",
    "SubtypeCondition",
    "as_condition",
]


class ConditionContext(ABC):
    """What a condition can know besides the event; valid only during the call that receives it."""

    @abstractmethod
    def get_events_for_pattern(self, name: str) -> Iterator[Any]:
        """Return the events that the partial match has for a step, in their order; it walks the whole match."""

    @abstractmethod
    def timestamp(self) -> int:
        """Return the event's time (milliseconds): its timestamp, or the processing time."""

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the processing time (milliseconds)."""


class IterativeCondition(ABC):
    """A condition that may look at the events that the partial match already has.

    >>> class Rises(IterativeCondition):
    ...     def filter(self, value, ctx):
    ...         return all(value > earlier for earlier in ctx.get_events_for_pattern("rise"))
    """

    @abstractmethod
    def filter(self, value: Any, ctx: ConditionContext) -> Any:
        """Return a true value if the event fits."""


class SimpleCondition(IterativeCondition):
    """A condition on the event alone.

    `demands` are what it is known to demand of single fields; those written in Python tell nothing.

    >>> SimpleCondition.of(str.isdigit).filter("7")
    True
    """

    demands: Demands = Demands()

    @staticmethod
    def of(function: Callable[[Any], Any]) -> SimpleCondition:
        """Return the condition that calls `function` with the event."""
        return _Callable(function)

    @abstractmethod
    def filter(self, value: Any, ctx: ConditionContext | None = None) -> Any:
        """Return a true value if the event fits; `ctx` is None."""

    def filter_all(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return for each event what `filter` returns; conditions that know a faster way override it."""
        return [*map(self.filter, values)]


class RichIterativeCondition(IterativeCondition, Function):
    """An IterativeCondition with `open`, `close` and a runtime context."""

    _runtime_context: RuntimeContext | None = None

    def set_runtime_context(self, runtime_context: RuntimeContext) -> None:
        """Take the context that `get_runtime_context` returns."""
        self._runtime_context = runtime_context

    def get_runtime_context(self) -> RuntimeContext:
        """Return the context of the task; it is there from `open` on."""
        if self._runtime_context is None:
            raise ProgramError(
                "has a runtime context in open() and later only", who=f"condition {type(self).__name__}"
            )
        return self._runtime_context


class _Callable(SimpleCondition):
    """A function of the event; `filter` is the function itself, so that calling it costs nothing extra."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.filter = function  # type: ignore[method-assign, assignment]

    def filter(self, value: Any, ctx: ConditionContext | None = None) -> Any:
        return self.function(value)


class _CallableWithContext(IterativeCondition):
    """A function of the event and the context."""

    def __init__(self, function: Callable[[Any, ConditionContext], Any]) -> None:
        self.function = function

    def filter(self, value: Any, ctx: ConditionContext) -> Any:
        return self.function(value, ctx)


class SubtypeCondition(SimpleCondition):
    """Whether the event is an instance of a class."""

    def __init__(self, subtype: type) -> None:
        self.subtype = subtype

    def filter(self, value: Any, ctx: ConditionContext | None = None) -> bool:
        return isinstance(value, self.subtype)


def _holds(condition: IterativeCondition, value: Any, ctx: ConditionContext) -> bool:
    if isinstance(condition, SimpleCondition):
        return bool(condition.filter(value))
    return bool(condition.filter(value, ctx))


class Composite(IterativeCondition):
    """A condition made of others; `connective` is the word between them."""

    connective: ClassVar[str]

    def __init__(self, *parts: IterativeCondition) -> None:
        self.parts = parts

    def get_nested_conditions(self) -> tuple[IterativeCondition, ...]:
        """Return the conditions that it is made of."""
        return self.parts


class RichAndCondition(Composite):
    """Whether two conditions hold; the second is asked only if the first holds."""

    connective = "and"

    def __init__(self, left: IterativeCondition, right: IterativeCondition) -> None:
        super().__init__(left, right)

    def filter(self, value: Any, ctx: ConditionContext) -> bool:
        return all(_holds(part, value, ctx) for part in self.parts)


class RichOrCondition(Composite):
    """Whether one of two conditions holds; the second is asked only if the first does not hold."""

    connective = "or"

    def __init__(self, left: IterativeCondition, right: IterativeCondition) -> None:
        super().__init__(left, right)

    def filter(self, value: Any, ctx: ConditionContext) -> bool:
        return any(_holds(part, value, ctx) for part in self.parts)


class RichNotCondition(Composite):
    """Whether a condition does not hold."""

    connective = "not"

    def __init__(self, original: IterativeCondition) -> None:
        super().__init__(original)

    def filter(self, value: Any, ctx: ConditionContext) -> bool:
        return not _holds(self.parts[0], value, ctx)


class _SimpleAnd(RichAndCondition, SimpleCondition):
    def __init__(self, left: SimpleCondition, right: SimpleCondition) -> None:
        super().__init__(left, right)
        self._left, self._right = left.filter, right.filter

    def filter(self, value: Any, ctx: ConditionContext | None = None) -> bool:
        return bool(self._left(value)) and bool(self._right(value))


class _SimpleOr(RichOrCondition, SimpleCondition):
    def __init__(self, left: SimpleCondition, right: SimpleCondition) -> None:
        super().__init__(left, right)
        self._left, self._right = left.filter, right.filter

    def filter(self, value: Any, ctx: ConditionContext | None = None) -> bool:
        return bool(self._left(value)) or bool(self._right(value))


class _SimpleNot(RichNotCondition, SimpleCondition):
    def __init__(self, original: SimpleCondition) -> None:
        super().__init__(original)
        self._original = original.filter

    def filter(self, value: Any, ctx: ConditionContext | None = None) -> bool:
        return not self._original(value)


_SIMPLE: Final[dict[type[IterativeCondition], Callable[..., SimpleCondition]]] = {
    RichAndCondition: _SimpleAnd,
    RichOrCondition: _SimpleOr,
    RichNotCondition: _SimpleNot,
}


def simplified(condition: IterativeCondition) -> IterativeCondition:
    """Return a condition that answers the same and is a `SimpleCondition` if it looks at events alone.

    >>> both = RichAndCondition(SimpleCondition.of(str.isdigit), SimpleCondition.of(str.isascii))
    >>> isinstance(simplified(both), SimpleCondition)
    True
    """
    if type(condition) not in _SIMPLE:
        return condition  # also of a subclass, which may answer in a way of its own
    assert isinstance(condition, Composite)
    parts = [*map(simplified, condition.parts)]
    if all(isinstance(part, SimpleCondition) for part in parts):
        return _SIMPLE[type(condition)](*parts)
    return type(condition)(*parts)


def rich_parts(condition: IterativeCondition) -> Iterator[RichIterativeCondition]:
    """Yield the conditions within `condition` that are opened and closed."""
    if isinstance(condition, RichIterativeCondition):
        yield condition
    elif isinstance(condition, Composite):
        for part in condition.parts:
            yield from rich_parts(part)


def function_of(condition: IterativeCondition) -> Callable[..., Any] | None:
    """Return the function that a condition was made of; None if it is an object of the program."""
    return condition.function if isinstance(condition, _Callable | _CallableWithContext) else None


def as_condition(condition: object, who: str) -> IterativeCondition:
    """Return what a program passes as a condition as an object.

    A callable that can be called with the event alone is a condition on the event; one that requires two arguments also
    gets the context. Raises ProgramError, which names `who`, for anything else.

    >>> as_condition(lambda event, ctx: event > ctx.timestamp(), "where (job.py:3)").__class__.__name__
    '_CallableWithContext'
    """
    if isinstance(condition, IterativeCondition):
        return condition
    if isinstance(condition, type) or not callable(condition):
        what = f"the class {condition.__name__}" if isinstance(condition, type) else f"{condition!r:.80}"
        raise ProgramError(
            "requires a condition: a function of the event, or of the event and a context, or an IterativeCondition",
            who=who,
            got=what,
        )
    if inspect.iscoroutinefunction(condition) or inspect.isgeneratorfunction(condition):
        raise ProgramError(
            "requires a condition that returns whether the event fits",
            who=who,
            got="an async or a generator function, whose result is always true",
        )
    required = _required_arguments(condition)
    if required > 2:
        raise ProgramError(
            "requires a condition of the event, or of the event and a context",
            who=who,
            got=f"a function that requires {required} arguments",
        )
    return _CallableWithContext(condition) if required == 2 else _Callable(condition)


def _required_arguments(function: Callable[..., Any]) -> int:
    """Return how many arguments must be given; 1 if it cannot be told, as of functions written in C."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(
        parameter.kind in positional and parameter.default is parameter.empty for parameter in parameters
    )

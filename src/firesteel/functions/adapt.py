"""Turns what a user passes as a function into a function object."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any, TypeVar, cast

from firesteel.common.errors import ProgramError
from firesteel.functions.base import Function
from firesteel.functions.checkpointed import CheckpointedFunction

__all__ = ["CallableFunction", "as_function", "check_function", "checkpointed"]

F = TypeVar("F", bound=Function)


class CallableFunction(Function):
    """Gives a plain callable the methods of a function object: `open`, `close`, and the method of its kind.

    The method is the callable itself, so calling it costs nothing extra.
    """

    def __init__(self, function: Callable[..., Any], method: str) -> None:
        self.function = function
        setattr(self, method, function)

    def __repr__(self) -> str:
        return f"CallableFunction({_name(self.function)})"


def as_function(function: object, kind: Callable[..., F], method: str | None, who: str) -> F:
    """Return `function` as an object that can be used as a `kind`.

    An object of the class, or one that has its methods, is returned unchanged; optional methods that it lacks, such as
    `open`, are added. Any other callable (function, lambda, generator function, bound method, a class such as `str`)
    becomes the class's `method`. With `method=None` a plain callable is refused. Raises ProgramError, which names
    `who`.

    >>> from firesteel.functions.elements import MapFunction
    >>> as_function(str.upper, MapFunction, "map", "map (job.py:3)").map("a")
    'A'
    >>> as_function(5, MapFunction, "map", "map (job.py:3)")
    Traceback (most recent call last):
    ...
    firesteel.common.errors.ProgramError: map (job.py:3) requires a function or a MapFunction; got an int: 5
      hint: pass a function of the record, a lambda, or an object of a subclass of MapFunction
    """
    cls = cast(type[F], kind)  # declared as a callable because type checkers then accept abstract classes
    check_function(function, cls, method, who)
    if isinstance(function, cls):
        return function
    if not isinstance(function, type) and _has_methods(function, cls):
        complete = all(hasattr(function, name) for name in _methods(cls))
        return cast(F, function if complete else _Completed(function, cls))
    return cast(F, CallableFunction(cast(Callable[..., Any], function), cast(str, method)))


def check_function(function: object, kind: type[Function], method: str | None, who: str) -> None:
    """Raise ProgramError unless `as_function` accepts `function`. Nothing is changed, so the API can call it early."""
    expected = (
        f"requires {_a(kind.__name__)}" if method is None else f"requires a function or {_a(kind.__name__)}"
    )
    if isinstance(function, type) and issubclass(function, Function):
        raise ProgramError(
            expected,
            who=who,
            got=f"the class {function.__name__}",
            hint=f"pass an object of it: {function.__name__}()",
        )
    if isinstance(function, kind) or (not isinstance(function, type) and _has_methods(function, kind)):
        return
    if isinstance(function, Function) and not callable(function):
        raise ProgramError(
            expected,
            who=who,
            got=f"{_a(_function_kind(function))}: {type(function).__name__}",
            hint=_hint(kind, method),
        )
    if inspect.isgenerator(function):
        raise ProgramError(
            expected,
            who=who,
            got=f"a generator that already runs: {function.__name__}",
            hint="pass the generator function itself, without calling it",
        )
    if method is None or not callable(function):
        raise ProgramError(expected, who=who, got=_describe(function), hint=_hint(kind, method))
    if inspect.iscoroutinefunction(function):
        raise ProgramError(
            expected,
            who=who,
            got=f"the async function {_name(function)}",
            hint="pass it as an AsyncFunction to AsyncDataStream.ordered_wait or unordered_wait",
        )


def checkpointed(function: Function) -> CheckpointedFunction | None:
    """Return the object that the user passed, wrapped or not, if it is a CheckpointedFunction."""
    passed = function.function if isinstance(function, CallableFunction | _Completed) else function
    return passed if isinstance(passed, CheckpointedFunction) else None


class _Completed(Function):
    """An object that has the required methods of a kind; the kind supplies the methods that it lacks."""

    def __init__(self, target: object, kind: type[Function]) -> None:
        self.function = target
        for name in _methods(kind):
            own = getattr(target, name, None)
            setattr(self, name, MethodType(getattr(kind, name), self) if own is None else own)


def _has_methods(function: object, kind: type[Function]) -> bool:
    required: frozenset[str] = getattr(kind, "__abstractmethods__", frozenset())
    return bool(required) and all(callable(getattr(function, name, None)) for name in required)


def _methods(kind: type[Function]) -> list[str]:
    return [name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")]


def _function_kind(function: Function) -> str:
    own = [
        base.__name__ for base in type(function).__mro__ if base.__module__.startswith("firesteel.functions.")
    ]
    return own[0] if own else "Function"


def _describe(value: object) -> str:
    if callable(value):
        return f"the function {_name(value)}"
    return f"{_a(type(value).__name__)}: {value!r:.80}"


def _hint(kind: type[Function], method: str | None) -> str:
    if method is None:
        return f"pass an object of a subclass of {kind.__name__}"
    return f"pass a function of the record, a lambda, or an object of a subclass of {kind.__name__}"


def _name(function: object) -> str:
    name = getattr(function, "__qualname__", None)
    return name if isinstance(name, str) else type(function).__name__


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiouAEIO' else 'a'} {noun}"

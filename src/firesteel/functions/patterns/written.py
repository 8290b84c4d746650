"""Conditions and results that were written as texts: Python expressions over the fields of events.

An expression is sent as its source and its constants, and compiled in the worker. In it, `e` is the event, `get` reads
a field of it, and `taken(step)` are the events that a match has for a step. What reads a field depends on the event's
class, so there is a function per class: no event is asked what it is. For tuples, reads become subscripts.

NULL is None. A field that a dict does not have is NULL; an object or a row must have the field.
"""

from __future__ import annotations

import ast
import math
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from firesteel.common.types import Row
from firesteel.functions.patterns.conditions import ConditionContext, IterativeCondition, SimpleCondition
from firesteel.functions.patterns.demands import Demands
from firesteel.functions.patterns.results import Match, PatternSelectFunction

__all__ = [
    "FieldsOf",
    "WrittenCondition",
    "WrittenIterativeCondition",
    "WrittenSelect",
    "field",
    "identity_of",
]

Getter = Callable[[Any, str], Any]


def _place_of(name: str) -> int | None:
    return int(name[1:]) if name[:1] == "f" and name[1:].isdecimal() else None


def _position(event: tuple[Any, ...], name: str) -> Any:
    """Return a field of a tuple; their names are f0, f1, ... as in Flink."""
    place = _place_of(name)
    if place is not None and place < len(event):
        return event[place]
    raise AttributeError(f"a tuple of {len(event)} fields has no field {name!r}: they are f0, f1, ...")


def _row_field(event: Row, name: str) -> Any:
    try:
        return event[name]
    except (KeyError, ValueError):
        raise AttributeError(f"the row has no field {name!r}: {event!r:.200}") from None


class _Getters(dict[type, Getter]):
    """What reads a field, for each class of events."""

    def __missing__(self, kind: type) -> Getter:
        getter: Getter = getattr
        if issubclass(kind, dict):
            getter = dict.get
        elif issubclass(kind, Mapping):
            getter = kind.get
        elif issubclass(kind, Row):
            getter = _row_field
        elif issubclass(kind, tuple) and not hasattr(kind, "_fields"):
            getter = _position
        self[kind] = getter
        return getter


_GETTERS: Final = _Getters()


def field(event: Any, name: str) -> Any:
    """Return a field of an event, NULL if there is no event.

    >>> field({"price": 3}, "price"), field(("tea", 3), "f1"), field(None, "price")
    (3, 3, None)
    """
    return None if event is None else _GETTERS[event.__class__](event, name)


# Functions of the events of a step


def _first(events: Iterable[Any], offset: int = 0) -> Any:
    for place, event in enumerate(events):
        if place == offset:
            return event
    return None


def _last(events: Iterable[Any], offset: int = 0) -> Any:
    tail = deque(events, maxlen=offset + 1)
    return tail[0] if len(tail) > offset else None


def _values(events: Iterable[Any], *path: str) -> list[Any]:
    """Return the values of a field that are not NULL."""
    values: Iterable[Any] = events
    for name in path:
        values = [field(value, name) for value in values]
    return [value for value in values if value is not None]


def _sum(values: list[Any]) -> Any:
    return sum(values[1:], values[0]) if values else None


def _avg(values: list[Any]) -> Any:
    return _sum(values) / len(values) if values else None


def _min(values: list[Any]) -> Any:
    return min(values, default=None)


def _max(values: list[Any]) -> Any:
    return max(values, default=None)


_NAMES: Final[dict[str, Any]] = {
    "abs": abs,
    "avg": _avg,
    "ceil": math.ceil,
    "field": field,
    "first": _first,
    "floor": math.floor,
    "last": _last,
    "len": len,
    "list_": list,
    "max_": _max,
    "min_": _min,
    "round_": round,
    "sqrt": math.sqrt,
    "str_": str,
    "sum_": _sum,
    "values": _values,
}


class _Functions(dict[type, Callable[..., Any]]):
    """The compiled expression, for each class of events."""

    def __init__(self, source: str, constants: Mapping[str, Any]) -> None:
        super().__init__()
        self._source = source
        self._constants = constants

    def __missing__(self, kind: type) -> Callable[..., Any]:
        getter = _GETTERS[kind]
        tree = ast.parse(self._source, "<pattern>", "eval")
        if getter is _position:
            tree = ast.fix_missing_locations(_Subscripts().visit(tree))
        names = {**_NAMES, **self._constants, "get": getter}
        function: Callable[..., Any] = eval(compile(tree, "<pattern>", "eval"), names)
        self[kind] = function
        return function


class _Subscripts(ast.NodeTransformer):
    """Replaces reads of fields of tuples, `get(e, 'f1')`, by subscripts; a tuple without the field is left to `get`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name("get"), [ast.Name("e"), ast.Constant(str(name))]) if (
                _place_of(name) is not None
            ):
                read = f"e[{_place_of(name)}] if len(e) > {_place_of(name)} else get(e, {name!r})"
                return ast.parse(read, "<pattern>", "eval").body
        return node


class _Written:
    """An expression; `constants` are the values that its source names, `text` is what the program wrote."""

    def __init__(self, source: str, constants: Mapping[str, Any], text: str = "") -> None:
        self.source = source
        self.constants = constants
        self.text = text
        self._compile()

    @abstractmethod
    def _compile(self) -> None: ...

    def __getstate__(self) -> tuple[Any, ...]:
        return self.source, self.constants, self.text

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.source, self.constants, self.text = state
        self._compile()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"


class WrittenCondition(_Written, SimpleCondition):
    """A condition on the event alone; `demands` are what it demands of single fields.

    >>> cheap = WrittenCondition("(t := get(e, 'price')) is not None and t < 50", {})
    >>> cheap.filter_all([{"price": 40}, {"price": 60}, {}])
    [True, False, False]
    """

    def __init__(
        self, source: str, constants: Mapping[str, Any], text: str = "", demands: Demands | None = None
    ) -> None:
        self.demands = demands or Demands()
        super().__init__(source, constants, text)

    def __getstate__(self) -> tuple[Any, ...]:
        return *super().__getstate__(), self.demands

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        *written, self.demands = state
        super().__setstate__((*written,))

    def _compile(self) -> None:
        self._of_one = _Functions(f"lambda e: {self.source}", self.constants)
        self._of_all = _Functions(f"lambda es: [{self.source} for e in es]", self.constants)

    def filter(self, value: Any, ctx: ConditionContext | None = None) -> Any:
        return self._of_one[value.__class__](value)

    def filter_all(self, values: Sequence[Any]) -> Sequence[Any]:
        kinds = set(map(type, values))
        if len(kinds) == 1:
            answers: Sequence[Any] = self._of_all[kinds.pop()](values)
            return answers
        return super().filter_all(values)


def identity_of(condition: SimpleCondition) -> Hashable:
    """Return what two conditions have in common if they were written alike, and so always answer the same."""
    if isinstance(condition, WrittenCondition):
        identity = condition.source, tuple(condition.constants.items())
        with suppress(TypeError):
            hash(identity)
            return identity
    return id(condition)


class WrittenIterativeCondition(_Written, IterativeCondition):
    """A condition on the event and the events that the partial match has."""

    def _compile(self) -> None:
        self._functions = _Functions(f"lambda e, taken: {self.source}", self.constants)

    def filter(self, value: Any, ctx: ConditionContext) -> Any:
        return self._functions[value.__class__](value, ctx.get_events_for_pattern)


class WrittenSelect(_Written, PatternSelectFunction):
    """The row of a match; its columns' names are the constant `columns`."""

    def _compile(self) -> None:
        functions = _Functions(f"lambda taken: {self.source}", self.constants)
        self._function = functions[dict]
        self._row = Row(*self.constants["columns"])

    def select(self, match: Match) -> Row:
        def taken(step: str) -> Iterator[Any]:
            return iter(match.get(step, ()))

        row: Row = self._row(*self._function(taken))
        return row

    def of_partial_match(self, match: Match, timestamp: int) -> Row:
        """Return the row of a partial match; what its steps without events say is NULL."""
        return self.select(match)


class FieldsOf:
    """The values of fields of an event: a key, as a tuple if there are several fields.

    >>> FieldsOf((("shop",), ("price", "currency")))({"shop": "tea", "price": {"currency": "EUR"}})
    ('tea', 'EUR')
    """

    def __init__(self, paths: tuple[tuple[str, ...], ...]) -> None:
        self._paths = paths

    def __call__(self, event: Any) -> Any:
        values = []
        for path in self._paths:
            value = event
            for name in path:
                value = field(value, name)
            values.append(value)
        return values[0] if len(values) == 1 else tuple(values)

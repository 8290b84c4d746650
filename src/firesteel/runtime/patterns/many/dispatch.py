"""Which of many patterns an event can begin: found by the values of its fields, not by asking each pattern.

A pattern whose first condition demands something of a field (`firesteel.functions.patterns.demands`) is looked up: by
the field's value if it must equal a constant, by where the value stands among all constants if it must be greater or
less. Other first conditions that look at the event alone are asked for a whole batch at once, equal ones once. All
other patterns are told of every event.

In the same way it is looked up whose partial matches an event may change, where all the conditions on which that
depends demand something of a field.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar

from firesteel.functions.patterns.conditions import SimpleCondition
from firesteel.functions.patterns.demands import Demand, Demands
from firesteel.functions.patterns.written import field, identity_of
from firesteel.runtime.patterns.matcher import Matcher


class Beginning(Protocol):
    """A pattern; they are told apart, and ordered, by their numbers."""

    number: int
    matcher: Matcher


P = TypeVar("P", bound=Beginning)

Candidate = tuple[P, bool | None]
"""A pattern, and whether its first condition holds; None if it has not been asked."""

Found = Sequence[Candidate[P]]

_NUMBERS: Final = frozenset({int, float})
_PLAIN: Final = frozenset(
    {str, int, float, bool, bytes, Decimal, dt.date, dt.datetime, dt.time, dt.timedelta}
)
"""Types whose equal values have equal hashes, also across these types."""

_UNREADABLE: Final = object()
_number_of: Final = lambda candidate: candidate[0].number  # noqa: E731


class Dispatch(Generic[P]):
    """Finds for each event the patterns that it can begin, in the order of their numbers."""

    def __init__(self, patterns: Iterable[P]) -> None:
        self._always: list[Candidate[P]] = []
        self._asked: dict[Hashable, list[Candidate[P]]] = {}
        self._lookups: _Lookups[P] = _Lookups()
        for pattern in sorted(patterns, key=lambda each: each.number):
            self._add(pattern)

    def begins(self, values: Sequence[Any]) -> Sequence[Found[P]]:
        """Return for each event its candidates."""
        parts = self._lookups.find(values)
        if self._asked:
            parts.append(self._answers(values))
        if self._always:
            parts.append([self._always] * len(values))
        if not parts:
            return [()] * len(values)
        return parts[0] if len(parts) == 1 else [*map(_together, zip(*parts, strict=True))]

    def _add(self, pattern: P) -> None:
        number = pattern.matcher.first_condition
        if number is None:
            self._always.append((pattern, None))
            return
        condition = pattern.matcher.conditions[number]
        assert isinstance(condition, SimpleCondition)
        if not self._lookups.add(condition.demands, pattern):
            self._asked.setdefault(identity_of(condition), []).append((pattern, True))

    def _answers(self, values: Sequence[Any]) -> Sequence[Found[P]]:
        """Ask each condition that cannot be looked up for all events."""
        found: list[list[Candidate[P]]] = [[] for _ in values]
        for candidates in self._asked.values():
            for mine, answer in zip(found, candidates[0][0].matcher.answers(values), strict=True):
                if answer:
                    mine += candidates
        for mine in found:
            if len(mine) > 1:
                mine.sort(key=_number_of)
        return found


class Waiting(Generic[P]):
    """Finds for each event the patterns whose partial matches it may change.

    `unsure` are the patterns for which that cannot be looked up.
    """

    def __init__(self, patterns: Iterable[P]) -> None:
        self.unsure: list[P] = []
        self._lookups: _Lookups[P] = _Lookups()
        for pattern in patterns:
            demands = _demands_of_changes(pattern.matcher)
            if demands is None:
                self.unsure.append(pattern)
            for each in demands or ():
                self._lookups.add(each, pattern)

    def touches(self, values: Sequence[Any]) -> Sequence[Found[P]]:
        """Return for each event the patterns that are not unsure; one may occur several times."""
        parts = self._lookups.find(values)
        return [*map(_together, zip(*parts, strict=True))] if parts else [()] * len(values)


def _demands_of_changes(matcher: Matcher) -> list[Demands] | None:
    """Return what the conditions demand of which one must hold for a partial match to change.

    None if there are others, or one demands nothing.
    """
    numbers = matcher.changes_with
    if numbers is None:
        return None
    demands = []
    for number in numbers:
        condition = matcher.conditions[number]
        assert isinstance(condition, SimpleCondition)
        if not condition.demands.each:
            return None
        demands.append(condition.demands)
    return demands


class _Lookups(Generic[P]):
    """Patterns by what conditions demand of fields."""

    def __init__(self) -> None:
        self._by_place: dict[tuple[str, str], _Lookup[P]] = {}

    def add(self, demands: Demands, pattern: P) -> bool:
        """Add a pattern with a condition; return whether it demands anything."""
        chosen = min(demands.each, key=lambda demand: demand.operator != "in", default=None)
        if chosen is None:
            return False
        place = chosen.field, chosen.operator
        lookup = self._by_place.get(place)
        if lookup is None:
            make: Callable[[], _Lookup[P]] = (
                _ByValue if chosen.operator == "in" else partial(_ByOrder, chosen.operator)
            )
            lookup = self._by_place[place] = make()
        sure = demands.whole and len(demands.each) == 1
        lookup.add(chosen, (pattern, True if sure else None), (pattern, None))
        return True

    def find(self, values: Sequence[Any]) -> list[Sequence[Found[P]]]:
        """Return what each lookup finds for each event."""
        columns: dict[str, list[Any]] = {}
        found: list[Sequence[Found[P]]] = []
        for (name, _), lookup in self._by_place.items():
            if name not in columns:
                columns[name] = _column(values, name)
            found.append([*map(lookup.find, columns[name])])
        return found


class _Lookup(Protocol[P]):
    """Patterns that demand something of one field."""

    def add(self, demand: Demand, candidate: Candidate[P], unsure: Candidate[P]) -> None:
        """Add a pattern, as a candidate once the demand is known to hold, and as one if that is not known."""

    def find(self, value: Any) -> Found[P]:
        """Return the patterns that the field's value may satisfy."""


class _ByValue(_Lookup[P]):
    """Patterns whose field must equal a constant."""

    def __init__(self) -> None:
        self._by_value: dict[Any, list[Candidate[P]]] = {}
        self._everyone: list[Candidate[P]] = []

    def add(self, demand: Demand, candidate: Candidate[P], unsure: Candidate[P]) -> None:
        for value in {*demand.values}:
            self._by_value.setdefault(value, []).append(candidate)
        self._everyone.append(unsure)

    def find(self, value: Any) -> Found[P]:
        if type(value) in _PLAIN:
            return self._by_value.get(value, ())
        return () if value is None else self._everyone


class _ByOrder(_Lookup[P]):
    """Patterns whose field must stand in this order to a constant, which is a number."""

    def __init__(self, operator: str) -> None:
        self._from_first = operator in (">", ">=")
        self._place = bisect_left if operator in (">", "<=") else bisect_right
        self._constants: list[Any] = []
        self._candidates: list[Candidate[P]] = []
        self._everyone: list[Candidate[P]] = []

    def add(self, demand: Demand, candidate: Candidate[P], unsure: Candidate[P]) -> None:
        (constant,) = demand.values
        place = bisect_right(self._constants, constant)
        self._constants.insert(place, constant)
        self._candidates.insert(place, candidate)
        self._everyone.append(unsure)

    def find(self, value: Any) -> Found[P]:
        if type(value) not in _NUMBERS:
            return () if value is None else self._everyone
        if value != value:
            return ()
        place = self._place(self._constants, value)
        found = self._candidates[:place] if self._from_first else self._candidates[place:]
        return sorted(found, key=_number_of) if len(found) > 1 else found


def _column(values: Sequence[Any], name: str) -> list[Any]:
    """Return a field of each event; a value that no lookup knows where it cannot be read: its condition tells why."""
    try:
        return [field(value, name) for value in values]
    except Exception:
        return [_read(value, name) for value in values]


def _read(value: Any, name: str) -> Any:
    try:
        return field(value, name)
    except Exception:
        return _UNREADABLE


def _together(parts: Sequence[Found[P]]) -> Found[P]:
    some = [part for part in parts if part]
    if len(some) < 2:
        return some[0] if some else ()
    return sorted([candidate for part in some for candidate in part], key=_number_of)

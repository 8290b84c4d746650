"""Passing over values that nobody wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from firesteel.connectors.tables.formats.avro.lanes import Lanes, Malformed, Places
from firesteel.connectors.tables.formats.avro.schema import AvroType

Skip = Callable[[Lanes], None]

_MOST_EMPTY: Final = 1 << 16
"""The most items without bytes, such as nulls: no bytes tell how many there can be."""

_FIXED: Final = {"null": 0, "boolean": 1, "float": 4, "double": 8}


def skipper(kind: AvroType) -> Skip:
    """Return what passes over values of a type."""
    if kind.kind in _FIXED:
        return lambda lanes: lanes.skip(_FIXED[kind.kind])
    if kind.kind == "fixed":
        return lambda lanes: lanes.skip(kind.size)
    if kind.kind in ("bytes", "string"):
        return lambda lanes: lanes.skip(lanes.lengths())
    if kind.kind == "record":
        return _all(*(skipper(field.type) for field in kind.fields))
    if kind.kind == "union":
        return _union([skipper(part) for part in kind.parts])
    if kind.kind in ("array", "map"):
        item = skipper(kind.parts[0])
        each = item if kind.kind == "array" else _all(skipper(AvroType("string")), item)
        least = smallest(kind.parts[0]) + (kind.kind == "map")
        return lambda lanes: over_items(lanes, least, lambda some, _: each(some))
    return lambda lanes: void(lanes.longs())


def void(found: object) -> None:
    """Take what is not wanted."""
    del found


def _all(*skips: Skip) -> Skip:
    def skip(lanes: Lanes) -> None:
        for one in skips:
            one(lanes)

    return skip


def _union(skips: list[Skip]) -> Skip:
    def skip(lanes: Lanes) -> None:
        for number, chosen in branches(lanes, len(skips)):
            some = lanes.only(chosen)
            skips[number](some)
            lanes.merge(chosen, some)

    return skip


def branches(lanes: Lanes, count: int) -> list[tuple[int, Places]]:
    """Return the branches of a union that values have, each with its lanes."""
    found = lanes.longs()
    if ((found < 0) | (found >= count)).any():
        raise Malformed("a union has no such branch")
    return [(number, np.flatnonzero(found == number)) for number in range(count) if (found == number).any()]


def over_items(lanes: Lanes, least: int, each: Callable[[Lanes, Places], None]) -> None:
    """Read arrays or maps: `each` reads an item of some lanes, and is told which.

    An item has at least so many bytes.
    """
    waiting = np.arange(len(lanes))
    while len(waiting):
        some = lanes.only(waiting)
        counts = some.longs()
        sized = np.flatnonzero(counts < 0)
        if len(sized):
            before = some.only(sized)
            void(before.longs())
            some.merge(sized, before)
        counts = np.abs(counts)
        most = (some.end - some.pos) // least if least else _MOST_EMPTY
        if (counts > most).any():
            raise Malformed("it has fewer items than it says")
        lanes.merge(waiting, some)
        waiting, counts = waiting[counts > 0], counts[counts > 0]
        active, left = waiting, counts
        while len(active):
            some = lanes.only(active)
            each(some, active)
            lanes.merge(active, some)
            left = left - 1
            active, left = active[left > 0], left[left > 0]


def smallest(kind: AvroType) -> int:
    """Return how many bytes a value of a type has at least.

    >>> smallest(AvroType("double")), smallest(AvroType("null"))
    (8, 0)
    """
    if kind.kind in _FIXED:
        return _FIXED[kind.kind]
    if kind.kind == "record":
        return sum(smallest(field.type) for field in kind.fields)
    return kind.size if kind.kind == "fixed" else 1

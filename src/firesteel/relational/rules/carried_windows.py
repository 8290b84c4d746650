"""Which windows the rows of a relation carry: those of window table functions, through whatever keeps the columns.

A join of rows whose windows are equal is a window join, and ranks within windows end with them: their rows carry the
windows on. Source: Flink's FlinkRelMdWindowProperties and WindowJoinUtil.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from firesteel.common.logical_types import LogicalType
from firesteel.common.logical_types.temporal import is_proctime
from firesteel.functions.columns.joins import KEEPING
from firesteel.relational.expressions import Expression, InputRef
from firesteel.relational.logical.derived import Expand, Rank, WindowAggregate
from firesteel.relational.logical.joins import Join, equality
from firesteel.relational.logical.nodes import Filter, LogicalNode, Project, WindowTable
from firesteel.relational.logical.windows import Attached, CountHop, CountTumble, Session, Window
from firesteel.relational.rules.substitution import conjuncts

Part = Literal["START", "END", "ROWTIME", "PROCTIME"]


@dataclass(frozen=True)
class Windows:
    """The windows of a relation's rows, and which columns say so."""

    window: Window
    parts: dict[int, Part]
    time_type: LogicalType


def windows_of(node: LogicalNode) -> Windows | None:
    """Return the windows that the rows of a relation carry, if all of them do."""
    if isinstance(node, WindowTable):
        start = len(node.row.fields) - 3
        time: Part = "PROCTIME" if is_proctime(node.row.fields[start + 2].type) else "ROWTIME"
        window = node.window
        assert not isinstance(window, Attached)
        parts: dict[int, Part] = {start: "START", start + 1: "END", start + 2: time}
        return Windows(window, parts, node.input.row.fields[window.time].type)
    if isinstance(node, WindowAggregate):
        return _of_aggregate(node)
    if isinstance(node, Filter):
        return windows_of(node.input)
    if isinstance(node, Project):
        below = windows_of(node.input)
        if below is None:
            return None
        parts = {
            place: below.parts[expression.index]
            for place, expression in enumerate(node.expressions)
            if isinstance(expression, InputRef) and expression.index in below.parts
        }
        return replace(below, parts=parts)
    if isinstance(node, Expand):
        below = windows_of(node.input)
        kept = set.intersection(*map(set, node.sets)) if node.sets else set()
        if below is None:
            return None
        parts = {
            place: part for place, part in below.parts.items() if place in kept or place not in node.keys
        }
        return replace(below, parts=parts)
    if isinstance(node, Rank) and ranks_windows(node):
        return windows_of(node.input)
    return _of_join(node) if isinstance(node, Join) else None


def _of_aggregate(node: WindowAggregate) -> Windows | None:
    start = len(node.keys) + len(node.calls)
    parts = {start + place: part for place, part in enumerate(_parts(node))}
    time_type = (
        node.window.time_type
        if isinstance(node.window, Attached)
        else node.input.row.fields[node.window.time].type
    )
    return Windows(node.window, parts, time_type) if "END" in parts.values() else None


def attached(windows: Windows) -> Attached:
    """Return the windows as those that rows have already."""
    by_part = {part: place for place, part in reversed(windows.parts.items())}
    window = windows.window.window if isinstance(windows.window, Attached) else windows.window
    assert not isinstance(window, Attached | CountTumble | CountHop)
    time = by_part.get("ROWTIME", by_part.get("PROCTIME"))
    return Attached(by_part.get("START"), by_part["END"], time, window, windows.time_type)


def ranks_windows(node: Rank) -> bool:
    """Return whether rows are ranked within windows, so that the ranks of a window are known when it is over."""
    windows = windows_of(node.input)
    return windows is not None and {"START", "END"} <= {windows.parts.get(key) for key in node.partition}


@dataclass(frozen=True)
class EqualWindows:
    """The windows of both sides of a window join, and the parts of its condition that say no more than that."""

    left: Windows
    right: Windows
    parts: tuple[Expression, ...]


def equal_windows(join: Join) -> EqualWindows | None:
    """Return the windows of a join, if it is one of rows whose windows start and end at the same times."""
    left, right = windows_of(join.left), windows_of(join.right)
    if left is None or right is None or not _alike(left, right):
        return None
    width = len(join.left.row.fields)
    parts = []
    equal = set()
    for part in conjuncts(join.condition):
        found = equality(part, width)
        if found is None or not (isinstance(found.left, InputRef) and isinstance(found.right, InputRef)):
            continue
        both = left.parts.get(found.left.index), right.parts.get(found.right.index)
        if both in (("START", "START"), ("END", "END")):
            parts.append(part)
            equal.add(both[0])
    return EqualWindows(left, right, tuple(parts)) if len(equal) == 2 else None


def _alike(left: Windows, right: Windows) -> bool:
    """Return whether both windows are made in one way, of time attributes of one kind."""
    one, other = left.time_type, right.time_type
    return (
        _shape(left.window) == _shape(right.window)
        and one.root is other.root
        and is_proctime(one) is is_proctime(other)
    )


def _shape(window: Window) -> Window:
    """Return windows without the columns that they come from."""
    if isinstance(window, Attached):
        window = window.window
    window = replace(window, time=0)
    return replace(window, partition=()) if isinstance(window, Session) else window


def _of_join(join: Join) -> Windows | None:
    """Return the windows of a window join's rows: of each side whose columns are never NULL in the result."""
    found = equal_windows(join)
    if found is None:
        return None
    keeps_left, keeps_right = KEEPING[join.kind]
    parts: dict[int, Part] = {} if keeps_right else dict(found.left.parts)
    if join.pairs and not keeps_left:
        width = len(join.left.row.fields)
        parts |= {place + width: part for place, part in found.right.parts.items()}
    return replace(found.left, parts=parts) if "END" in parts.values() else None


def _parts(node: WindowAggregate) -> tuple[Part, ...]:
    kinds: dict[str, Part] = {"START": "START", "END": "END", "ROWTIME": "ROWTIME", "PROCTIME": "PROCTIME"}
    return tuple(kinds[name] for name in node.properties)

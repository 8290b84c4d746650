"""An aggregate by the start and the end of windows is a window aggregate: its groups end with their windows.

If nothing but projections and filters lies between the aggregate and the window table function, and they read nothing
of the windows, the function goes: the aggregate assigns windows itself, and can share slices among them. Otherwise (a
window table function of joins, an aggregate of a window aggregate) the rows have their windows already.
In BATCH mode there is no watermark that ends windows: there they are keys like others.
Source: Flink's WindowUtil and PullUpWindowTableFunctionIntoWindowAggregateRule.
"""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.logical_types import RowType
from firesteel.relational.expressions import AggregateCall, Expression, InputRef, references
from firesteel.relational.logical.derived import WindowAggregate
from firesteel.relational.logical.nodes import (
    Aggregate,
    Filter,
    LogicalNode,
    Project,
    WindowTable,
    transformed,
)
from firesteel.relational.logical.windows import Attached, Session, Window
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.carried_windows import Windows, attached, windows_of
from firesteel.relational.rules.expand_grouping_sets import fresh
from firesteel.relational.rules.substitution import columns_of, moved, moved_call, refs


def aggregate_windows(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Replace each aggregate whose keys have the start and the end of a window."""
    return plan if options.batch else transformed(plan, _replaced)


def _replaced(node: LogicalNode) -> LogicalNode:
    if not isinstance(node, Aggregate) or node.sets is not None:
        return node
    windows = windows_of(node.input)
    if windows is None or not {"START", "END"} <= {windows.parts.get(key) for key in node.keys}:
        return node
    by_key = tuple(key for key in node.keys if key not in windows.parts)
    pulled = _pulled_up(node, by_key)
    if pulled is None:
        return _aggregate(node, node.input, attached(windows), windows, by_key, node.calls)
    given, window, places = pulled
    calls = tuple(moved_call(call, places) for call in node.calls)
    return _aggregate(node, given, window, windows, tuple(places[key] for key in by_key), calls)


def _pulled_up(node: Aggregate, by_key: tuple[int, ...]) -> tuple[LogicalNode, Window, dict[int, int]] | None:
    """Return the input without its window table function, the windows of its rows, and where its columns are now.

    None if something between the two reads the windows, or if sessions are not those of the keys.
    """
    path: list[Project | Filter] = []
    below = node.input
    while isinstance(below, Project | Filter):
        path.append(below)
        below = below.input
    if not isinstance(below, WindowTable):
        return None
    window, given = below.window, below.input
    assert not isinstance(window, Attached)
    partition = window.partition if isinstance(window, Session) else ()
    marks = (window.time, *partition)
    places = {place: place for place in range(len(given.row.fields))}
    for step in reversed(path):
        moving = _moved_step(step, given, places, marks)
        if moving is None:
            return None
        given, places, marks = moving
    window = replace(window, time=marks[0])
    if isinstance(window, Session):
        if {places[key] for key in by_key} != {*marks[1:]}:
            return None
        window = replace(window, partition=marks[1:])
    needed = {*by_key, *(place for call in node.calls for place in columns_of(call))}
    return (given, window, places) if needed <= places.keys() else None


def _moved_step(
    step: Project | Filter, given: LogicalNode, places: dict[int, int], marks: tuple[int, ...]
) -> tuple[LogicalNode, dict[int, int], tuple[int, ...]] | None:
    """Return a step of the path over rows without windows, where its columns are, and the columns `marks` of `given`.

    None if it computes something of the windows.
    """
    if isinstance(step, Filter):
        if not set(references(step.condition)) <= places.keys():
            return None
        return Filter(given, moved(step.condition, places)), places, marks
    columns: list[Expression] = []
    names: list[str] = []
    found: dict[int, int] = {}
    for place, expression in enumerate(step.expressions):
        if set(references(expression)) <= places.keys():
            found[place] = len(columns)
            columns.append(moved(expression, places))
            names.append(step.names[place])
        elif not isinstance(expression, InputRef):
            return None
    now = []
    for mark in refs(given.row, marks):
        if mark not in columns:
            columns.append(mark)
            names.append(fresh(given.row.field_names[mark.index], names))
        now.append(columns.index(mark))
    return Project(given, tuple(columns), tuple(names)), found, tuple(now)


def _aggregate(
    node: Aggregate,
    given: LogicalNode,
    window: Window,
    windows: Windows,
    keys: tuple[int, ...],
    calls: tuple[AggregateCall, ...],
) -> LogicalNode:
    """Return the window aggregate, with its columns in the order of the aggregate that it replaces."""
    parts = tuple(dict.fromkeys(windows.parts[key] for key in node.keys if key in windows.parts))
    fields = node.row.fields
    count = len(node.keys)
    by_key = [place for place, key in enumerate(node.keys) if key not in windows.parts]
    first = {
        windows.parts[key]: place for place, key in reversed([*enumerate(node.keys)]) if key in windows.parts
    }
    row = [*(fields[place] for place in by_key), *fields[count:], *(fields[first[part]] for part in parts)]
    made = WindowAggregate(
        given, window, keys, calls, parts, RowType(tuple(row), nullable=False), place=node.place
    )
    properties = len(by_key) + len(calls)
    order = []
    for place, key in enumerate(node.keys):
        part = windows.parts.get(key)
        order.append(by_key.index(place) if part is None else properties + parts.index(part))
    order.extend(range(len(by_key), properties))
    return Project(made, refs(made.row, order), tuple(node.row.field_names))

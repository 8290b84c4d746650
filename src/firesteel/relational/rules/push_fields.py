"""Fields of rows are read where the rows come from, so that a source need not read the others.

    Project(r.a) over Watermark over Project(r) over Scan  =>  Project(r_a) over Watermark over Project(r.a) over Scan

A table whose source does not read fields by themselves is left as it is.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from firesteel.common.logical_types import RowType
from firesteel.connectors.tables.registry import reads_fields
from firesteel.relational.expressions import Expression
from firesteel.relational.functions import field_of
from firesteel.relational.logical.nodes import (
    Filter,
    LogicalNode,
    Project,
    TableScan,
    Watermark,
    transformed,
)
from firesteel.relational.options import PlanOptions
from firesteel.relational.paths import Path, at_paths, names_at, path_of, paths_in, read_at

Places = dict[Path, int]
"""Where what is at a path is now."""

Pushed = tuple[LogicalNode, Places]


def push_fields(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Move the reading of fields down to the scans."""
    return transformed(plan, _pushed)


def _pushed(node: LogicalNode) -> LogicalNode:
    if not isinstance(node, Project) or isinstance(node.input, TableScan):
        return node
    paths = paths_in(node.expressions)
    found = _reading(node.input, paths) if any(len(path) > 1 for path in paths) else None
    if found is None:
        return node
    below, places = found
    return Project(below, tuple(at_paths(one, places) for one in node.expressions), node.names)


@singledispatch
def _reading(node: LogicalNode, paths: frozenset[Path]) -> Pushed | None:
    """Return the node with a column for each path, and perhaps others; None if fields are not read below."""
    return None


@_reading.register
def _(node: TableScan, paths: frozenset[Path]) -> Pushed | None:
    table = node.table
    if table.source is not None or not reads_fields(table.options):
        return None
    return _projected(node, {path: read_at(node.row, path) for path in sorted(paths)}, node.row)


@_reading.register
def _(node: Project, paths: frozenset[Path]) -> Pushed | None:
    columns: dict[Path, Expression] = {}
    for path in sorted(paths):
        first, *fields = path
        expression = node.expressions[first]
        if fields and path_of(expression) is None:
            return None
        for place in fields:
            expression = field_of(expression, place)
        columns[path] = expression
    found = _reading(node.input, paths_in(columns.values()))
    if found is None:
        return None
    below, places = found
    return _projected(
        below, {path: at_paths(expression, places) for path, expression in columns.items()}, node.row
    )


@_reading.register
def _(node: Filter, paths: frozenset[Path]) -> Pushed | None:
    found = _reading(node.input, paths_in([node.condition, *(read_at(node.row, path) for path in paths)]))
    if found is None:
        return None
    below, places = found
    return Filter(below, at_paths(node.condition, places), place=node.place), places


@_reading.register
def _(node: Watermark, paths: frozenset[Path]) -> Pushed | None:
    read = [read_at(node.row, path) for path in {*paths, (node.column,)}]
    found = _reading(node.input, paths_in([node.expression, *read]))
    if found is None:
        return None
    below, places = found
    column = places[node.column,]
    fields = list(below.row.fields)
    fields[column] = fields[column]._replace(type=node.row.fields[node.column].type)
    made = Watermark(below, column, at_paths(node.expression, places), RowType(tuple(fields), nullable=False))
    return replace(made, place=node.place), places


def _projected(below: LogicalNode, columns: dict[Path, Expression], row: RowType) -> Pushed:
    made = Project(below, tuple(columns.values()), tuple(names_at(row, columns)))
    return made, {path: place for place, path in enumerate(columns)}

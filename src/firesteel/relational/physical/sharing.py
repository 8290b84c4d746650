"""Tables that several parts of a program read are read once, with all columns that any of them asks for.

What is shared is a *reading*: a scan, the computed columns that its time attribute needs, and its watermark. Each part
takes its own columns of it. Scans of a table that differ in anything but their columns stay apart. Source: Flink's
ScanReuser, which shares scans; a watermark of several parts is one operator here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from firesteel.common.logical_types import Field, RowType
from firesteel.relational.expressions import Expression, InputRef, references
from firesteel.relational.paths import Path, at_paths, path_of, paths_in
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import Calc, WatermarkAssigner
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.rules.substitution import moved, refs, substituted


def with_shared_scans(plans: Sequence[PhysicalNode]) -> list[PhysicalNode]:
    """Return the plans with one reading of each table; a part of several plans stays one object."""
    groups: list[list[_Reading]] = []
    for reading in {id(found.root): found for plan in plans for found in _readings(plan)}.values():
        group = next((one for one in groups if one[0].shared == reading.shared), None)
        if group is None:
            groups.append([reading])
        else:
            group.append(reading)
    replaced: dict[int, PhysicalNode] = {}
    for group in groups:
        if len(group) > 1:
            replaced |= _merged(group)
    return [_rewritten(plan, replaced) for plan in plans] if replaced else [*plans]


class _Reading(NamedTuple):
    """A scan with what stands on it; `columns` are its columns over those of the whole table."""

    root: PhysicalNode
    scan: TableSourceScan
    columns: tuple[Expression, ...]
    watermark: WatermarkAssigner | None

    @property
    def shared(self) -> tuple[object, ...]:
        """Return what readings have in common that can be one."""
        mark = self.watermark
        time = (
            None if mark is None else (self.columns[mark.column], substituted(mark.expression, self.columns))
        )
        return replace(self.scan, columns=(), paths=(), place=None), time


def _readings(node: PhysicalNode) -> Iterator[_Reading]:
    found = _reading(node)
    if found is not None:
        yield found
        return
    for below in node.inputs:
        yield from _readings(below)


def _reading(root: PhysicalNode) -> _Reading | None:
    """Return the reading that a node is, if it can be one with others."""
    watermark = root if isinstance(root, WatermarkAssigner) else None
    below = root if watermark is None else watermark.input
    computed = (
        below if watermark is not None and isinstance(below, Calc) and below.condition is None else None
    )
    scan = below if computed is None else computed.input
    if not isinstance(scan, TableSourceScan) or scan.whole is None:
        return None
    read = scan.read
    columns = (
        read if computed is None else tuple(substituted(column, read) for column in computed.expressions)
    )
    return _Reading(root, scan, columns, watermark)


def _merged(readings: Sequence[_Reading]) -> dict[int, PhysicalNode]:
    """Return, for the root of each reading, its columns of the common one."""
    fields: dict[Expression, Field] = {}
    for reading in readings:
        fields |= zip(reading.columns, reading.root.row.fields, strict=True)
    root, columns = _common(readings[0], fields)
    return {
        id(reading.root): _selected(root, [columns.index(column) for column in reading.columns], reading.root)
        for reading in readings
    }


def _common(
    reading: _Reading, fields: Mapping[Expression, Field]
) -> tuple[PhysicalNode, Sequence[Expression]]:
    """Return the reading of all columns of a table that some readings have, and these columns."""
    scan, mark = _projected(reading.scan, paths_in(fields)), reading.watermark
    read = scan.read
    if mark is None and set(fields) <= {*read}:
        return scan, read
    columns = sorted(
        fields, key=lambda column: (not isinstance(column, InputRef), min(references(column), default=0))
    )
    named = _named(columns, fields)
    now = {path: at for at, column in enumerate(read) if (path := path_of(column)) is not None}
    row = RowType(
        tuple(field._replace(type=column.type) for field, column in zip(named, columns, strict=True)),
        nullable=False,
    )
    below = Calc(scan, tuple(at_paths(column, now) for column in columns), None, row)
    given = scan if below.changes_nothing else below
    if mark is None:
        return given, columns
    places = {place: columns.index(column) for place, column in enumerate(reading.columns)}
    timed = RowType(tuple(named), nullable=False)
    expression = moved(mark.expression, places)
    return WatermarkAssigner(given, places[mark.column], expression, timed, place=mark.place), columns


def _named(columns: Sequence[Expression], fields: Mapping[Expression, Field]) -> list[Field]:
    """Return the fields of columns; a name that is taken has an underscore more."""
    named: list[Field] = []
    for column in columns:
        name, taken = fields[column].name, {field.name for field in named}
        while name in taken:
            name += "_"
        named.append(fields[column]._replace(name=name))
    return named


def _projected(scan: TableSourceScan, paths: Set[Path]) -> TableSourceScan:
    """Return the scan of what is at paths of its table, or of more if the source cannot leave it out."""
    whole = scan.whole
    assert whole is not None
    if any(len(path) > 1 for path in paths):
        wanted = sorted((whole.columns.index(place), *fields) for place, *fields in paths)
        found = whole.with_fields(tuple(wanted))
        if found is not None:
            return found
    places = {path[0] for path in paths}
    return whole.narrowed(tuple(at for at, place in enumerate(whole.columns) if place in places)) or whole


def _selected(given: PhysicalNode, places: Sequence[int], like: PhysicalNode) -> PhysicalNode:
    calc = Calc(given, refs(given.row, places), None, like.row, place=like.place)
    return given if calc.changes_nothing else calc


def _rewritten(node: PhysicalNode, replaced: dict[int, PhysicalNode]) -> PhysicalNode:
    """Return a plan with other readings; `replaced` gets what each node is now."""
    known = replaced.get(id(node))
    if known is not None:
        return known
    inputs = tuple(_rewritten(below, replaced) for below in node.inputs)
    made = node
    if any(now is not before for now, before in zip(inputs, node.inputs, strict=True)):
        made = _over(node, inputs)
    replaced[id(node)] = made
    return made


def _over(node: PhysicalNode, inputs: tuple[PhysicalNode, ...]) -> PhysicalNode:
    """Return a node over other inputs; what selects columns below a Calc becomes part of it."""
    below = inputs[0]
    if isinstance(node, Calc) and isinstance(below, Calc) and below.condition is None:
        order: Mapping[int, int] = {
            place: column.index
            for place, column in enumerate(below.expressions)
            if isinstance(column, InputRef)
        }
        if len(order) == len(below.expressions):
            condition = None if node.condition is None else moved(node.condition, order)
            columns = tuple(moved(column, order) for column in node.expressions)
            calc = replace(node, input=below.input, expressions=columns, condition=condition)
            return below.input if calc.changes_nothing else calc
    return node.with_inputs(inputs)

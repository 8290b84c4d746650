"""Streams as tables, and tables as streams."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import (
    Field,
    LogicalType,
    ObjectIdentifier,
    RowType,
    StructuredType,
)
from firesteel.common.logical_types.temporal import AnyTimestampType, TimestampKind
from firesteel.common.logical_types.type_information import to_logical_type, to_type_information
from firesteel.common.typeinfo import TypeInformation
from firesteel.datastream.streams.adding import add_node, same
from firesteel.datastream.streams.node_settings import call_site
from firesteel.datastream.streams.plain import DataStream
from firesteel.functions.columns.bridges import TIMESTAMP, WHOLE, ColumnsToRows, RowsToColumns
from firesteel.functions.columns.connectors import TableSink
from firesteel.functions.columns.endpoints import ColumnSink, ColumnWriter
from firesteel.functions.sink import Committer, WriterContext
from firesteel.graph import Edge, GraphBuilder, Location
from firesteel.graph.nodes import AUTO
from firesteel.graph.operations import ColumnsToRowsOp, MapOp, RowsToColumnsOp
from firesteel.relational.logical import nodes
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.connecting import registered
from firesteel.relational.planning import add_to_graph
from firesteel.relational.tables import MetadataColumn, PhysicalColumn, ResolvedTable
from firesteel.table.changelog_mode import ChangelogMode as PublicMode

ROWTIME: Final = "rowtime"
"""The metadata of a stream's records: their timestamps."""

STREAM: Final = "*stream*"
"""What a table is called that is a stream."""


def columns_of(stream: DataStream) -> tuple[Field, ...]:
    """Return the columns of a stream's records: the fields of rows and tuples, else one column `f0`.

    Of a stream without a declared type it is of the type RAW.
    """
    data_type = to_logical_type(stream.get_type())
    if isinstance(data_type, RowType):
        return data_type.fields
    if isinstance(data_type, StructuredType):
        return data_type.attributes
    return (Field("f0", data_type),)


def with_origin(
    table: ResolvedTable, stream: DataStream, zone: str, changes: PublicMode | None = None
) -> ResolvedTable:
    """Return a table whose rows are the records of a stream, and add the operator that makes them.

    With `changes`, records are changes of these kinds; otherwise they are inserts. Physical columns are found among the
    stream's by name. Raises ProgramError for those that are not there.
    """
    given = [field.name for field in columns_of(stream)]
    whole = not isinstance(to_logical_type(stream.get_type()), RowType | StructuredType)
    places = [_place(column, given, whole) for column in table.read]
    row = RowType(tuple(Field(column.name, column.type) for column in table.read), nullable=False)
    builder = stream._builder
    with builder.apart():
        edges = stream._edges
        if len(edges) > 1 or edges[0].partitioning != AUTO or edges[0].side_output is not None:
            edges = (Edge(add_node(builder, MapOp(same), "Map", (edges,), stream._type_info)),)
        mode = changes or PublicMode.insert_only()
        bridge = RowsToColumnsOp(RowsToColumns(row, tuple(places), zone, mode.kinds))
        origin = add_node(builder, bridge, "DataStreamSource", (edges,))
        return replace(table, origin=origin, options={}, changes=mode.planned)


def _place(column: PhysicalColumn | MetadataColumn, given: list[str], whole: bool) -> int:
    who = f"{call_site('from_data_stream')}, column {column.name!r}"
    if isinstance(column, MetadataColumn):
        if column.key != ROWTIME:
            raise ProgramError(f"requires the metadata {ROWTIME!r}, the only one", who=who, got=column.key)
        return TIMESTAMP
    if column.name not in given:
        raise ProgramError(
            "requires a column of the stream", who=who, hint=f"the stream has {', '.join(given)}"
        )
    return WHOLE if whole else given.index(column.name)


def ending(plan: LogicalNode) -> nodes.TableSink:
    """Return the plan that hands all columns of another to a stream."""
    columns = tuple(PhysicalColumn(field.name, field.type) for field in plan.row.fields)
    return nodes.TableSink(plan, ResolvedTable(ObjectIdentifier("", "", STREAM), columns))


def to_stream(
    end: nodes.TableSink, builder: GraphBuilder, options: PlanOptions, changes: PublicMode, method: str
) -> tuple[int, TypeInformation | None]:
    """Add the operators of a plan to a program, with one that makes records; return its node and their type.

    Records have the columns of the plan's table that are stored; the timestamp is the metadata 'rowtime', if it is
    among the columns. Raises ProgramError for a plan that gives other changes than those, in the name of `method`.
    """
    connected = registered(options)

    def sink(wanted: ResolvedTable) -> TableSink:
        return TableSink(_Place(), changes.planned) if wanted is end.table else connected.sink(wanted)

    connections = replace(connected, sink=sink)
    try:
        [node] = add_to_graph([end], builder, options, connections, Location.of_caller())
    except ProgramError as error:
        if changes != PublicMode.insert_only() or STREAM not in str(error):
            raise
        raise ProgramError(
            "requires a table whose rows do not change",
            who=call_site(method),
            got=f"changes {error.requirement.partition(' which is ')[2]}",
            hint="to_changelog_stream(table) gives the changes",
        ) from error
    row, time = _written(end)
    kind = _record_type(row)
    bridge = ColumnsToRows(row, time, options.zone)
    builder.replace(node, operation=ColumnsToRowsOp(bridge), name="TableToDataStream", output_type=kind)
    return node, kind


def _written(end: nodes.TableSink) -> tuple[RowType, int | None]:
    """Return the type of the records, and the place of their time."""
    stored = [column for column in end.table.written if isinstance(column, PhysicalColumn)]
    metadata = [column for column in end.table.written if isinstance(column, MetadataColumn)]
    for column in metadata:
        if column.key != ROWTIME:
            raise ProgramError(
                f"requires the metadata {ROWTIME!r}, the only one",
                who=f"{call_site('to_changelog_stream')}, column {column.name!r}",
                got=column.key,
            )
    row = RowType(tuple(Field(column.name, column.type) for column in stored), nullable=False)
    return row, len(stored) if metadata else _time_attribute(end.input.row)


def _record_type(row: RowType) -> TypeInformation | None:
    try:
        return to_type_information(row)
    except UnsupportedError:
        return None  # records can be of any type


def _time_attribute(row: RowType) -> int | None:
    """Return the place of the only event time of a row, None if there are none or several."""
    places = [place for place, field in enumerate(row.fields) if _is_rowtime(field.type)]
    return places[0] if len(places) == 1 else None


def _is_rowtime(data_type: LogicalType) -> bool:
    return isinstance(data_type, AnyTimestampType) and data_type.kind is TimestampKind.ROWTIME


class _Place(ColumnSink):
    """Marks where records are made; the operator that makes them takes its place."""

    def create_writer(self, context: WriterContext) -> ColumnWriter:
        raise AssertionError("another operator takes the place of this sink")

    def create_committer(self) -> Committer:
        raise AssertionError("another operator takes the place of this sink")

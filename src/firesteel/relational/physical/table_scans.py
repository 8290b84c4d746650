"""How the rows of a table come to a plan: what its connector says, in the order of the table's columns."""

from __future__ import annotations

from collections.abc import Callable

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.functions.columns.connectors import TableSource
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import Calc
from firesteel.relational.physical.normalizing import normalized
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.rules.substitution import refs
from firesteel.relational.tables import MetadataColumn, ResolvedTable, delivery_order, shown_name


def table_scan(
    table: ResolvedTable, connect: Callable[[ResolvedTable], TableSource], options: PlanOptions
) -> PhysicalNode:
    """Return the node whose rows are those of a table; `connect` gives the source of one that is not a stream's.

    Raises UnsupportedError for watermarks that a connector would have to make, and what `connect` raises.
    """
    columns = tuple(range(len(table.read)))
    who = f"Table source '{shown_name(table)}'"
    if table.origin is not None:
        return normalized(TableSourceScan(table, columns, None), table.changes, options, who)
    if table.watermark is not None and table.watermark.of_source:
        raise UnsupportedError(
            "declares SOURCE_WATERMARK(), but its connector makes no watermarks of its own",
            who=who,
            hint="write an expression, for example WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
        )
    source = connect(table)
    order = delivery_order(table.read)
    scan = normalized(TableSourceScan(table, order, source), source.mode, options, who)
    # Connectors call metadata by their own names, and deliver it last.
    renamed = any(isinstance(column, MetadataColumn) and column.name != column.key for column in table.read)
    if order == columns and not renamed:
        return scan
    return reordered(scan, tuple(map(order.index, columns)))


def reordered(given: PhysicalNode, places: tuple[int, ...]) -> Calc:
    """Return the columns of a node that are at some places, in their order."""
    fields = tuple(given.row.fields[place] for place in places)
    return Calc(given, refs(given.row, places), None, RowType(fields, nullable=False))

"""The operators of process table functions: rows of tables as records, the function, and records as columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.type_information import to_type_information
from firesteel.functions.changelog_mode import ChangelogMode
from firesteel.functions.columns.bridges import TIMESTAMP, ColumnsToRows, RowsToColumns
from firesteel.functions.columns.ordered_tables import InOrder
from firesteel.functions.columns.process_tables import (
    CalledTable,
    KeyOf,
    Numbered,
    RowProcess,
    TableProcess,
)
from firesteel.graph import Edge
from firesteel.graph.nodes import KeyBy
from firesteel.graph.operations import (
    ColumnsToRowsOp,
    KeyedProcessOp,
    MapOp,
    Operation,
    ProcessOp,
    RowsToColumnsOp,
)
from firesteel.relational.physical.process_tables import ProcessTable


@dataclass(frozen=True)
class Placed:
    """An operator of a call: its name and what it reads.

    One of a `table` has the parallelism of this input, others have that of the call; `uid` is that of its state.
    """

    name: str
    operation: Operation
    edges: tuple[Edge, ...]
    table: int | None = None
    uid: str | None = None


Add = Callable[[Placed], int]
"""Adds an operator, and returns its number."""


def add_process_table(plan: ProcessTable, inputs: list[tuple[Edge, ...]], zone: str, add: Add) -> int:
    """Add the operators of a call; `inputs` are the outputs of its tables. Return the number of the last one."""
    if plan.in_sets:
        edges = [_keyed(plan, number, given, zone, add) for number, given in enumerate(inputs)]
        call = KeyedProcessOp(TableProcess(plan.call))
        called = add(Placed(plan.name, call, tuple(edges), uid=plan.uid))
    else:
        rows = _rows(plan.parts[0].row, plan.tables[0].time if plan.tables else None, zone)
        read = add(Placed("ColumnsToRows", rows, inputs[0]))
        called = add(Placed(plan.name, ProcessOp(RowProcess(plan.call)), (Edge(read),)))
    width = len(plan.row.fields)
    places = (*range(width - plan.gives_time), *([TIMESTAMP] * plan.gives_time))
    columns = RowsToColumns(plan.row, places, zone, ChangelogMode.of(plan.mode).kinds)
    return add(Placed("RowsToColumns", RowsToColumnsOp(columns), (Edge(called),)))


def _keyed(plan: ProcessTable, number: int, given: tuple[Edge, ...], zone: str, add: Add) -> Edge:
    """Add the operators that number the rows of a table, in their order if it has one; return them by their keys."""
    table = plan.tables[number]
    keys = KeyBy(KeyOf(plan.tables), to_type_information(_key_row(plan.tables[0])))
    time = table.order[0].column if table.order else table.time
    rows = add(Placed("ColumnsToRows", _rows(table.row, time, zone), given, number))
    numbered = add(Placed("Numbered", MapOp(Numbered(number)), (Edge(rows),), number))
    if not table.order:
        return Edge(numbered, keys)
    waiting = KeyedProcessOp(InOrder(number, table, plan.state_ttl))
    uid = f"{plan.uid} ORDER BY of {table.argument}"
    return Edge(add(Placed("InOrder", waiting, (Edge(numbered, keys),), uid=uid)), keys)


def _rows(row: RowType, time: int | None, zone: str) -> ColumnsToRowsOp:
    return ColumnsToRowsOp(ColumnsToRows(row, time, zone))


def _key_row(table: CalledTable) -> RowType:
    return RowType(tuple(table.row.fields[place] for place in table.keys or ()), nullable=False)

"""Which operator computes a window aggregate or a window table."""

from __future__ import annotations

from firesteel.functions.columns.windows import WindowAggregate, WindowTable
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.windows.aggregate import SlicingAggregateOperator
from firesteel.runtime.columns.windows.session_operators import (
    SessionAggregateOperator,
    SessionTableOperator,
    WholeSessionAggregateOperator,
)
from firesteel.runtime.columns.windows.tables import WindowTableOperator
from firesteel.runtime.columns.windows.whole import needs_whole_rows
from firesteel.runtime.columns.windows.whole_operator import WholeAggregateOperator
from firesteel.runtime.operator import Operator


def window_aggregate_operator(aggregate: WindowAggregate) -> Operator[ColumnBatch]:
    """Return the operator of an aggregate by window."""
    if aggregate.window.shape.kind == "session" and aggregate.window.end is None:
        return (WholeSessionAggregateOperator if needs_whole_rows(aggregate) else SessionAggregateOperator)(
            aggregate
        )
    return (WholeAggregateOperator if needs_whole_rows(aggregate) else SlicingAggregateOperator)(aggregate)


def window_table_operator(table: WindowTable) -> Operator[ColumnBatch]:
    """Return the operator of a window table function."""
    return (SessionTableOperator if table.window.shape.kind == "session" else WindowTableOperator)(table)

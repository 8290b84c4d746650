"""Which operator computes a window aggregate or a window table."""

from __future__ import annotations

from firesteel.functions.columns.windows import WindowAggregate, WindowTable
from firesteel.runtime.columns.aggregates.form import Form
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.windows.aggregate import SlicingAggregateOperator
from firesteel.runtime.columns.windows.local import LocalSessionOperator, LocalSlicingOperator
from firesteel.runtime.columns.windows.session_operators import (
    SessionAggregateOperator,
    SessionTableOperator,
    WholeSessionAggregateOperator,
)
from firesteel.runtime.columns.windows.tables import WindowTableOperator
from firesteel.runtime.columns.windows.whole import group_aggregate
from firesteel.runtime.columns.windows.whole_operator import WholeAggregateOperator
from firesteel.runtime.operator import Operator


def window_aggregate_operator(aggregate: WindowAggregate, *, partial: bool = False) -> Operator[ColumnBatch]:
    """Return the operator of an aggregate by window; `partial`: of what `local_window_operator` has added up."""
    whole = not partial and bool(Form(group_aggregate(aggregate)).shared)
    if _by_session(aggregate):
        if whole:
            return WholeSessionAggregateOperator(aggregate)
        return SessionAggregateOperator(aggregate, partial=partial)
    return (
        WholeAggregateOperator(aggregate) if whole else SlicingAggregateOperator(aggregate, partial=partial)
    )


def has_two_phases(aggregate: WindowAggregate) -> bool:
    """Return whether rows can be added up before the exchange.

    They cannot if a call needs all rows, or those of all senders in order, or if windows follow the clock.
    """
    form = Form(group_aggregate(aggregate))
    return aggregate.window.event_time and not form.shared and not any(part.ordered for part in form.parts)


def local_window_operator(aggregate: WindowAggregate) -> Operator[ColumnBatch]:
    """Return the operator before the exchange, if the aggregate has two phases."""
    return (LocalSessionOperator if _by_session(aggregate) else LocalSlicingOperator)(aggregate)


def window_table_operator(table: WindowTable) -> Operator[ColumnBatch]:
    """Return the operator of a window table function."""
    return (SessionTableOperator if table.window.shape.kind == "session" else WindowTableOperator)(table)


def _by_session(aggregate: WindowAggregate) -> bool:
    return aggregate.window.shape.kind == "session" and aggregate.window.end is None

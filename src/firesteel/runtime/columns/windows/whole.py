"""Aggregates whose windows need all of their rows: DISTINCT, arrays of values, extremes of what can be retracted.

Rows wait until their window is over, and are aggregated then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import BigIntType, Field, RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.aggregates import Aggregation, GroupAggregate
from firesteel.functions.columns.windows import WindowAggregate
from firesteel.runtime.columns.aggregates.form import Form
from firesteel.runtime.columns.aggregates.groups import Groups
from firesteel.runtime.columns.aggregates.parts import Given
from firesteel.runtime.columns.batch import ColumnBatch, empty
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.folding import LEAD
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

ORDER: Final = "order"
SIGN: Final = "sign"
"""1 for a row that is added, -1 for one that is retracted."""

_KEY: Final = BigIntType(nullable=False)


class WholeRows:
    """Rows of windows as they wait: a number or time that they are led by, their order and sign, keys and values.

    `results` aggregates them by lead and keys.
    """

    def __init__(self, aggregate: WindowAggregate, keys: Keys) -> None:
        fields = aggregate.input.fields
        self._keys = keys
        self._places = sorted({place for call in aggregate.aggregations for place in _used(call)})
        lead = Field(LEAD, _KEY)
        key_fields = tuple(
            Field(name, fields[at].type) for name, at in zip(keys.names, keys.places, strict=False)
        )
        values = tuple(Field(f"v{place}", fields[place].type) for place in self._places)
        self._given = RowType((lead, *key_fields, *values), nullable=False)
        first = 1 + len(key_fields)
        at = {place: first + order for order, place in enumerate(self._places)}
        calls = tuple(_moved(call, at) for call in aggregate.aggregations)
        outputs = aggregate.output.fields[len(keys.places) : len(keys.places) + len(calls)]
        output = RowType((lead, *key_fields, *outputs), nullable=False)
        self._spec = GroupAggregate(
            self._given, output, tuple(range(first)), calls, retracts=aggregate.retracts, update_before=False
        )
        self._form = Form(self._spec)
        values_schema = to_arrow_schema(RowType(values))
        self.fields = [pa.field(ORDER, pa.int64()), pa.field(SIGN, pa.int64()), *keys.fields, *values_schema]
        self.schema = pa.schema([pa.field(LEAD, pa.int64()), *self.fields])

    def open(self, context: OperatorContext) -> None:
        """Open the user's functions."""
        self._form.open(context)

    def close(self) -> None:
        """Close the user's functions."""
        self._form.close()

    def columns(self, batch: ColumnBatch, first: int) -> list[pa.Array]:
        """Return the columns of `fields` of a batch whose rows are numbered from `first` on."""
        order = np.arange(first, first + len(batch))
        values = [batch.rows.column(place) for place in self._places]
        return [pa.array(order), pa.array(batch.signs()), *self._keys.columns(batch), *values]

    def results(self, lead: Times | Positions, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the lead, the keys and the results of rows, which have the columns of `fields` among others."""
        if not rows.num_rows:
            return empty(to_arrow_schema(self._spec.output))
        order = np.argsort(numbers(rows.column(ORDER)), kind="stable")
        names = self._given.field_names[1:]
        given = pa.RecordBatch.from_arrays(
            [pa.array(lead), *(rows.column(name) for name in names)], names=[LEAD, *names]
        )
        signs = numbers(rows.column(SIGN))[order]
        partials = self._form.lift(Given(given.take(pa.array(order)), signs if self._spec.retracts else None))
        groups = Groups(self._spec, self._form, LiveArrangements("", {}), 1)
        groups.begin_epoch(0)
        changes = groups.apply(self._form.combine(partials))
        return empty(to_arrow_schema(self._spec.output)) if changes is None else changes.rows


def group_aggregate(aggregate: WindowAggregate) -> GroupAggregate:
    """Return the aggregate of one window: that of its keys and calls, without the window."""
    return GroupAggregate(
        aggregate.input, aggregate.output, aggregate.keys, aggregate.aggregations, aggregate.retracts
    )


def _used(call: Aggregation) -> tuple[int, ...]:
    return call.arguments if call.filter is None else (*call.arguments, call.filter)


def _moved(call: Aggregation, places: dict[int, int]) -> Aggregation:
    """Return a call whose columns are at other places."""
    arguments = tuple(places[place] for place in call.arguments)
    return replace(call, arguments=arguments, filter=None if call.filter is None else places[call.filter])

"""Accumulators of windows: rows become partial results by (slice, key), and partial results are merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import BigIntType, Field, RowType
from firesteel.functions.columns.aggregates import Aggregation, GroupAggregate
from firesteel.runtime.columns.aggregates.form import Form
from firesteel.runtime.columns.aggregates.parts import Given
from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.runtime.columns.aggregates.values import by_owner
from firesteel.runtime.columns.batch import ColumnBatch, empty
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.sorting import Positions

LEAD: Final = "lead"
"""The first column of partial results: the end of a slice, or the number of a session."""


class Folding:
    """The accumulators of some aggregations; `keys` are None if the lead alone says where a row belongs.

    Partial results are rows of `schema`: the lead, the keys, the accumulators.
    """

    def __init__(
        self,
        row: RowType,
        keys: Keys | None,
        aggregations: Sequence[Aggregation],
        who: str,
        *,
        retracts: bool = False,
    ) -> None:
        self._keys = keys
        lead = Field(LEAD, BigIntType(nullable=False))
        fields = tuple(row.fields[place] for place in (keys.places if keys else ()))
        given = RowType((*row.fields, lead), nullable=False)
        places = (len(row.fields), *(keys.places if keys else ()))
        spec = GroupAggregate(
            given, RowType((lead, *fields), nullable=False), places, tuple(aggregations), retracts=retracts
        )
        self._form = Form(spec)
        self._retracts = retracts
        if self._form.shared:
            shown = ", ".join(call.shown for call in aggregations)
            raise UnsupportedError("cannot be computed in a window yet", who=f"{who}: {shown}")
        self.ordered = any(part.ordered for part in self._form.parts)
        """Whether the order in which rows come matters."""
        self._width = 1 + len(fields)
        kinds = self._form.state.types[self._width :]
        self.accumulators = [pa.field(f"a{order}", kind) for order, kind in enumerate(kinds)]
        self.schema = pa.schema(
            [pa.field(LEAD, pa.int64()), *(keys.fields if keys else ()), *self.accumulators]
        )

    def open(self, context: OperatorContext) -> None:
        """Open the user's functions."""
        self._form.open(context)

    def close(self) -> None:
        """Close the user's functions."""
        self._form.close()

    def lifted(self, lead: Times | Positions, batch: ColumnBatch) -> pa.RecordBatch:
        """Return a partial result of each row, whose leads are given."""
        return self._formed(self._lifted(lead, batch).columns)

    def partial(self, lead: Times | Positions, batch: ColumnBatch) -> pa.RecordBatch:
        """Return the partial results of rows, whose leads are given."""
        return self._shrunk(self._lifted(lead, batch))

    def partial_by(self, groups: Segments, batch: ColumnBatch) -> pa.RecordBatch:
        """Return one partial result for each group of rows; without keys."""
        return self._reduced(groups, self._lifted(np.zeros(len(batch), np.int64), batch))

    def merged(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return partial results, each lead and key once."""
        return self._shrunk(self._of_form(rows))

    def merged_by(self, groups: Segments, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return one partial result for each group of partial results; without keys."""
        return self._reduced(groups, self._of_form(rows))

    def led_by(self, lead: Times | Positions, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return partial results with another lead; `rows` may have other columns besides."""
        return pa.RecordBatch.from_arrays(
            [pa.array(lead), *(rows.column(name) for name in self.schema.names[1:])], schema=self.schema
        )

    def alive(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return those that have any rows."""
        if not self._retracts:
            return rows
        counts = numbers(rows.column(self.accumulators[0].name))
        return rows.filter(pa.array(counts > 0))

    def results(self, rows: pa.RecordBatch) -> list[pa.Array]:
        """Return a column for each aggregation."""
        unused = [pa.nulls(rows.num_rows)] * self._width
        columns = [*unused, *(rows.column(field.name) for field in self.accumulators)]
        return self._form.results(pa.RecordBatch.from_arrays(columns, names=self._form.state.names), {})

    def _lifted(self, lead: Times | Positions, batch: ColumnBatch) -> pa.RecordBatch:
        names = [str(place) for place in range(len(batch.rows.columns) + 1)]
        rows = pa.RecordBatch.from_arrays([*batch.rows.columns, pa.array(lead)], names=names)
        return self._form.lift(Given(rows, None if batch.kinds is None else batch.signs()))

    def _of_form(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return partial results with the names of the form, and without the key that stands for none."""
        if self._keys is not None and not self._keys.places:
            rows = rows.select([name for name in rows.schema.names if name not in self._keys.names])
        return pa.RecordBatch.from_arrays(rows.columns, schema=self._form.schema)

    def _reduced(self, groups: Segments, rows: pa.RecordBatch) -> pa.RecordBatch:
        if self.ordered:
            groups = by_owner(groups.numbers)
        return self._formed(self._form.reduce(rows, groups).columns)

    def _shrunk(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        if not rows.num_rows:
            return empty(self.schema)
        return self._formed(self._form.shrink(rows).columns)

    def _formed(self, columns: list[pa.Array]) -> pa.RecordBatch:
        """Return columns of the form as those of `schema`."""
        if self._keys is not None and not self._keys.places:
            columns = [columns[0], *self._keys.only(len(columns[0])), *columns[1:]]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

"""Accumulators of windows: rows become partial results by (slice, key), and partial results are merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.state.arrangements.sorting import Positions

LEAD: Final = "lead"
"""The first column of partial results: the end of a slice, or the number of a session."""

_PARTS: Final = {
    "COUNT": ("count",), "SUM": ("sum",), "AVG": ("sum", "count"), "MIN": ("min",), "MAX": ("max",)
}  # fmt: skip
_MERGE: Final = {"count": "sum", "sum": "sum", "min": "min", "max": "max"}


class Folding:
    """The accumulators of some aggregations; `keys` are None if the lead alone says where a row belongs.

    Partial results are rows of `schema`: the lead, the keys, the accumulators. Without keys they come in the order of
    the lead.
    """

    def __init__(
        self,
        schema: pa.Schema,
        keys: Keys | None,
        aggregations: Sequence[Aggregation],
        retracts: bool = False,
    ) -> None:
        self._keys = keys
        self._aggregations = tuple(aggregations)
        self._calls: list[tuple[str, str]] = []
        self.accumulators: list[pa.Field] = []
        for order, aggregation in enumerate(aggregations):
            if aggregation.function not in _PARTS or aggregation.distinct or retracts:
                raise UnsupportedError("cannot be computed in a window", who=aggregation.shown)
            for part in _PARTS[aggregation.function]:
                name = f"a{order}{part}"
                kind = pa.int64()
                if part != "count":
                    kind = schema.types[aggregation.arguments[0]]
                    if part == "sum":
                        kind = _sum_type(kind)
                self.accumulators.append(pa.field(name, kind))
                self._calls.append((name, _MERGE[part]))
        self._by = [LEAD, *(keys.names if keys else ())]
        self.schema = pa.schema(
            [pa.field(LEAD, pa.int64()), *(keys.fields if keys else ()), *self.accumulators]
        )

    def partial(self, lead: Times | Positions, batch: ColumnBatch) -> pa.RecordBatch:
        """Return the partial results of rows, whose leads are given."""
        columns: dict[str, pa.Array] = {LEAD: pa.array(lead)}
        if self._keys:
            columns.update(zip(self._keys.names, self._keys.columns(batch), strict=True))
        calls = []
        for order, aggregation in enumerate(self._aggregations):
            column = self._counted(aggregation, batch)
            for part in _PARTS[aggregation.function]:
                name = f"a{order}{part}"
                columns[name] = column
                calls.append((name, part))
        return self._grouped(pa.table(columns), calls)

    def merged(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return partial results, each lead and key once."""
        return self._grouped(pa.Table.from_batches([rows]), self._calls)

    def led_by(self, lead: Times | Positions, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return partial results with another lead."""
        return pa.RecordBatch.from_arrays(
            [pa.array(lead), *(rows.column(name) for name in self.schema.names[1:])], schema=self.schema
        )

    def alive(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return those that have any rows."""
        return rows

    def results(self, rows: pa.RecordBatch) -> list[pa.Array]:
        """Return a column for each aggregation."""
        found = []
        for order, aggregation in enumerate(self._aggregations):
            parts = [rows.column(f"a{order}{part}") for part in _PARTS[aggregation.function]]
            column = parts[0]
            if len(parts) == 2:
                column = pc.divide(parts[0], pc.if_else(pc.equal(parts[1], 0), None, parts[1]))
            found.append(column.cast(to_arrow(aggregation.type)))
        return found

    def _counted(self, aggregation: Aggregation, batch: ColumnBatch) -> pa.Array:
        if aggregation.arguments:
            column = batch.rows.column(aggregation.arguments[0])
        else:
            column = pa.array(np.ones(len(batch), np.int64))
        if aggregation.filter is not None:
            keep = pc.fill_null(batch.rows.column(aggregation.filter), False)
            column = pc.if_else(keep, column, pa.scalar(None, column.type))
        return column

    def _grouped(self, table: pa.Table, calls: list[tuple[str, str]]) -> pa.RecordBatch:
        grouped = table.group_by(self._by, use_threads=False).aggregate(calls)
        names = [*self._by, *(f"{name}_{function}" for name, function in calls)]
        if self._keys is None:
            grouped = grouped.sort_by(LEAD)
        return pa.RecordBatch.from_arrays(
            [
                grouped.column(name).combine_chunks().cast(field.type)
                for name, field in zip(names, self.schema, strict=True)
            ],
            schema=self.schema,
        )


def _sum_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_integer(kind):
        return pa.int64()
    return pa.decimal128(38, kind.scale) if pa.types.is_decimal(kind) else pa.float64()

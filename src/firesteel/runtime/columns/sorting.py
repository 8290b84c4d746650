"""Sorting in BATCH mode, and limits."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.sorting import Limit, Sort
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.operator import Epoch, Operator, OperatorContext, OperatorReport
from firesteel.state.arrangements.layout import Layout

_NUMBER: Final = "n"
"""The column of the arrangement that has the place of a row in the input; the others are named by their places."""


class SortOperator(Operator[ColumnBatch]):
    """Keeps its input, which must be inserts, in an arrangement, and emits it sorted when it has ended.

    Rows that are equal in what they are sorted by keep the order in which they came. The watermark follows the rows.
    """

    def __init__(self, sort: Sort) -> None:
        self._sort = sort
        self._schema = to_arrow_schema(sort.row)

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangement of the rows."""
        super().open(context)
        for key in self._sort.order:
            kind = self._schema.field(key.column).type
            if pa.types.is_nested(kind):
                raise UnsupportedError("cannot sort by values of this type", who=context.who, got=str(kind))
        assert context.arrangements is not None
        fields = [pa.field(f"c{place}", field.type) for place, field in enumerate(self._schema)]
        self._stored = pa.schema([pa.field(_NUMBER, pa.int64()), *fields])
        self._rows = context.arrangements.declare("rows", Layout(self._stored, (_NUMBER,)))

    def begin_epoch(self, epoch: Epoch) -> None:
        """Go on counting where the last epoch stopped."""
        super().begin_epoch(epoch)
        self._count: int = epoch.operator_state or 0

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Keep the rows, with their places."""
        end = self._count + len(batch)
        numbers = pa.array(np.arange(self._count, end))
        self._rows.put(pa.RecordBatch.from_arrays([numbers, *batch.rows.columns], schema=self._stored))
        self._count = end

    def advance_watermark(self, watermark: int) -> None:
        """Advance; `finish` sends the watermark."""
        self.watermark = watermark

    def finish(self) -> None:
        """Emit the rows, sorted."""
        kept = pa.Table.from_batches(self._rows.rows(), self._stored)
        end = None if self._sort.fetch is None else self._sort.offset + self._sort.fetch
        order = pc.sort_indices(*_sorting(kept, self._sort))[self._sort.offset : end]
        rows = kept.take(order).drop_columns([_NUMBER]).rename_columns(self._schema.names).cast(self._schema)
        for part in rows.to_batches(max_chunksize=ColumnBatch.MOST):
            self.output.emit(ColumnBatch(part))
        self.emit_watermark(self.watermark)

    def end_epoch(self) -> OperatorReport:
        """Report how many rows there are."""
        return OperatorReport(operator_state=self._count)


class LimitOperator(Operator[ColumnBatch]):
    """Passes on some of its input, which must be inserts; runs in one subtask."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit

    def begin_epoch(self, epoch: Epoch) -> None:
        """Go on counting where the last epoch stopped."""
        super().begin_epoch(epoch)
        self._count: int = epoch.operator_state or 0

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Pass on the rows whose turn it is."""
        start = max(0, self._limit.offset - self._count)
        stop = len(batch)
        if self._limit.fetch is not None:
            stop = min(stop, self._limit.offset + self._limit.fetch - self._count)
        self._count += len(batch)
        if start < stop:
            self.output.emit(batch.slice(start, stop))

    def end_epoch(self) -> OperatorReport:
        """Report how many rows have come."""
        return OperatorReport(operator_state=self._count)


def _sorting(kept: pa.Table, sort: Sort) -> tuple[pa.Table, list[tuple[str, str]]]:
    """Return columns, and the directions to sort them in: NULL, and then NaN, are decided before other values.

    NaN is larger than all other numbers, as in Java.
    """
    columns: dict[str, pa.ChunkedArray] = {}
    directions: list[tuple[str, str]] = []

    def by(column: pa.ChunkedArray, *, ascending: bool) -> None:
        name = str(len(columns))
        columns[name] = column
        directions.append((name, "ascending" if ascending else "descending"))

    for place, ascending, nulls_first in sort.order:
        column = kept[f"c{place}"]
        if column.null_count:
            by(pc.is_null(column), ascending=not nulls_first)
        if pa.types.is_floating(column.type):
            by(pc.fill_null(pc.is_nan(column), False), ascending=ascending)
        by(column, ascending=ascending)
    by(kept[_NUMBER], ascending=True)
    return pa.table(columns), directions

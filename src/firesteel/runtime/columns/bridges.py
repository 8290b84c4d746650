"""The operators between records and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from firesteel.common.errors import TypeMismatchError
from firesteel.common.logical_types import Field
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.common.logical_types.columns import to_column
from firesteel.common.logical_types.python_values import from_column
from firesteel.common.types import Row, RowKind, make_row
from firesteel.common.zones import java_zone
from firesteel.functions.columns.bridges import TIMESTAMP, WHOLE, ColumnsToRows, RowsToColumns
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.columns.batch import ColumnBatch, Kinds
from firesteel.runtime.columns.times import milliseconds
from firesteel.runtime.operator import Operator, OperatorContext

_KINDS = tuple(sorted(RowKind, key=lambda kind: kind.value))


class RowsToColumnsOperator(Operator[RowBatch]):
    """Makes columns of the fields of records.

    Raises TypeMismatchError for a record that does not fit, or that is no change of the kinds that are expected.
    """

    def __init__(self, bridge: RowsToColumns) -> None:
        self._bridge = bridge

    def open(self, context: OperatorContext) -> None:
        """Prepare the schema."""
        super().open(context)
        self._schema = to_arrow_schema(self._bridge.row)
        self._zone = java_zone(self._bridge.zone, context.who)

    def process(self, batch: RowBatch, port: int) -> None:
        """Emit the columns of a batch."""
        kinds = self._kinds(batch.values)
        places = zip(self._bridge.row.fields, self._bridge.fields, strict=True)
        try:
            columns = [self._column(field, place, batch) for field, place in places]
        except TypeMismatchError as error:
            error.who = f"{self.context.who}, {error.who}" if error.who else self.context.who
            raise
        self.output.emit(ColumnBatch(pa.RecordBatch.from_arrays(columns, schema=self._schema), kinds))

    def _column(self, field: Field, place: int, batch: RowBatch) -> pa.Array:
        if place == TIMESTAMP:
            return pa.array(batch.stamps(), pa.timestamp("ms")).cast(to_arrow(field.type))
        values = batch.values if place == WHOLE else [record[place] for record in batch.values]
        return to_column(values, field.type, field.name, self._zone)

    def _kinds(self, records: Sequence[Any]) -> Kinds | None:
        """Return the kind of change that each record is; None if all are inserts."""
        kinds = [record.get_row_kind() if isinstance(record, Row) else RowKind.INSERT for record in records]
        wrong = {*kinds} - self._bridge.kinds
        if wrong:
            kind = next(kind for kind in kinds if kind in wrong)
            allowed = ", ".join(str(kind) for kind in _KINDS if kind in self._bridge.kinds)
            raise TypeMismatchError(
                f"requires records of the kind {allowed}",
                who=self.context.who,
                got=f"{kind} {records[kinds.index(kind)]!r}",
            )
        if {*kinds} <= {RowKind.INSERT}:
            return None
        return np.array([kind.value for kind in kinds], np.int8)


class ColumnsToRowsOperator(Operator[ColumnBatch]):
    """Makes rows of columns."""

    def __init__(self, bridge: ColumnsToRows) -> None:
        self._bridge = bridge

    def open(self, context: OperatorContext) -> None:
        """Prepare the names."""
        super().open(context)
        self._names = [field.name for field in self._bridge.row.fields]
        self._zone = java_zone(self._bridge.zone, context.who)

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Emit the rows of a batch."""
        fields = self._bridge.row.fields
        columns = [
            from_column(column, field.type) for column, field in zip(batch.rows.columns, fields, strict=False)
        ]
        kinds = [_KINDS[code] for code in batch.all_kinds().tolist()]
        rows = zip(*columns, strict=True)
        values = [make_row(self._names, list(row), kind) for row, kind in zip(rows, kinds, strict=True)]
        self.output.emit(RowBatch(values, self._timestamps(batch.rows)))

    def _timestamps(self, rows: pa.RecordBatch) -> list[int | None] | None:
        if self._bridge.time is None:
            return None
        column = rows.column(self._bridge.time)
        stamps: list[int | None] = milliseconds(column.drop_null()).tolist()
        if column.null_count:
            present = iter(stamps)
            stamps = [next(present) if valid else None for valid in column.is_valid().to_pylist()]
        return stamps

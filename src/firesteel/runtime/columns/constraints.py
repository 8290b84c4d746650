"""What the columns of a table demand of the rows that are written to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import ConstraintError
from firesteel.common.logical_types import LogicalTypeRoot
from firesteel.common.logical_types.strings import MAX_LENGTH, LengthType
from firesteel.functions.columns.sinks import Constraints
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.operator import Operator

_FIXED: Final = (LogicalTypeRoot.CHAR, LogicalTypeRoot.BINARY)
_TEXTS: Final = (LogicalTypeRoot.CHAR, LogicalTypeRoot.VARCHAR)

Fitting = Callable[[pa.Array], pa.Array]
"""Makes the values of a column as long as its type demands."""


class ConstraintOperator(Operator[ColumnBatch]):
    """Passes on rows that fit the table; see `Constraints`. Raises ConstraintError for others."""

    def __init__(self, constraints: Constraints) -> None:
        self._constraints = constraints
        self._lengths = [
            (place, field.name, field.type)
            for place, field in enumerate(constraints.row.fields)
            if constraints.lengths != "IGNORE"
            and isinstance(field.type, LengthType)
            and field.type.length < MAX_LENGTH
        ]

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Pass on a batch."""
        present = self._present(batch)
        fitting = present if not self._lengths else self._fitting(present)
        if len(fitting):
            self.output.emit(fitting)

    def _present(self, batch: ColumnBatch) -> ColumnBatch:
        for place in self._constraints.not_null:
            column = batch.rows.column(place)
            if not column.null_count:
                continue
            if not self._constraints.drop:
                name = self._constraints.row.fields[place].name
                raise ConstraintError(
                    f"requires values for the column {name!r}, which is NOT NULL",
                    who=self.context.who,
                    got="NULL",
                    hint="with 'table.exec.sink.not-null-enforcer' = 'DROP' such rows are left out",
                )
            batch = batch.take(np.flatnonzero(np.asarray(column.is_valid())))
        return batch

    def _fitting(self, batch: ColumnBatch) -> ColumnBatch:
        columns = list(batch.rows.columns)
        for place, name, kind in self._lengths:
            columns[place] = self._fitted(columns[place], name, kind)
        return ColumnBatch(pa.RecordBatch.from_arrays(columns, schema=batch.rows.schema), batch.kinds)

    def _fitted(self, column: pa.Array, name: str, kind: LengthType) -> pa.Array:
        text = kind.root in _TEXTS
        lengths = pc.utf8_length(column) if text else pc.binary_length(column)
        longest = pc.max(lengths).as_py()
        if longest is None:
            return column
        fixed = kind.root in _FIXED
        if longest <= kind.length and not (fixed and pc.min(lengths).as_py() < kind.length):
            return column
        if self._constraints.lengths == "ERROR":
            raise self._misfit(column, lengths, name, kind)
        cut = (
            pc.utf8_slice_codeunits(column, 0, kind.length)
            if text
            else pc.binary_slice(column, 0, kind.length)
        )
        if not fixed:
            return cut
        return pc.utf8_rpad(cut, kind.length) if text else _padded(cut, kind.length)

    def _misfit(self, column: pa.Array, lengths: pa.Array, name: str, kind: LengthType) -> ConstraintError:
        fixed = kind.root in _FIXED
        wrong = pc.not_equal(lengths, kind.length) if fixed else pc.greater(lengths, kind.length)
        place = pc.index(wrong, True).as_py()
        what = "characters" if kind.root in _TEXTS else "bytes"
        return ConstraintError(
            f"requires values of {'' if fixed else 'at most '}{kind.length} {what} for the column {name!r}",
            who=self.context.who,
            got=f"{column[place].as_py()!r}, which has {lengths[place].as_py()}",
            hint="with 'table.exec.sink.type-length-enforcer' = 'TRIM_PAD' values are cut and filled up",
        )


def _padded(column: pa.Array, length: int) -> pa.Array:
    """Return bytes with zeros behind them up to a length."""
    filled = pa.array([b"\0" * length], column.type)[0]
    return pc.binary_slice(pc.binary_join_element_wise(column, filled, b""), 0, length)

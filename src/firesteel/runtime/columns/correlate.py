"""The operator that joins each row with the rows that a table function gives for it."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.correlates import Correlate, Unnest
from firesteel.runtime.columns.batch import DELETE, INSERT, ColumnBatch
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.runtime.columns.python_functions import Given, PythonRows
from firesteel.runtime.operator import Operator, OperatorContext
from firesteel.state.arrangements.columns import Numbers, numbers

_MOST: Final = 1 << 14
"""How many rows are taken apart together."""


class CorrelateOperator(Operator[ColumnBatch]):
    """Emits each row with each of those that the function gives for it; updates become deletes and inserts."""

    def __init__(self, correlate: Correlate) -> None:
        self._correlate = correlate
        self._schema = to_arrow_schema(correlate.output)
        function = correlate.function
        self._python = None if isinstance(function, Unnest) else PythonRows(function, correlate.zone)
        self._condition: Statement | None = None

    def open(self, context: OperatorContext) -> None:
        """Open the function, and prepare the condition."""
        super().open(context)
        if self._python is not None:
            self._python.open(context)
        if self._correlate.condition is not None:
            self._condition = Statement(self._correlate.condition, context.who)

    def close(self) -> None:
        """Close the function, and release what was prepared."""
        if self._condition is not None:
            self._condition.close()
        if self._python is not None:
            self._python.close()
        super().close()

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Emit the rows of a batch."""
        for start in range(0, len(batch), _MOST):
            self._expand(batch.slice(start, start + _MOST))

    def _expand(self, batch: ColumnBatch) -> None:
        found = self._found(batch.rows)
        if self._condition is not None and len(found.owners):
            rows = self._joined(batch.rows, found)
            places = self._condition.run(
                ColumnBatch(rows.append_column("$place", pa.array(np.arange(rows.num_rows))))
            ).rows.column(0)
            found = Given(found.owners[numbers(places)], [column.take(places) for column in found.columns])
        if self._correlate.keeps:
            found = _with_others(found, len(batch))
        if not len(found.owners):
            return
        kinds = None if batch.kinds is None else np.where(batch.signs() > 0, INSERT, DELETE)[found.owners]
        for part in ColumnBatch(self._joined(batch.rows, found), kinds).parts():
            self.output.emit(part)

    def _found(self, rows: pa.RecordBatch) -> Given:
        spec = self._correlate
        if self._python is not None:
            fields = spec.row.fields
            return self._python.given(
                [(rows.column(place), fields[place].type) for place in spec.arguments], rows.num_rows
            )
        assert isinstance(spec.function, Unnest)
        (collection,) = (rows.column(place) for place in spec.arguments)
        return unnested(collection, spec.function)

    def _joined(self, rows: pa.RecordBatch, found: Given) -> pa.RecordBatch:
        """Return the columns that stay of the rows' owners, and then those of the function."""
        owners = pa.array(found.owners)
        columns = [rows.column(place).take(owners) for place in self._correlate.kept]
        fields = [*self._schema][len(columns) :]
        results = [column.cast(field.type) for column, field in zip(found.columns, fields, strict=True)]
        return pa.RecordBatch.from_arrays([*columns, *results], schema=self._schema)


def unnested(collection: pa.Array, function: Unnest) -> Given:
    """Return the elements of collections.

    >>> found = unnested(pa.array([[7, 8], None, [], [9]]), Unnest("ARRAY", ordinality=True))
    >>> found.owners.tolist(), [column.to_pylist() for column in found.columns]
    ([0, 0, 3], [[7, 8, 9], [1, 2, 1]])
    """
    starts, lengths = _extents(collection)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    places = np.repeat(starts, lengths) + _ordinals(lengths)
    if function.collection == "MULTISET":
        times = numbers(collection.items.take(pa.array(places)).cast(pa.int64()))
        owners, places = np.repeat(owners, times), np.repeat(places, times)
        lengths = np.bincount(owners, minlength=len(lengths))
    if function.collection == "MAP":
        columns = [part.take(pa.array(places)) for part in (collection.keys, collection.items)]
    else:
        elements = collection.values if function.collection == "ARRAY" else collection.keys
        elements = elements.take(pa.array(places))
        columns = elements.flatten() if isinstance(elements, pa.StructArray) else [elements]
    if function.ordinality:
        columns.append(pa.array(_ordinals(lengths) + 1, pa.int32()))
    return Given(owners, columns)


def _ordinals(lengths: Numbers) -> Numbers:
    """Return for each element of collections of these lengths how many are before it."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)


def _with_others(found: Given, count: int) -> Given:
    """Return the same with a row of NULLs for each of `count` arguments that has none."""
    alone = np.flatnonzero(np.bincount(found.owners, minlength=count) == 0)
    if not len(alone):
        return found
    owners = np.concatenate((found.owners, alone))
    order = np.argsort(owners, kind="stable")
    places = pa.array(order, mask=order >= len(found.owners))
    return Given(owners[order], [column.take(places) for column in found.columns])


def _extents(collection: pa.Array) -> tuple[Numbers, Numbers]:
    """Return where the elements of each collection begin, and how many there are."""
    if not len(collection):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    size = np.dtype(np.int32).itemsize
    buffer = collection.buffers()[1]
    offsets = np.frombuffer(buffer, np.int32, len(collection) + 1, collection.offset * size).astype(np.int64)
    lengths = np.diff(offsets)
    if collection.null_count:
        lengths[np.asarray(collection.is_null())] = 0
    return offsets[:-1], lengths

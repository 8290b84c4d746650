"""A source of given rows, by columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.logical_types.columns import to_column
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSource, Kinds
from firesteel.functions.columns.statistics import TableStatistics
from firesteel.functions.source import Split

_BATCH = 1 << 14


class ValuesSource(ColumnSource):
    """Given changes, in order, read by one subtask; positions are rows.

    >>> rows = pa.RecordBatch.from_pydict({"n": [1, 2, 3]})
    >>> source = ValuesSource(rows)
    >>> [split] = source.splits(frozenset())
    >>> [(part["n"].to_pylist(), kinds) for part, kinds in source.read_columns(split, 1, 3)]
    [([2, 3], None)]
    """

    preferred_parallelism = 1

    def __init__(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> None:
        self._rows = rows
        self._kinds = kinds

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return [] if known else [Split("values", 0, self._rows.num_rows)]

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        for low in range(start, end, _BATCH):
            high = min(low + _BATCH, end)
            yield self._rows.slice(low, high - low), None if self._kinds is None else self._kinds[low:high]
        return None

    def projected(self, columns: tuple[int, ...]) -> ColumnSource:
        """Return a source of these columns."""
        return ValuesSource(self._rows.select(columns), self._kinds)

    def statistics(self) -> TableStatistics:
        """Return the number of rows, and their size in memory."""
        return TableStatistics(self._rows.num_rows, self._rows.nbytes)


def values_source(row: RowType, values: Sequence[Any], kinds: Sequence[int] | None = None) -> ValuesSource:
    """Return a source of Python values, a tuple or Row each, of the row type; `kinds` are RowKinds as numbers.

    Raises TypeMismatchError for values that do not fit.

    >>> from firesteel.common.logical_types import parse_type
    >>> source = values_source(parse_type("ROW<n INT, s STRING> NOT NULL"), [(1, "a"), (2, None)])
    >>> next(source.read_columns(Split("values", 0, 2), 0, 2))[0].to_pydict()
    {'n': [1, 2], 's': ['a', None]}
    """
    return ValuesSource(rows_of(row, values), None if kinds is None else np.asarray(kinds, np.int8))


def rows_of(row: RowType, values: Sequence[Any]) -> pa.RecordBatch:
    """Return Python values, a tuple or Row each, as rows of a type. Raises TypeMismatchError for others."""
    whole = row.copy(nullable=False)
    column = to_column(values, whole, "row")
    return pa.RecordBatch.from_arrays(column.flatten(), schema=to_arrow_schema(row))

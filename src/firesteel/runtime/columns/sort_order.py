"""The order of rows by columns: as Flink sorts, with NULL and NaN where it has them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import UnsupportedError
from firesteel.functions.columns.sorting import SortColumn
from firesteel.runtime.columns.arrivals import ARRIVAL


def require_sortable(schema: pa.Schema, order: Sequence[SortColumn], who: str) -> None:
    """Raise UnsupportedError for columns whose values have no order."""
    for key in order:
        kind = schema.field(key.column).type
        if pa.types.is_nested(kind):
            raise UnsupportedError("cannot sort by values of this type", who=who, got=str(kind))


def sorted_places(kept: pa.Table | pa.RecordBatch, order: Sequence[SortColumn]) -> pa.Array:
    """Return the places of kept rows in their order; rows that are equal in it keep the order in which they came.

    NULL, and then NaN, are decided before other values; NaN is larger than all other numbers, as in Java.

    >>> kept = pa.table({"c0": [2.0, None, float("nan"), 2.0], "n": [0, 1, 2, 3]})
    >>> sorted_places(kept, [SortColumn(0, False, False)]).to_pylist()
    [2, 0, 3, 1]
    """
    columns: list[pa.ChunkedArray | pa.Array] = []
    directions: list[tuple[str, str]] = []

    def by(column: pa.ChunkedArray | pa.Array, *, ascending: bool) -> None:
        directions.append((str(len(columns)), "ascending" if ascending else "descending"))
        columns.append(column)

    for place, ascending, nulls_first in order:
        column = kept[f"c{place}"]
        if column.null_count:
            by(pc.is_null(column), ascending=not nulls_first)
        if pa.types.is_floating(column.type):
            by(pc.fill_null(pc.is_nan(column), False), ascending=ascending)
        by(column, ascending=ascending)
    by(kept[ARRIVAL], ascending=True)
    return pc.sort_indices(pa.table(columns, names=[name for name, _ in directions]), directions)

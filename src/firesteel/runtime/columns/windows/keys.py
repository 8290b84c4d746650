"""The key columns of windows, within the state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.state.arrangements.sorting import Positions

_ONLY = pa.field("k0", pa.int8())


class Keys:
    """The columns at some places of the input, as k0, k1, ...; without any there is one key, the same for all rows.

    >>> keys = Keys(pa.schema([("a", pa.int64()), ("b", pa.string())]), (1,))
    >>> keys.names, [str(field.type) for field in keys.fields]
    (['k0'], ['string'])
    """

    def __init__(self, schema: pa.Schema, places: Sequence[int]) -> None:
        self.places = tuple(places)
        self.fields = [pa.field(f"k{order}", schema.types[place]) for order, place in enumerate(places)] or [
            _ONLY
        ]
        self.names = [field.name for field in self.fields]

    def columns(self, batch: ColumnBatch) -> list[pa.Array]:
        """Return the columns of the keys."""
        if not self.places:
            return self.only(len(batch))
        return [batch.rows.column(place) for place in self.places]

    def only(self, count: int) -> list[pa.Array]:
        """Return the column of the only key."""
        return [pa.array(np.zeros(count, np.int8))]

    def rows(self, batch: ColumnBatch) -> pa.RecordBatch:
        """Return the keys of a batch."""
        return pa.RecordBatch.from_arrays(self.columns(batch), schema=pa.schema(self.fields))

    def shown(self, rows: pa.RecordBatch) -> list[pa.Array]:
        """Return the columns that belong to the output."""
        return [rows.column(name) for name in self.names[: len(self.places)]]


def codes_of(columns: Sequence[pa.Array]) -> tuple[Positions, Positions]:
    """Return a number for each row, the same for equal rows, and the place of the first row of each number.

    >>> codes_of([pa.array(["a", None, "a", "b"])])[0].tolist()
    [0, 1, 0, 2]
    """
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        encoded = column.dictionary_encode("encode")
        numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        codes = codes * max(len(encoded.dictionary), 1) + numbers
        if len(columns) > 1:
            codes = np.unique(codes, return_inverse=True)[1]
    return codes, _firsts(codes)


def _firsts(codes: Positions) -> Positions:
    """Return the first place of each number."""
    firsts = np.empty(int(codes.max()) + 1 if len(codes) else 0, np.int64)
    firsts[codes[::-1]] = np.arange(len(codes))[::-1]
    return firsts

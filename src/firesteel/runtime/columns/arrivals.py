"""Rows as they are kept with the order in which they came."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.operator import Epoch

ARRIVAL: Final = "n"
"""The column with the number of a row in the order in which rows came; the others are named by their places."""


_ROWS_OF_AN_EPOCH: Final = 32
"""Bits of the number of a row within its epoch."""


def first_number(epoch: Epoch) -> int:
    """Return the number of the first row of an epoch in the order in which rows come to a subtask."""
    return epoch.facts.number << _ROWS_OF_AN_EPOCH


def numbered_schema(schema: pa.Schema) -> pa.Schema:
    """Return the columns c0, c1, ... of rows as they are kept, and their numbers.

    >>> numbered_schema(pa.schema([("a", pa.int32())])).names
    ['c0', 'n']
    """
    fields = [pa.field(f"c{place}", field.type) for place, field in enumerate(schema)]
    return pa.schema([*fields, pa.field(ARRIVAL, pa.int64())])


def numbered(batch: ColumnBatch, first: int, schema: pa.Schema) -> pa.RecordBatch:
    """Return the rows of a batch, numbered from `first` on, in the schema that `numbered_schema` returned."""
    arrivals = pa.array(np.arange(first, first + len(batch)))
    return pa.RecordBatch.from_arrays([*batch.rows.columns, arrivals], schema=schema)

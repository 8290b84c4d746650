"""How the rows of an input are kept until their results are known: by their keys, with the order in which they came."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.arrivals import first_number
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.runtime.operator import Epoch, OperatorContext
from firesteel.state.arrangements.columns import Numbers


class KeyedRows:
    """The columns of rows as they are kept: those of `keys`, then the others, named by their places in the input.

    Contract: `begin` each epoch; then `orders` numbers rows as they come.
    """

    def __init__(self, schema: pa.Schema, places: tuple[int, ...]) -> None:
        self.keys = Keys(schema, places)
        self._schema = schema
        self._others = [place for place in range(len(schema)) if place not in places]
        self.others = [pa.field(f"c{place}", schema.types[place]) for place in self._others]

    def begin(self, epoch: Epoch, context: OperatorContext) -> None:
        """Number the rows of an epoch after all earlier ones."""
        # A step, so that no two rows of an epoch have one number, whichever subtask gets them later.
        self._step = context.parallelism
        self._next = first_number(epoch) + context.subtask

    def orders(self, count: int) -> Numbers:
        """Return the numbers of the next rows."""
        first, self._next = self._next, self._next + count * self._step
        return np.arange(first, self._next, self._step)

    def columns(self, batch: ColumnBatch) -> list[pa.Array]:
        """Return the columns of keys and the others, of rows of the input."""
        return [*self.keys.columns(batch), *(batch.rows.column(place) for place in self._others)]

    def as_input(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return kept rows as they came."""
        columns: list[pa.Array] = [pa.nulls(0)] * len(self._schema)
        for name, place in zip(self.keys.names, self.keys.places, strict=False):
            columns[place] = rows.column(name)
        for field, place in zip(self.others, self._others, strict=True):
            columns[place] = rows.column(field.name)
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

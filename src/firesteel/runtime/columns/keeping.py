"""The operator of a materialised table: the table is its state."""

from __future__ import annotations

import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.keeping import KEPT, KeptRows
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.operator import Operator, OperatorContext
from firesteel.state.arrangements.layout import Kind, Layout


class KeepingOperator(Operator[ColumnBatch]):
    """Applies changes to an arrangement, and emits nothing; its input comes by the key, or by all columns.

    It reads nothing of what it has: an epoch costs what its changes cost, whatever the size of the table.
    """

    is_read_by_others = True

    def __init__(self, sink: KeptRows) -> None:
        schema = to_arrow_schema(sink.row)
        self._schema = pa.schema([(f"c{place}", field.type) for place, field in enumerate(schema)])
        names = self._schema.names
        keys = tuple(names[place] for place in sink.key) if sink.key else tuple(names)
        self._layout = Layout(self._schema, keys, Kind.UPSERT if sink.key else Kind.MULTISET)

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangement of the rows."""
        super().open(context)
        assert context.arrangements is not None
        self._rows = context.arrangements.declare(KEPT, self._layout)

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Apply the changes."""
        rows = pa.RecordBatch.from_arrays(batch.rows.columns, schema=self._schema)
        self._rows.change(rows, batch.signs())

"""The sink operator for columns."""

from __future__ import annotations

from firesteel.functions.columns.endpoints import ColumnSink, ColumnWriter
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.writing import WritingOperator


class ColumnSinkOperator(WritingOperator[ColumnBatch, ColumnWriter]):
    """Passes columns to a writer; see `WritingOperator`."""

    def __init__(self, sink: ColumnSink) -> None:
        super().__init__(sink.create_writer, at_end=sink.writes_at_end)

    def process(self, batch: ColumnBatch, port: int) -> None:
        self._writer.write_columns(batch.rows, batch.kinds)

"""The sink operator for records."""

from __future__ import annotations

from typing import Any

from firesteel.functions.sink import Sink, SinkWriter
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.writing import WritingOperator


class SinkOperator(WritingOperator[RowBatch, SinkWriter[Any]]):
    """Passes records to a writer; see `WritingOperator`."""

    def __init__(self, sink: Sink[Any]) -> None:
        super().__init__(sink.create_writer)

    def process(self, batch: RowBatch, port: int) -> None:
        self._writer.write(batch.values, batch.timestamps)

"""A sink that hands changes by columns to the program that started the job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.connectors.collect import CollectCommitter
from firesteel.functions.columns.endpoints import Changes, ColumnSink, ColumnWriter, Kinds
from firesteel.functions.sink import Committer, WriterContext


class CollectedChanges(NamedTuple):
    """Changes of one subtask and epoch: rows in Arrow's format for streams, and their kinds."""

    writer: str
    number: int
    rows: bytes
    kinds: bytes | None

    def loaded(self) -> list[Changes]:
        """Return the changes, batch by batch."""
        kinds = None if self.kinds is None else np.frombuffer(self.kinds, np.int8)
        changes: list[Changes] = []
        start = 0
        for rows in pa.ipc.open_stream(self.rows):
            end = start + rows.num_rows
            changes.append((rows, None if kinds is None else kinds[start:end]))
            start = end
        return changes


class CollectTableSink(ColumnSink):
    """Hands changes to the receiver that `firesteel.connectors.collect.register_receiver` knows under `token`.

    They arrive as `Changes`, once their epoch has committed, exactly once in the life of the receiver; the order within
    a subtask is kept.
    """

    def __init__(self, token: str) -> None:
        self.token = token

    def create_writer(self, context: WriterContext) -> ColumnWriter:
        return _Writer(f"{context.operator_id}/{context.subtask}/{context.attempt}")

    def create_committer(self) -> Committer:
        return CollectCommitter(self.token)


class _Writer(ColumnWriter):
    def __init__(self, name: str) -> None:
        self._name = name
        self._changes: list[CollectedChanges] = []

    def write_columns(self, rows: pa.RecordBatch, kinds: Kinds | None) -> None:
        """Pack the changes."""
        packed = pa.BufferOutputStream()
        with pa.ipc.new_stream(packed, rows.schema) as stream:
            stream.write_batch(rows)
        number = len(self._changes)
        body = packed.getvalue().to_pybytes()
        self._changes.append(
            CollectedChanges(self._name, number, body, None if kinds is None else kinds.tobytes())
        )

    def prepare_commit(self) -> Sequence[CollectedChanges]:
        return self._changes

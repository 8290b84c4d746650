"""The connector 'blackhole': a sink that drops everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from firesteel.connectors.tables.options import Options
from firesteel.functions.columns.connectors import ChangelogMode, TableConnector, TableRequest, TableSink
from firesteel.functions.columns.endpoints import ColumnSink, ColumnWriter, Kinds
from firesteel.functions.sink import Committer, WriterContext


class BlackholeConnector(TableConnector):
    """Takes changes of every kind; it has no use for the old rows of updates."""

    name = "blackhole"
    options = ()

    def sink(self, table: TableRequest) -> TableSink:
        """Return a sink that drops the rows."""
        Options(table.options, table.who, self.name).finish()
        return TableSink(BlackholeSink(), ChangelogMode.upserts(), adapts=True)


class BlackholeSink(ColumnSink):
    """Drops what it gets.

    >>> BlackholeSink().create_committer().commit([])
    """

    def create_writer(self, context: WriterContext) -> ColumnWriter:
        return _Writer()

    def create_committer(self) -> Committer:
        return _Committer()


class _Writer(ColumnWriter):
    def write_columns(self, rows: pa.RecordBatch, kinds: Kinds | None) -> None:
        """Drop the changes."""

    def prepare_commit(self) -> Sequence[Any]:
        return ()


class _Committer(Committer):
    def commit(self, committables: Sequence[Any]) -> None:
        """Do nothing: there is nothing to make visible."""

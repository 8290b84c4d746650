"""The ways in which epochs reach a database exactly once, by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from firesteel.connectors.sql.prepared import PreparedCommitter, PreparedWriter
from firesteel.connectors.sql.rows_writer import RowsWriter
from firesteel.connectors.sql.settings import SqlSettings
from firesteel.connectors.sql.staged import StagedCommitter, StagedWriter
from firesteel.functions.sink import Committer, WriterContext


class Delivery(NamedTuple):
    """What writes, and what commits."""

    create_writer: Callable[[SqlSettings, WriterContext], RowsWriter]
    create_committer: Callable[[SqlSettings], Committer]


WAYS: Final = {
    "prepared": Delivery(PreparedWriter, PreparedCommitter),
    "staged": Delivery(StagedWriter, StagedCommitter),
}

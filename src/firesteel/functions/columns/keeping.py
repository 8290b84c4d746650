"""A sink whose rows are the state of its job: others read them as of a committed epoch."""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.endpoints import ColumnSink, ColumnWriter
from firesteel.functions.sink import Committer, WriterContext

KEPT: Final = "materialized"
"""The arrangement that has the rows of a `KeptRows`."""


class KeptRows(ColumnSink):
    """Keeps rows of a type in the state of the job; there is nothing to make visible but the epoch itself.

    `key` are the places of the primary key: a row takes the place of the one with its key. If it is empty, the rows are
    a multiset, and a retraction takes one equal row.
    """

    def __init__(self, row: RowType, key: tuple[int, ...]) -> None:
        self.row = row
        self.key = key

    def create_writer(self, context: WriterContext) -> ColumnWriter:
        """Never called: the operator of such a sink has no writers."""
        raise AssertionError("rows that are kept in the state have no writer")

    def create_committer(self) -> Committer:
        return _NothingToCommit()


class _NothingToCommit(Committer):
    def commit(self, committables: object) -> None:
        """Do nothing: the manifest has made the rows visible."""

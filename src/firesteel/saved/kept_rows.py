"""The rows that a job keeps for others to read, as of its last committed epoch: a materialised table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import numpy as np
import pyarrow as pa

from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.checkpoint.readers import hold
from firesteel.common.errors import ConnectorError, StateError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSource
from firesteel.functions.columns.keeping import KEPT
from firesteel.functions.source import Split
from firesteel.saved.arrangements import SavedArrangement
from firesteel.saved.inspection import SavedState
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import WEIGHT, Kind

CURRENT: Final = "current"
"""The file that says which of a table's directories has its rows: that of the job that maintains it now."""


class KeptRowsSource(ColumnSource):
    """Reads a materialised table once: all rows after one epoch, the last one when the job of the query begins.

    `location` is the table's directory, and `hold_ms` how long the epoch is kept at least, so that all splits find it.
    `who` names the table in errors.
    """

    unit: Literal["records", "bytes", "splits"] = "splits"

    def __init__(
        self, location: str, row: RowType, who: str, hold_ms: int, columns: tuple[int, ...] | None = None
    ) -> None:
        self._location = location
        self._row = row
        self._who = who
        self._hold_ms = hold_ms
        self._columns = tuple(range(len(row.fields))) if columns is None else columns
        self._schema = pa.schema([to_arrow_schema(row).field(place) for place in self._columns])

    def projected(self, columns: tuple[int, ...]) -> ColumnSource:
        """Return a source of some columns."""
        chosen = tuple(self._columns[place] for place in columns)
        return KeptRowsSource(self._location, self._row, self._who, self._hold_ms, chosen)

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return a split for each range of key groups; none if nothing has been committed yet."""
        if known:
            return ()
        directory = self._directory()
        state = None if directory is None else self._latest(directory)
        kept = None if state is None else _arrangement(state)
        if state is None or kept is None:
            return ()
        payload = (directory, state.manifest.epoch)
        return [
            Split(f"{directory}/{state.manifest.epoch}/{first}", 0, 1, (*payload, first, last))
            for first, last in kept.ranges()
        ]

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        """Yield the rows of a range of key groups, each as often as it is there."""
        directory, epoch, first, last = split.payload
        try:
            state = SavedState.open(directory, epoch)
            kept = _arrangement(state)
            assert kept is not None
            for batch in kept.batches(state.storage, (first, last)):
                yield self._rows(batch, kept), None
        except (StateError, NotFound) as error:
            raise ConnectorError(
                f"cannot be read as of epoch {epoch}",
                who=self._who,
                got=str(error),
                hint="if the query took longer than 'scan.hold', set that option higher",
            ) from error
        return None

    def _rows(self, batch: pa.RecordBatch, kept: SavedArrangement) -> pa.RecordBatch:
        columns = [batch.column(f"c{place}") for place in self._columns]
        if kept.layout.kind is Kind.MULTISET:
            weights = numbers(batch.column(WEIGHT))
            if (weights != 1).any():
                places = pa.array(np.repeat(np.arange(len(weights)), weights))
                columns = [column.take(places) for column in columns]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def _directory(self) -> str | None:
        try:
            return current(Storage.existing(self._location))
        except NotFound:
            raise ConnectorError(
                "requires the directory of a materialised table", who=self._who, got=self._location
            ) from None

    def _latest(self, directory: str) -> SavedState | None:
        """Return the last committed epoch, which is kept from now on; None if there is none."""
        try:
            state = SavedState.open(directory)
        except StateError:
            return None
        hold(state.storage, state.manifest.epoch, self._hold_ms)
        return state


def current(table: Storage) -> str | None:
    """Return the directory that has the rows of a table; None if there is none yet."""
    try:
        return table.location(table.get(CURRENT).decode())
    except NotFound:
        return None


def _arrangement(state: SavedState) -> SavedArrangement | None:
    found = (one for operator in state.operators() for one in operator.arrangements if one.name == KEPT)
    return next(found, None)

"""Looking up rows of what can only be read whole."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from firesteel.functions.columns.endpoints import ColumnSource
from firesteel.functions.columns.lookups import LookedUp, ScannableLookup


class SourceLookup(ScannableLookup):
    """Reads all rows of a source that has inserts, in all of its splits."""

    def __init__(self, source: ColumnSource) -> None:
        self._source = source

    def look_up(self, keys: pa.RecordBatch) -> LookedUp:
        """Never called: all rows are kept."""
        raise AssertionError("such a table has a cache of all rows")

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows that are there now."""
        for split in self._source.splits(frozenset()):
            end = self._source.available(split, split.start, 0)
            for rows, _ in self._source.read_columns(split, split.start, end):
                yield rows

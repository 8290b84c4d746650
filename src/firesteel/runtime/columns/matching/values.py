"""Rows as the engine of patterns has them: by their places in a batch, and as tuples of plain values in matches."""

from __future__ import annotations

from typing import Any

from firesteel.functions.columns.row_patterns import MatchRecognize
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.query import Times
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.runtime.columns.matching.plain_values import plain

Row = tuple[Any, ...]
"""The values of the columns that stay with a match."""


class Events:
    """The columns of the batch at hand: `columns`, each as a list, of which the first ones stay with matches.

    Contract: `take` a batch; then places are those of its rows, until the next one is taken.
    """

    def __init__(self, match: MatchRecognize, who: str) -> None:
        self._statement = Statement(match.events, who)
        self._kept = match.kept
        self.columns: list[list[Any]] = [[] for _ in match.events.columns]

    def take(self, batch: ColumnBatch, times: Times) -> None:
        """Compute the columns of a batch."""
        rows = self._statement.run(batch, times).rows if self.columns else batch.rows
        self.columns[:] = map(plain, rows.columns) if self.columns else ()
        self._staying = self.columns[: self._kept]

    def kept_at(self, place: int) -> Row:
        """Return what stays of a row."""
        return tuple([column[place] for column in self._staying])

    def close(self) -> None:
        """Release what was prepared, and the columns."""
        self._statement.close()
        self.columns[:] = [[] for _ in self.columns]

"""What the normalisation of changes does, as data."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.program import Program


@dataclass(frozen=True)
class Normalization:
    """From changes by key, some of which may come twice, to changes of a table with one row for each `key`.

    Rows for which the only column of `condition` is not TRUE are not there (None: all are). A row lives for
    `time_to_live` milliseconds after it last came (None: for ever). `old_rows` is whether updates have their old rows,
    too.
    """

    row: RowType
    key: tuple[int, ...]
    condition: Program | None = None
    time_to_live: int | None = None
    old_rows: bool = True

"""What happens to rows before a table's sink: constraints of columns, and primary keys that the query does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firesteel.common.logical_types import RowType

Conflict = Literal["DEDUPLICATE", "ERROR", "NOTHING"]
"""What is done where several rows of a query have one primary key: see `ON CONFLICT` of INSERT.

DEDUPLICATE writes the last one, and if it goes, the one before. ERROR fails, NOTHING keeps the one that is written.
"""

Lengths = Literal["IGNORE", "TRIM_PAD", "ERROR"]
"""What is done with texts and bytes that are longer than their column, or shorter if that has a fixed length."""


@dataclass(frozen=True)
class Constraints:
    """What the columns of a table demand of its rows.

    NULL in one of the columns `not_null` is an error; with `drop` the row is left out instead. `lengths` says what is
    done in columns that have a length.
    """

    row: RowType
    not_null: tuple[int, ...]
    drop: bool = False
    lengths: Lengths = "IGNORE"


@dataclass(frozen=True)
class Materialization:
    """From the changes of a query to those of a table whose primary key `key` is not the query's.

    `upsert_key` tells the query's rows apart; if it is empty, all columns do. With ERROR and NOTHING changes are held
    back until the watermark rises: the old row of an update has gone then, and is in conflict with no other. With
    DEDUPLICATE, the rows of a key live for `time_to_live` milliseconds after its last change (None: for ever).
    """

    row: RowType
    key: tuple[int, ...]
    upsert_key: tuple[int, ...]
    conflict: Conflict = "DEDUPLICATE"
    time_to_live: int | None = None

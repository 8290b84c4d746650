"""Where records of streams become rows of tables and back, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from firesteel.common.logical_types import RowType
from firesteel.common.types import RowKind

WHOLE: Final = -1
"""In place of a field: the record itself is the value."""

TIMESTAMP: Final = -2
"""In place of a field: the record's timestamp is the value."""


@dataclass(frozen=True)
class RowsToColumns:
    """Makes rows of type `row` of records: for each column the place of the record's field, WHOLE or TIMESTAMP.

    A record that is a Row is a change of its kind, others are inserts; kinds that are not among `kinds` are refused.
    `zone` is the session's time zone.
    """

    row: RowType
    fields: tuple[int, ...]
    zone: str = "UTC"
    kinds: frozenset[RowKind] = frozenset([RowKind.INSERT])


@dataclass(frozen=True)
class ColumnsToRows:
    """Makes a Row with the kind of its change of each row of a table.

    `time` is the column that becomes the record's timestamp, one of the row or one behind it (None: records have none).
    `zone` is the session's time zone.
    """

    row: RowType
    time: int | None = None
    zone: str = "UTC"

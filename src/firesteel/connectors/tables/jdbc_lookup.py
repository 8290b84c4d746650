"""Looking up rows of a table of a database: one query for some hundred keys."""

from __future__ import annotations

import datetime as dt
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.python_values import from_column
from firesteel.connectors.sql.settings import SqlSettings
from firesteel.connectors.tables.jdbc_values import batch_of
from firesteel.functions.columns.lookups import LookedUp, ScannableLookup
from firesteel.state.arrangements.matching import Hashed

if TYPE_CHECKING:
    from firesteel.connectors.sql.selecting import Selecting

_ROWS_AT_ONCE: Final = 10_000


@dataclass(frozen=True, slots=True)
class LookupSettings(SqlSettings):
    """Those of a table that is looked up."""

    @property
    def who(self) -> str:
        """The table, for errors."""
        return f"lookup in the table {self.target!r},"

    @property
    def requirement(self) -> str:
        """What is not so when a query fails."""
        return "requires a database that answers"


class JdbcLookup(ScannableLookup):
    """Selects the rows of some keys, which are compared as the database does, and then once more as Flink does."""

    def __init__(self, settings: LookupSettings, row: RowType, keys: Sequence[str]) -> None:
        self._settings = settings
        self._row = row
        self._keys = list(keys)

    def open(self) -> None:
        """Prepare the connection, which is opened when it is needed."""
        selecting = importlib.import_module("firesteel.connectors.sql.selecting")  # SQLAlchemy may be missing
        self._selecting: Selecting = selecting.Selecting(self._settings, self._keys)

    def close(self) -> None:
        """Close the connection."""
        self._selecting.close()

    def look_up(self, keys: pa.RecordBatch) -> LookedUp:
        """Return the rows, and which of the keys each has."""
        types = {field.name: field.type for field in self._row.fields}
        columns = [
            from_column(column, types[name], dt.UTC)
            for column, name in zip(keys.columns, self._keys, strict=True)
        ]
        rows = self._batch(self._selecting.with_keys([*zip(*columns, strict=True)]))
        mine, places = Hashed.of(rows.select(self._keys)).matches(keys)
        return LookedUp(mine, rows.take(pa.array(places)))

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows."""
        found = self._selecting.all()
        for start in range(0, len(found), _ROWS_AT_ONCE):
            yield self._batch(found[start : start + _ROWS_AT_ONCE])

    def _batch(self, rows: Sequence[Sequence[Any]]) -> pa.RecordBatch:
        return batch_of([*zip(*rows, strict=True)] if rows else [()] * len(self._row.fields), self._row)

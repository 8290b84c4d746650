"""Selecting rows of a table by some columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa

from firesteel.connectors.sql.database import Database
from firesteel.connectors.sql.rows import RowReader, Values
from firesteel.connectors.sql.settings import SqlSettings
from firesteel.connectors.sql.statements import read_columns, target_table

_KEYS_AT_ONCE: Final = 400


class Selecting:
    """Selects the columns of the settings, of all rows or of those that have some values in `keys`."""

    def __init__(self, settings: SqlSettings, keys: Sequence[str]) -> None:
        self._settings = settings
        self._database = Database(settings, autocommit=True)
        self._table = target_table(settings)
        self._keys = [self._table.c[name] for name in keys]
        self._reader: RowReader | None = None
        self._columns: list[sa.ColumnElement[Any]] = []

    def with_keys(self, keys: Sequence[Values]) -> list[Values]:
        """Return the rows of some keys, by one statement for some hundred of them."""
        if self._reader is None:
            self._reader = RowReader(self._settings, self._database.dialect.name)
        values = [self._reader.converted(key) for key in keys]
        found: list[Values] = []
        for start in range(0, len(values), _KEYS_AT_ONCE):
            some = values[start : start + _KEYS_AT_ONCE]
            if len(self._keys) == 1:
                found.extend(self._selected(self._keys[0].in_([value for (value,) in some])))
            else:
                found.extend(self._selected(sa.tuple_(*self._keys).in_(some)))
        return found

    def all(self) -> list[Values]:
        """Return all rows."""
        return self._selected(None)

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def _selected(self, which: sa.ColumnElement[bool] | None) -> list[Any]:
        def select(connection: sa.Connection, _tries: int) -> list[Any]:
            self._columns = self._columns or read_columns(connection, self._settings, self._table)
            query = sa.select(*self._columns)
            return [*connection.execute(query if which is None else query.where(which))]

        return self._database.run(select)

"""The SQL sink that programs build."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from firesteel.common.errors import ConfigurationError
from firesteel.common.typeinfo import RowTypeInfo
from firesteel.connectors.sql.address import Address, checked_address
from firesteel.connectors.sql.settings import SqlSettings, Way
from firesteel.functions.sink import Committer, Sink, SinkWriter, WriterContext

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation
    from firesteel.connectors.sql.rows_writer import RowsWriter
    from firesteel.connectors.sql.ways import Delivery

_WAYS: Final = ("staged", "prepared")


class SqlSink(Sink[Any]):
    """Writes records to a table of a database, exactly once.

    `url` is a SQLAlchemy URL. It must not hold a password but may refer to environment variables, as
    `${PGPASSWORD}`, which are resolved only when a connection is opened. It can also be a function that returns the
    URL. Records are Rows, dicts or tuples; `columns` names the target's columns (default: the fields of the
    stream's row type). With `key` columns, on which the table must have a primary key or a unique constraint, a
    row inserts or updates, and one of kind DELETE or UPDATE_BEFORE deletes. Without a key every row is inserted.

    `way` says how an epoch becomes visible at once (see `firesteel.connectors.sql`). Rows travel `batch_rows` at
    a time. Failures that may pass, such as a restarting server, are retried for `retry_ms` milliseconds, at most
    `retries` times if that is given. Raises
    ConfigurationError for invalid settings, and ConnectorError, which names the table, while the job runs.

    >>> SqlSink("sqlite:////tmp/shop.db", "totals", columns=["customer", "total"], key=["customer"])
    SqlSink('totals')
    """

    def __init__(
        self,
        url: Address,
        table: str,
        columns: Sequence[str] | None = None,
        *,
        key: Sequence[str] = (),
        schema: str | None = None,
        way: Way = "staged",
        batch_rows: int = 10_000,
        retry_ms: int = 30_000,
        retries: int | None = None,
    ) -> None:
        for name, names in (("columns", columns), ("key", key)):
            if isinstance(names, str):
                raise ConfigurationError(
                    f"requires a list of names as {name}", who="SqlSink", got=repr(names)
                )
        if way not in _WAYS:
            raise ConfigurationError(f"requires a way out of {_WAYS}", who="SqlSink", got=repr(way))
        if batch_rows < 1 or min(retry_ms, retries or 0) < 0:
            raise ConfigurationError(
                "requires batch_rows of at least 1, and retry_ms and retries of at least 0",
                who="SqlSink",
                got=f"{batch_rows}, {retry_ms} and {retries}",
            )
        self._settings = SqlSettings(
            checked_address(url),
            table,
            schema,
            tuple(columns or ()),
            tuple(key),
            way,
            batch_rows,
            retry_ms,
            retries,
        )
        if columns is not None:
            self._check_columns()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings.target!r})"

    def for_type(self, type_info: TypeInformation | None) -> Sink[Any]:
        """Return this sink with the fields of the row type as its columns, unless it has columns."""
        if self._settings.columns:
            return self
        if not isinstance(type_info, RowTypeInfo):
            raise ConfigurationError(
                "requires its columns",
                who=self._settings.who,
                got=f"none, and a stream of type {type_info}",
                hint='pass columns=["id", "name"], or declare the stream\'s type with Types.ROW_NAMED',
            )
        sink = SqlSink.__new__(type(self))
        sink.__dict__.update(self.__dict__)
        sink._settings = replace(self._settings, columns=tuple(type_info.get_field_names()))
        sink._check_columns()
        return sink

    def truncate(self) -> None:
        """Delete all rows of the table, in one transaction (driver). Raises ConnectorError."""
        emptying = importlib.import_module("firesteel.connectors.sql.emptying")  # SQLAlchemy may be missing
        emptying.delete_all(self._settings)

    def create_writer(self, context: WriterContext) -> SinkWriter[Any]:
        return self.create_rows_writer(context)

    def create_rows_writer(self, context: WriterContext) -> RowsWriter:
        """Open the writer of one subtask for one epoch, for records or rows (worker)."""
        return self._way().create_writer(self._settings, context)

    def create_committer(self) -> Committer:
        return self._way().create_committer(self._settings)

    def _way(self) -> Delivery:
        from firesteel.connectors.sql.ways import WAYS  # SQLAlchemy is there for those who use databases only

        return WAYS[self._settings.way]

    def _check_columns(self) -> None:
        columns, key = self._settings.columns, self._settings.key
        taken = [name for name in columns if name.startswith("firesteel_")]
        foreign = [name for name in key if name not in columns]
        if not columns or len(set(columns)) != len(columns) or taken or foreign:
            raise ConfigurationError(
                "requires distinct columns that include the key, and none that starts with 'firesteel_'",
                who=self._settings.who,
                got=f"columns {list(columns)} and key {list(key)}",
            )

"""Databases as a sink, with PyFlink's names (PyFlink: pyflink.datastream.connectors.jdbc).

There is no JDBC here: the URL is translated for SQLAlchemy, and rows are written by
`firesteel.connectors.sql.SqlSink`, which is exactly once (PyFlink's sink is at least once).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.typeinfo import RowTypeInfo, TypeInformation
from firesteel.connectors.sql import SqlSink
from firesteel.connectors.sql.jdbc_url import url_of_jdbc
from firesteel.datastream.unsupported import gap
from firesteel.functions.sink import Sink, SinkWriter, WriterContext

__all__ = ["JdbcSink", "JdbcConnectionOptions", "JdbcExecutionOptions"]

_RETRY_MS: Final = 30_000

_NAME: Final = r'(?:"(?:[^"]|"")+"|`[^`]+`|[A-Za-z_]\w*)'
_NAMES: Final = rf"{_NAME}(?:\s*,\s*{_NAME})*"
_INSERT: Final = re.compile(
    rf"""\s*INSERT\s+INTO\s+(?:(?P<schema>{_NAME})\s*\.\s*)?(?P<table>{_NAME})
    \s*\(\s*(?P<columns>{_NAMES})\s*\)
    \s*VALUES\s*\(\s*(?P<marks>\?(?:\s*,\s*\?)*)\s*\)
    (?:\s*ON\s+CONFLICT\s*\(\s*(?P<key>{_NAMES})\s*\)\s*DO\s+UPDATE\s+SET\s+(?P<updates>[^;]+?))?
    \s*;?\s*""",
    re.IGNORECASE | re.VERBOSE,
)
_UPDATE: Final = re.compile(rf"\s*({_NAME})\s*=\s*EXCLUDED\s*\.\s*({_NAME})\s*", re.IGNORECASE)


class JdbcConnectionOptions:
    """The location of a database and its user; create it with `JdbcConnectionOptionsBuilder`.

    >>> builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
    >>> options = builder.with_url("jdbc:postgresql://db/shop").with_user_name("me").build()
    >>> options.get_db_url()
    'jdbc:postgresql://db/shop'
    """

    def __init__(
        self, url: str, driver_name: str | None, user_name: str | None, password: str | None
    ) -> None:
        self._url = url
        self._driver_name = driver_name
        self._user_name = user_name
        self._password = password

    def get_db_url(self) -> str:
        """Return the JDBC URL."""
        return self._url

    def get_driver_name(self) -> str | None:
        """Return the given class of the Java driver; the real driver is the Python one of the URL's database."""
        return self._driver_name

    def get_user_name(self) -> str | None:
        """Return the user."""
        return self._user_name

    def get_password(self) -> str | None:
        """Return the given password: a reference to an environment variable."""
        return self._password

    class JdbcConnectionOptionsBuilder:
        """Collects the options; every method except `build` returns the builder."""

        def __init__(self) -> None:
            self._url: str | None = None
            self._driver_name: str | None = None
            self._user_name: str | None = None
            self._password: str | None = None

        def with_url(self, url: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the URL, such as `jdbc:postgresql://host:5432/database`."""
            self._url = url
            return self

        def with_driver_name(self, driver_name: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Accept the name of the Java driver, which is not needed."""
            self._driver_name = driver_name
            return self

        def with_user_name(self, user_name: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the user."""
            self._user_name = user_name
            return self

        def with_password(self, password: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the password as a reference to an environment variable, `${NAME}`.

            `JdbcSink.sink` refuses a password in plain text, because it would end up in the state directory.
            """
            self._password = password
            return self

        def build(self) -> JdbcConnectionOptions:
            """Return the options. Raises ProgramError without a URL."""
            if not self._url:
                raise ProgramError("requires a URL", who="JdbcConnectionOptionsBuilder", got="none")
            return JdbcConnectionOptions(self._url, self._driver_name, self._user_name, self._password)


class JdbcExecutionOptions:
    """How rows are sent: how many at a time, and how often a failed statement is retried."""

    def __init__(self, batch_interval_ms: int, batch_size: int, max_retries: int) -> None:
        self._batch_interval_ms = batch_interval_ms
        self._batch_size = batch_size
        self._max_retries = max_retries

    def get_batch_interval_ms(self) -> int:
        """Return the given interval (milliseconds); no effect, because rows become visible with their epoch."""
        return self._batch_interval_ms

    def get_batch_size(self) -> int:
        """Return the number of rows that are sent together."""
        return self._batch_size

    def get_max_retries(self) -> int:
        """Return the given number of retries; 0 turns the sink's retries off, other values leave its default."""
        return self._max_retries

    @staticmethod
    def defaults() -> JdbcExecutionOptions:
        """Return Flink's defaults: 5000 rows, no interval, 3 retries.

        >>> JdbcExecutionOptions.defaults().get_batch_size()
        5000
        """
        return JdbcExecutionOptions.builder().build()

    @staticmethod
    def builder() -> JdbcExecutionOptions.Builder:
        """Start with the defaults."""
        return JdbcExecutionOptions.Builder()

    class Builder:
        """Collects the options; every method except `build` returns the builder."""

        def __init__(self) -> None:
            self._interval_ms = 0
            self._size = 5000
            self._max_retries = 3

        def with_batch_size(self, size: int) -> JdbcExecutionOptions.Builder:
            """Set how many rows are sent together."""
            self._size = size
            return self

        def with_batch_interval_ms(self, interval_ms: int) -> JdbcExecutionOptions.Builder:
            """Set the interval (milliseconds); no effect, because rows become visible with their epoch."""
            self._interval_ms = interval_ms
            return self

        def with_max_retries(self, max_retries: int) -> JdbcExecutionOptions.Builder:
            """Set how often to retry; 0 is never."""
            self._max_retries = max_retries
            return self

        def build(self) -> JdbcExecutionOptions:
            """Return the options. Raises ProgramError for negative numbers."""
            if self._interval_ms < 0 or self._size < 1 or self._max_retries < 0:
                raise ProgramError(
                    "requires a batch size of at least 1, and no negative numbers",
                    who="JdbcExecutionOptions",
                    got=f"size {self._size}, interval {self._interval_ms}, retries {self._max_retries}",
                )
            return JdbcExecutionOptions(self._interval_ms, self._size, self._max_retries)


class JdbcSink(SqlSink):
    """Writes rows to a table, the fields by their position; create it with `JdbcSink.sink`."""

    @staticmethod
    def sink(
        sql: str,
        type_info: RowTypeInfo,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ) -> JdbcSink:
        """Return a sink for `INSERT INTO table (columns) VALUES (?, ...)`, exactly once.

        `... ON CONFLICT (key) DO UPDATE SET column = EXCLUDED.column, ...` for all other columns inserts or updates,
        with every database. Raises UnsupportedError for other statements, ConfigurationError for an unknown database,
        or for a password that is not `${NAME}`.
        """
        url = sqlalchemy_url(jdbc_connection_options)
        insert = _parsed(sql, len(type_info.get_field_types()), folds=url.startswith("postgresql"))
        execution = jdbc_execution_options or JdbcExecutionOptions.defaults()
        return JdbcSink(
            url,
            insert.table,
            insert.columns,
            key=insert.key,
            schema=insert.schema,
            batch_rows=execution.get_batch_size(),
            retry_ms=_RETRY_MS if execution.get_max_retries() else 0,
        )

    def for_type(self, type_info: TypeInformation | None) -> Sink[Any]:
        """Return the sink itself: its statement names the columns."""
        return self

    def create_writer(self, context: WriterContext) -> SinkWriter[Any]:
        return _ByPosition(super().create_writer(context))

    @gap("pyflink.datastream.connectors.jdbc.JdbcSink.get_java_function")
    def get_java_function(self) -> None:
        """Not supported: raises UnsupportedError."""


class _ByPosition(SinkWriter[Any]):
    """Passes rows on without the names of their fields, because parameters of a statement have no names."""

    def __init__(self, writer: SinkWriter[Any]) -> None:
        self._writer = writer

    def write(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        self._writer.write([tuple(value) for value in values], timestamps)

    def prepare_commit(self) -> Sequence[Any]:
        return self._writer.prepare_commit()

    def abort(self) -> None:
        """Discard the epoch's rows."""
        self._writer.abort()


def sqlalchemy_url(options: JdbcConnectionOptions) -> str:
    """Return the SQLAlchemy URL of the options' JDBC URL.

    >>> sqlalchemy_url(JdbcConnectionOptions("jdbc:postgresql://db:5432/shop?user=me", None, None, "${PW}"))
    'postgresql://me:${PW}@db:5432/shop'
    >>> sqlalchemy_url(JdbcConnectionOptions("jdbc:sqlite:/data/shop.db", None, None, None))
    'sqlite:////data/shop.db'
    """
    return url_of_jdbc(
        options.get_db_url(),
        options.get_user_name(),
        options.get_password(),
        "JdbcSink",
        hint="firesteel.connectors.sql.SqlSink takes any SQLAlchemy URL",
    )


@dataclass(frozen=True, slots=True)
class _Insert:
    schema: str | None
    table: str
    columns: list[str]
    key: list[str]


def _parsed(sql: str, fields: int, folds: bool) -> _Insert:
    """Parse a statement; `folds` if names without quotation marks mean lower-case names."""
    match = _INSERT.fullmatch(sql)
    if match is None:
        raise _unsupported(sql)
    columns = _names(match["columns"], folds)
    marks = match["marks"].count("?")
    if not len(columns) == marks == fields:
        raise ProgramError(
            "requires as many columns as parameters and as fields of the row type",
            who="JdbcSink.sink",
            got=f"{len(columns)} columns, {marks} parameters and {fields} fields",
        )
    key = _names(match["key"] or "", folds)
    if key:
        updates = [_UPDATE.fullmatch(update) for update in match["updates"].split(",")]
        wanted = sorted([name, name] for name in columns if name not in key)
        if sorted(_names(f"{update[1]},{update[2]}", folds) for update in updates if update) != wanted:
            raise _unsupported(sql)
    schema = _names(match["schema"] or "", folds)
    return _Insert(schema[0] if schema else None, _names(match["table"], folds)[0], columns, key)


def _names(listed: str, folds: bool) -> list[str]:
    """Return names without their quotation marks."""
    return [
        name[1:-1].replace('""', '"') if name[0] in '"`' else name.lower() if folds else name
        for name in re.findall(_NAME, listed)
    ]


def _unsupported(sql: str) -> UnsupportedError:
    return UnsupportedError(
        "requires INSERT INTO table (columns) VALUES (?, ...), with or without "
        "ON CONFLICT (key) DO UPDATE SET column = EXCLUDED.column for all other columns",
        who="JdbcSink.sink",
        got=repr(sql),
        hint="firesteel.connectors.sql.SqlSink inserts or updates by key in each of its databases",
    )

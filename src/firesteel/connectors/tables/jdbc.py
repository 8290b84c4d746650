"""The connector 'jdbc': a table of a database, read, looked up, or written exactly once, with upserts by its key."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator, Sequence
from math import inf
from typing import Any, Final

import pyarrow as pa

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import LogicalTypeFamily, LogicalTypeRoot, RowType
from firesteel.common.logical_types.python_values import from_column
from firesteel.common.types import RowKind
from firesteel.connectors.sql import SqlSink
from firesteel.connectors.sql.address import checked_address
from firesteel.connectors.sql.jdbc_url import url_of_jdbc
from firesteel.connectors.sql.rows_writer import RowsWriter
from firesteel.connectors.tables import lookup_options
from firesteel.connectors.tables.jdbc_lookup import JdbcLookup, LookupSettings
from firesteel.connectors.tables.jdbc_source import JdbcTableSource, Partitions, ScanSettings
from firesteel.connectors.tables.options import (
    PARALLELISM,
    Listed,
    Options,
    choice,
    duration,
    number,
    text,
    truth,
)
from firesteel.functions.columns.connectors import (
    ChangelogMode,
    TableConnector,
    TableRequest,
    TableSink,
    TableSource,
)
from firesteel.functions.columns.endpoints import ColumnSink, ColumnWriter, Kinds
from firesteel.functions.columns.lookups import LookupCalls, LookupTable
from firesteel.functions.sink import Committer, WriterContext

_R = LogicalTypeRoot
_UNSTORED: Final = (
    *(_R.ARRAY, _R.MAP, _R.MULTISET, _R.ROW, _R.STRUCTURED_TYPE, _R.RAW, _R.NULL),
    *(_R.INTERVAL_YEAR_MONTH, _R.INTERVAL_DAY_TIME),
)
_ZONED: Final = _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE
_WITHOUT_ZONES: Final = ("mysql", "mariadb")
"""Databases that give a point in time as the time of a day in the zone of the session."""

_BATCH_ROWS: Final = 10_000
_REMOVED: Final = (RowKind.DELETE.value, RowKind.UPDATE_BEFORE.value)
_PENDING: Final = 200_000
"""How many keys may wait before they are sent."""

_DRIVERS: Final = {
    "org.postgresql.Driver": ("postgresql",),
    "com.mysql.jdbc.Driver": ("mysql", "mariadb"),
    "com.mysql.cj.jdbc.Driver": ("mysql", "mariadb"),
    "org.mariadb.jdbc.Driver": ("mariadb", "mysql"),
    "org.sqlite.JDBC": ("sqlite",),
}
"""By the class of Java that a table names as its driver, the databases that it is for."""

_URL: Final = text(
    "url",
    "The database: a JDBC URL of PostgreSQL, MySQL, MariaDB or SQLite.",
    "jdbc:postgresql://host/shop",
).needed()
_TABLE: Final = text("table-name", "The table, or `schema.table`.").needed()
_USER: Final = text("username", "The user, if the URL has none.")
_PASSWORD: Final = text(
    "password", "A reference to an environment variable of the driver and the workers.", "${VARIABLE}"
)
_DRIVER: Final = choice(
    "driver",
    *_DRIVERS,
    about="Must be a class for the database of the URL; which module of Python is used follows from that.",
)
_RETRY: Final = duration(
    "connection.max-retry-timeout", "How long a database that is away is waited for."
).by_default("60 s")
_COLUMN: Final = text("scan.partition.column", "The column of numbers by which the table is read in parts.")
_PARTS: Final = number("scan.partition.num", 1, "How many parts there are.")
_LOW: Final = number(
    "scan.partition.lower-bound", None, "The least value of the first part; smaller ones are not read."
)
_HIGH: Final = number(
    "scan.partition.upper-bound", None, "The largest value of the last part; larger ones are not read."
)
_PARTITIONS: Final = (_COLUMN, _PARTS, _LOW, _HIGH)
_FETCH: Final = number(
    "scan.fetch-size", 0, "How many rows are fetched at once; 0: as many as are useful."
).by_default("0")
_AUTO_COMMIT: Final = truth(
    "scan.auto-commit", "Changes nothing: rows are fetched as they are needed, whatever the driver."
)
_POLICY: Final = choice(
    "filter.handling.policy", "always", "never", about="Whether the database is given conditions of queries."
).by_default("always")
_ROWS: Final = number(
    "sink.buffer-flush.max-rows", 0, "How many rows travel to the database at once; 0: the default."
).by_default("10000")
_INTERVAL: Final = duration(
    "sink.buffer-flush.interval",
    "How long rows wait before they travel, at most. They become visible with their epoch, whatever it is.",
)
_RETRIES: Final = number(
    "sink.max-retries",
    0,
    "How often writing is repeated. As often as `connection.max-retry-timeout` allows without it.",
)
_WAY: Final = choice(
    "sink.way",
    "staged",
    "prepared",
    about="How exactly once is reached: [the two ways](databases.md#two-ways). Flink does not have it.",
).by_default("staged")

_OF_ALL: Final = (_URL, _TABLE, _USER, _PASSWORD, _DRIVER, _RETRY)
_OF_LOOKUPS: Final[Listed] = (*lookup_options.OPTIONS, *lookup_options.OLDER)
_OF_SOURCES: Final[Listed] = (*_PARTITIONS, _FETCH, _AUTO_COMMIT, _POLICY, *_OF_LOOKUPS)
"""Options of the table where it is read, which mean nothing where it is written."""

_OF_SINKS: Final[Listed] = (_ROWS, _INTERVAL, _RETRIES, PARALLELISM, _WAY)


class JdbcConnector(TableConnector):
    """Reads and writes a table of PostgreSQL, MySQL, MariaDB or SQLite; with a primary key it is updated by it.

    Flink's options have their meaning: `url`, `table-name`, `username`, `password`, `driver`,
    `sink.buffer-flush.max-rows` (rows that travel at once), `sink.buffer-flush.interval` (how long rows wait before
    they travel, at most; what has come becomes visible with its epoch), `sink.max-retries`,
    `connection.max-retry-timeout` and `sink.parallelism`. Those of a source are let pass. Passwords refer to
    environment variables, as `${PGPASSWORD}`. `sink.way` is one of `firesteel.connectors.sql`.

    Rows are looked up by any columns, with `lookup.cache` and its options, and `lookup.max-retries` (3).

    A scan is bounded. `scan.partition.column` (of numbers), `scan.partition.num`, `scan.partition.lower-bound` and
    `scan.partition.upper-bound`, all or none of them, say how it is read in parallel; rows outside the bounds are not
    read. `scan.fetch-size` rows are fetched at once (0: as many as are useful). `scan.auto-commit` changes nothing:
    each partition is read by one statement, whose rows are fetched as they are needed. With `filter.handling.policy`
    NEVER no conditions are given to the database.
    """

    name = "jdbc"
    options = (*_OF_ALL, *_OF_SOURCES, *_OF_SINKS)

    def source(self, table: TableRequest) -> TableSource:
        """Return the source of the rows that there are: inserts."""
        options = Options(table.options, table.who, self.name)
        url, schema, name = _place(options, table)
        retry = options.get(_RETRY)
        partitions = _partitions(options, table)
        fetch = options.get(_FETCH) or _BATCH_ROWS
        options.get(_AUTO_COMMIT)
        policy = options.get(_POLICY)
        options.know((*_OF_SINKS, *_OF_SOURCES))
        options.finish()
        _require_stored(table, url, "read from")
        settings = ScanSettings(
            checked_address(url, table.who), name, schema, (), (), "staged", _BATCH_ROWS, retry, retries=None
        )
        filters = policy == "always"
        return TableSource(JdbcTableSource(settings, table.row, table.row, partitions, fetch, filters))

    def lookup(self, table: TableRequest, keys: tuple[str, ...], calls: LookupCalls) -> LookupTable:
        """Return the lookup by these columns."""
        options = Options(table.options, table.who, self.name)
        older = lookup_options.older_cache(options)
        cache = lookup_options.lookup_cache(options, table.zone) or older
        retries = options.get(lookup_options.MAX_RETRIES)
        url, schema, name = _place(options, table)
        retry = options.get(_RETRY)
        options.know((*_OF_SINKS, *_OF_SOURCES))
        options.finish()
        _require_stored(table, url, "read from")
        names = tuple(field.name for field in table.row.fields)
        settings = LookupSettings(
            checked_address(url, table.who), name, schema, names, (), "staged", _BATCH_ROWS, retry, retries
        )
        return LookupTable(JdbcLookup(settings, table.row, keys), cache)

    def sink(self, table: TableRequest) -> TableSink:
        """Return the sink: for inserts, with a primary key for upserts."""
        options = Options(table.options, table.who, self.name)
        url, schema, name = _place(options, table)
        rows = options.get(_ROWS) or _BATCH_ROWS
        retry = options.get(_RETRY)
        way = options.get(_WAY)
        retries = options.get(_RETRIES)
        interval = options.get(_INTERVAL)
        parallelism = options.get(PARALLELISM)
        options.know(_OF_SOURCES)
        options.finish()
        _require_stored(table, url, "written to")
        key = table.primary_key or ()
        sink = SqlSink(
            checked_address(url, table.who),
            name,
            [field.name for field in table.row.fields],
            key=key,
            schema=schema,
            way="staged" if way == "staged" else "prepared",
            batch_rows=rows,
            retry_ms=retry,
            retries=retries,
        )
        mode = ChangelogMode.upserts() if key else ChangelogMode.inserts()
        return TableSink(JdbcTableSink(sink, table.row, key, interval), mode, parallelism=parallelism)

    def truncate(self, table: TableRequest) -> None:
        """Delete all rows of the table, in one transaction."""
        made = self.sink(table).sink
        assert isinstance(made, JdbcTableSink)
        made.truncate()


def _place(options: Options, table: TableRequest) -> tuple[str, str | None, str]:
    """Return the URL of the database, and the schema and the name of the table there."""
    user, password = options.get(_USER), options.get(_PASSWORD)
    url = url_of_jdbc(options.get(_URL), user, password, table.who)
    schema, _, name = options.get(_TABLE).rpartition(".")
    _check_driver(options, url)
    return url, schema or None, name


def _partitions(options: Options, table: TableRequest) -> Partitions | None:
    """Return how the table is partitioned; raise ConfigurationError unless all options say so, or none."""
    if not any(option.key in options for option in _PARTITIONS):
        return None
    found = Partitions(options.required(_COLUMN), *map(options.required, (_PARTS, _LOW, _HIGH)))
    if found.low > found.high:
        raise options.wrong(_LOW.key, f"a number of at most {found.high}")
    for field in table.row.fields:
        if field.name == found.column and not field.type.has_family(LogicalTypeFamily.NUMERIC):
            raise options.wrong(_COLUMN.key, f"a column of numbers, and not of {field.type},")
    return found


def _require_stored(table: TableRequest, url: str, way: str) -> None:
    """Refuse columns of types that the database does not have."""
    unstored = (*_UNSTORED, *((_ZONED,) if _database(url) in _WITHOUT_ZONES else ()))
    for field in table.row.fields:
        if field.type.root in unstored:
            raise UnsupportedError(
                f"cannot be {way} a database",
                who=f"{table.who}, column {field.name!r} of type {field.type}",
                hint="declare the column as TIMESTAMP, in the time zone of the database's session"
                if field.type.root is _ZONED
                else None,
            )


def _database(url: str) -> str:
    return url.partition(":")[0]


def _check_driver(options: Options, url: str) -> None:
    """Require that the driver is for the database of the URL; which module of Python is used follows from the URL."""
    driver = options.get(_DRIVER)
    if driver is not None and _database(url) not in _DRIVERS[driver]:
        raise options.wrong(_DRIVER.key, "the driver of the database of 'url'")


class JdbcTableSink(ColumnSink):
    """Writes rows of a type with a database sink; of the changes of a key that wait only the last one is sent.

    They wait for `interval` milliseconds at most, if that is given and not 0, and else for the end of the epoch.
    """

    def __init__(self, sink: SqlSink, row: RowType, key: Sequence[str], interval: int | None = None) -> None:
        self._sink = sink
        self._row = row
        self._interval = interval or None
        names = [field.name for field in row.fields]
        self._key = tuple(names.index(name) for name in key)

    def create_writer(self, context: WriterContext) -> ColumnWriter:
        return _Writer(self._sink.create_rows_writer(context), self._row, self._key, self._interval)

    def create_committer(self) -> Committer:
        return self._sink.create_committer()

    def truncate(self) -> None:
        """Delete all rows of the table, in one transaction."""
        self._sink.truncate()


class _Writer(ColumnWriter):
    def __init__(
        self, rows: RowsWriter, row: RowType, key: tuple[int, ...], interval: int | None = None
    ) -> None:
        self._rows = rows
        self._interval = inf if interval is None else interval / 1000
        self._sent = time.monotonic()
        self._types = [field.type for field in row.fields]
        self._key = key
        self._last: dict[tuple[Any, ...], tuple[bool, tuple[Any, ...]]] = {}

    def write_columns(self, rows: pa.RecordBatch, kinds: Kinds | None) -> None:
        """Write the rows, or keep them if a later change of their key may come."""
        changes = self._changes(rows, kinds)
        if not self._key:
            self._rows.put(changes)
            return
        last, places = self._last, self._key
        for change in changes:
            values = change[1]
            last[tuple([values[place] for place in places])] = change
        if len(last) > _PENDING or time.monotonic() - self._sent >= self._interval:
            self._send()

    def _changes(self, rows: pa.RecordBatch, kinds: Kinds | None) -> Iterator[tuple[bool, tuple[Any, ...]]]:
        columns = [
            from_column(column, kind, dt.UTC) for column, kind in zip(rows.columns, self._types, strict=True)
        ]
        values = map(self._rows.reader.converted, zip(*columns, strict=True))
        removed = [False] * rows.num_rows if kinds is None else [kind in _REMOVED for kind in kinds.tolist()]
        return zip(removed, values, strict=True)

    def _send(self) -> None:
        changes, self._last = self._last, {}
        self._rows.put(changes.values())
        self._sent = time.monotonic()

    def prepare_commit(self) -> Sequence[Any]:
        self._send()
        return self._rows.prepare_commit()

    def snapshot_state(self) -> Any:
        return self._rows.snapshot_state()

    def next_wakeup(self) -> int | None:
        return self._rows.next_wakeup()

    def abort(self) -> None:
        self._rows.abort()

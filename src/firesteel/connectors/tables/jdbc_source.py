"""The rows of a table of a database, in partitions that are read whole.

Contract: a split is a partition, of one position. So an epoch reads whole partitions, each with one statement, all of
whose rows are as they are when it begins. What an epoch has published never changes, and its partitions are not read
again; those of a failed epoch, of which nothing is to be seen, are read as they are then. Partitions are read at
different times, as in Flink: of a row that moves from one to another meanwhile none may be read, or both.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa

from firesteel.common.logical_types import LogicalTypeFamily, RowType
from firesteel.connectors.sql.selection import Bounds, Selection
from firesteel.connectors.sql.settings import SqlSettings
from firesteel.connectors.tables.jdbc_values import batch_of
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSource
from firesteel.functions.columns.pushdowns import Condition, Extent, may_hold
from firesteel.functions.columns.statistics import TableStatistics
from firesteel.functions.source import Split

if TYPE_CHECKING:
    from firesteel.connectors.sql.scanning import Columns

WHOLE_TABLE: Final = "all"
"""The id of the only split of a table without partitions."""


@dataclass(frozen=True, slots=True)
class ScanSettings(SqlSettings):
    """Those of a table that is read."""

    @property
    def who(self) -> str:
        """The table, for errors."""
        return f"scan of the table {self.target!r},"

    @property
    def requirement(self) -> str:
        """What is not so when a statement fails."""
        return "requires a database that answers"


class Partitions(NamedTuple):
    """Partitions by the values of a column from `low` to `high`, both included (Flink: scan.partition.*)."""

    column: str
    number: int
    low: int
    high: int

    def splits(self) -> Iterator[Split]:
        """Yield the partitions, of which none differs by more than 1 in length from another.

        Source: Flink's JdbcNumericBetweenParametersProvider.

        >>> [split.id for split in Partitions("n", 3, 1, 7).splits()]
        ['n 1 4', 'n 4 6', 'n 6 7']
        """
        values = self.high - self.low + 1
        number = min(self.number, values)
        length, longer = divmod(values, number)
        start = self.low
        for place in range(number):
            last = place == number - 1
            end = self.high if last else start + length + (place < longer)
            yield Split(f"{self.column} {start} {end}", 0, 1, Bounds(self.column, start, end, last))
            start = end


@dataclass(frozen=True)
class JdbcTableSource(ColumnSource):
    """Reads columns of a table of rows: in partitions, without rows that a condition rules out, up to a limit.

    `columns` are those that are read, `fetch` is how many rows are fetched at once. With `filters`, conditions are
    given to the database.
    """

    settings: ScanSettings
    row: RowType
    columns: RowType
    parts: Partitions | None
    fetch: int
    filters: bool = True
    condition: Condition | None = None
    limit: int | None = None

    unit = "splits"

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return the partitions."""
        every = [Split(WHOLE_TABLE, 0, 1)] if self.parts is None else self.parts.splits()
        return [split for split in every if split.id not in known]

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        if start < end and self._may_have_rows(split):
            batches = (batch_of(columns, self.columns) for columns in self._scanned(split))
            for rows in spooled(batches) if self._is_file else batches:
                yield rows, None
        return None

    def projected(self, columns: tuple[int, ...]) -> ColumnSource | None:
        """Return a source of these columns."""
        fields = tuple(self.columns.fields[place] for place in columns)
        return replace(self, columns=RowType(fields, nullable=False))

    def filtered(self, condition: Condition) -> ColumnSource | None:
        """Return a source of the rows that the database does not rule out."""
        return replace(self, condition=condition) if self.filters and self.condition is None else None

    def limited(self, rows: int) -> ColumnSource | None:
        """Return a source of so many rows of each partition."""
        return replace(self, limit=rows)

    def statistics(self) -> TableStatistics | None:
        """Return what the database knows of the table, of which no more rows than the limit are read."""
        counting = importlib.import_module("firesteel.connectors.sql.counting")  # SQLAlchemy may be missing
        known: TableStatistics | None = counting.statistics_of(self._read_settings)
        if known is None or self.limit is None:
            return known
        return replace(known, rows=min(known.rows, self.limit))

    def _scanned(self, split: Split) -> Iterator[Columns]:
        scanning = importlib.import_module("firesteel.connectors.sql.scanning")  # SQLAlchemy may be missing
        types = {field.name: field.type for field in self.row.fields}
        selection = Selection(split.payload, self.condition, types, self.limit, self.fetch)
        found: Iterator[Columns] = scanning.scanned(self._read_settings, selection)
        return found

    @property
    def _read_settings(self) -> SqlSettings:
        return replace(self.settings, columns=tuple(field.name for field in self.columns.fields))

    def _may_have_rows(self, split: Split) -> bool:
        """Return whether the condition can be TRUE for values within the partition."""
        if self.condition is None or split.payload is None:
            return True
        bounds: Bounds = split.payload
        whole = any(
            field.name == bounds.column and field.type.has_family(LogicalTypeFamily.INTEGER_NUMERIC)
            for field in self.row.fields
        )
        extents = {bounds.column: Extent(1, bounds.low, bounds.high, nulls=0)} if whole else {}
        return may_hold(self.condition, extents.get)

    @property
    def _is_file(self) -> bool:
        """Whether others cannot write to the database while rows are fetched, such as a sink of the same job."""
        return isinstance(self.settings.address, str) and self.settings.address.startswith("sqlite")


def spooled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches after all of them have been put into a temporary file."""
    first = next(batches, None)
    if first is None:
        return
    with tempfile.TemporaryFile() as file:
        with pa.ipc.new_stream(file, first.schema) as stream:
            stream.write_batch(first)
            for rows in batches:
                stream.write_batch(rows)
        file.seek(0)
        yield from pa.ipc.open_stream(file)

"""TableResult: what a statement gives (Flink: org.apache.flink.table.api.TableResult)."""

from __future__ import annotations

import datetime as dt
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TextIO

import numpy as np
import pyarrow as pa

from firesteel.common.errors import FiresteelError
from firesteel.common.job_client import JobClient
from firesteel.common.logical_types import FloatType, LogicalType, RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.logical_types.columns import to_column
from firesteel.common.logical_types.python_values import from_column
from firesteel.common.logical_types.text import cells
from firesteel.common.types import Row, RowKind, result_row
from firesteel.control import JobHandle
from firesteel.datastream.streams.results import CloseableIterator
from firesteel.functions.columns.endpoints import Changes
from firesteel.table.resolved_schema import ResolvedSchema, schema_of_row
from firesteel.table.result_kind import ResultKind
from firesteel.table.table_config import zone_of
from firesteel.table.table_schema import TableSchema
from firesteel.table.tableau import Tableau, widths_by_content, widths_by_type

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TableResult"]

NULL: Final = "<NULL>"
_SHORT: Final = {kind.value: str(kind) for kind in RowKind}


@dataclass(frozen=True)
class Printing:
    """How a result is printed.

    `raw`: the values alone. Otherwise a table: with the kinds of changes (`kinds`), and with columns as wide as their
    types need and at most `most` (None: as wide as the rows need, all of which are read first). `null` is shown for
    NULL.
    """

    raw: bool = False
    kinds: bool = False
    most: int | None = None
    zone: str = "UTC"
    null: str = NULL


class TableResult:
    """The rows of a statement, and the job that computes them if there is one.

    Contract: rows can be read once, by `collect` or by `print`. Reading waits for the job, and raises its error.
    """

    def __init__(
        self,
        row: RowType,
        batches: Iterator[Changes],
        printing: Printing,
        *,
        kind: ResultKind = ResultKind.SUCCESS_WITH_CONTENT,
        schema: ResolvedSchema | None = None,
        job: JobHandle | None = None,
    ) -> None:
        self._row = row
        self._batches = batches
        self._printing = printing
        self._kind = kind
        self._schema = schema or schema_of_row(row)
        self._job = job

    def get_job_client(self) -> JobClient | None:
        """Return the client of the job, None if the statement has started none."""
        return None if self._job is None else JobClient(self._job)

    def get_result_kind(self) -> ResultKind:
        """Return whether the statement has rows to show."""
        return self._kind

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns of the result."""
        return self._schema

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait for the end of the job. Raises its error, and TimeoutError after `timeout_ms`.

        The job of a query waits, too, once many rows are unread: then read them by `collect` or `print` instead.
        """
        if self._job is not None:
            self._job.wait(None if timeout_ms is None else timeout_ms / 1000)

    def collect(self) -> CloseableIterator:
        """Return the rows, each with the kind of its change. Close the iterator to end the job of an endless query.

        Rows have no names, as in PyFlink, but their values are found by name, too: ``row["a"]``, ``row.a``.
        """
        return CloseableIterator(self._rows(), self.close)

    def _rows(self) -> Iterator[Row]:
        names = [field.name for field in self._row.fields]
        zone = zone_of(self._printing.zone)
        for rows, kinds in self._batches:
            values = _values(rows, self._row, zone)
            codes = [0] * rows.num_rows if kinds is None else kinds.tolist()
            for row, code in zip(values, codes, strict=True):
                yield result_row(names, list(row), RowKind(code))

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame; of rows that change, those that are left in the end."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table; of rows that change, those that are left in the end."""
        given = list(self._batches)
        table = pa.Table.from_batches([rows for rows, _ in given], to_arrow_schema(self._row))
        if any(kinds is not None for _, kinds in given):
            table = table.take(pa.array(_left(given), pa.int64()))
        return table

    def get_table_schema(self) -> TableSchema:
        """Return the columns in the old way of PyFlink; `get_resolved_schema` is the new one."""
        return TableSchema.of_row(self._row)

    @property
    def job(self) -> JobHandle | None:
        """The job that computes the rows, or that an INSERT has started."""
        return self._job

    @property
    def is_ok(self) -> bool:
        """Whether the statement was executed and has nothing to show."""
        return self._kind is ResultKind.SUCCESS

    @property
    def row(self) -> RowType:
        """The type of the rows."""
        return self._row

    @property
    def zone(self) -> str:
        """The session's time zone."""
        return self._printing.zone

    @property
    def shows_kinds(self) -> bool:
        """Whether rows are changes, as they are in STREAMING mode."""
        return self._printing.kinds

    def batches(self) -> Iterator[Changes]:
        """Return the rows by columns, as they come."""
        return self._batches

    def close(self) -> None:
        """End the job if it still runs."""
        if self._job is not None and not self._job.done():
            self._job.cancel()
            with suppress(FiresteelError):  # who closes early does not need the outcome
                self._job.wait()

    def print(self) -> None:
        """Print the rows on standard output as Flink does, those of an endless query as they come."""
        self.print_on(sys.stdout)

    def print_on(self, output: TextIO) -> None:
        """Print the rows on a stream."""
        try:
            for line in self._lines():
                output.write(f"{line}\n")
                output.flush()
        except (KeyboardInterrupt, GeneratorExit):
            self.close()
            raise

    def _lines(self) -> Iterator[str]:
        printing = self._printing
        if printing.raw:
            for rows, _ in self._batches:
                for row in _cells(rows, self._row, printing):
                    yield ", ".join(row)
            return
        lines = self.lines()
        if printing.most is None:
            kept = list(lines)
            yield from _drawn(self._names, widths_by_content(self._names, kept), iter(kept))
            return
        types = [field.type for field in self._row.fields]
        widths = widths_by_type([field.name for field in self._row.fields], types, printing.most)
        yield from _drawn(self._names, [2, *widths] if printing.kinds else widths, lines)

    @property
    def _names(self) -> list[str]:
        return [*(["op"] if self._printing.kinds else []), *(field.name for field in self._row.fields)]

    def lines(self) -> Iterator[list[str]]:
        """Return the cells of each row as they come, after the kind of the change if that is shown."""
        for rows, kinds in self._batches:
            table = _cells(rows, self._row, self._printing)
            if not self._printing.kinds:
                yield from table
                continue
            codes = [0] * rows.num_rows if kinds is None else kinds.tolist()
            for code, row in zip(codes, table, strict=True):
                yield [_SHORT[code], *row]


def _left(given: Sequence[Changes]) -> list[int]:
    """Return the places of the rows that no later change takes back, in their order."""
    places: dict[str, list[int]] = defaultdict(list)
    count = 0
    for rows, kinds in given:
        codes = [0] * rows.num_rows if kinds is None else kinds.tolist()
        for code, row in zip(codes, rows.to_pylist(), strict=True):
            if RowKind(code) in (RowKind.INSERT, RowKind.UPDATE_AFTER):
                places[repr(row)].append(count)
            elif places[repr(row)]:
                places[repr(row)].pop()
            count += 1
    return sorted(place for several in places.values() for place in several)


def _drawn(names: Sequence[str], widths: Sequence[int], rows: Iterator[list[str]]) -> Iterator[str]:
    first = next(rows, None)
    if first is None:
        yield "Empty set"
        return
    table = Tableau(names, widths)
    yield table.head()
    yield table.line(first)
    count = 1
    for row in rows:
        count += 1
        yield table.line(row)
    yield table.border()
    yield f"{count} {'row' if count == 1 else 'rows'} in set"


def _cells(rows: pa.RecordBatch, row: RowType, printing: Printing) -> list[list[str]]:
    columns = [
        cells(column, field.type, printing.zone)
        for column, field in zip(rows.columns, row.fields, strict=True)
    ]
    if printing.null != NULL:
        columns = [[printing.null if cell == NULL else cell for cell in column] for column in columns]
    return [list(line) for line in zip(*columns, strict=True)]


def _values(rows: pa.RecordBatch, row: RowType, zone: dt.tzinfo) -> list[tuple[Any, ...]]:
    columns = [
        _shortest(from_column(column, field.type, zone, result_row), field.type)
        for column, field in zip(rows.columns, row.fields, strict=True)
    ]
    return list(zip(*columns, strict=True))


def _shortest(values: list[Any], kind: LogicalType) -> list[Any]:
    """Return values of FLOAT with no more digits than they need, as PyFlink has them in results."""
    if not isinstance(kind, FloatType):
        return values
    return [None if value is None else float(str(np.float32(value))) for value in values]


def of_values(
    row: RowType,
    values: Sequence[Sequence[Any]],
    printing: Printing,
    kind: ResultKind = ResultKind.SUCCESS_WITH_CONTENT,
    job: JobHandle | None = None,
) -> TableResult:
    """Return a result of given rows.

    >>> from firesteel.common.logical_types import STRING, Field, RowType
    >>> of_values(RowType((Field("table name", STRING),)), [("orders",)], Printing()).print()
    +------------+
    | table name |
    +------------+
    |     orders |
    +------------+
    1 row in set
    """
    schema = to_arrow_schema(row)
    columns = [
        to_column([line[place] for line in values], field.type, field.name)
        for place, field in enumerate(row.fields)
    ]
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    return TableResult(row, iter([(batch, None)]), printing, kind=kind, job=job)

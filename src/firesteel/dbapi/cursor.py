"""Cursors: a statement, and its rows as Python values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from firesteel.common.logical_types import DecimalType, Field, RowType
from firesteel.common.logical_types.python_values import from_column
from firesteel.common.logical_types.strings import LengthType
from firesteel.common.types import RowKind
from firesteel.dbapi.errors import InterfaceError, NotSupportedError, translated
from firesteel.dbapi.parameters import with_values
from firesteel.functions.columns.endpoints import Changes
from firesteel.rest.gateway.client import Answered

if TYPE_CHECKING:
    from firesteel.dbapi.connection import Connection

Description = tuple[str, str, None, int | None, int | None, int | None, bool]
Values = tuple[Any, ...]

_NO_ROWS: Final = "a query must be executed first"


class Cursor:
    """Executes statements one after the other, and reads the rows of the last one.

    `description` has the columns of a result, None for statements that have none, INSERTs among them: `job_id` is then
    that of their job. `rowcount` is -1: it is not known before all rows are read.
    """

    arraysize: int = 100

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.description: list[Description] | None = None
        self.rowcount = -1
        self.job_id: str | None = None
        self._answered: Answered | None = None
        self._rows: Iterator[Values] | None = None
        self._closed = False

    def execute(self, operation: str, parameters: Sequence[Any] = ()) -> Cursor:
        """Execute a statement, with values for its question marks. Raises the errors of PEP 249.

        An INSERT waits for its job, unless the connection's options say otherwise.
        """
        client = self._client()
        self._forget()
        text = with_values(operation, parameters) if parameters else operation
        with translated():
            answered = client.execute(text)
        self.job_id = answered.job_id
        if answered.is_query or answered.job_id is None:
            self.description = [_described(field) for field in answered.row.fields]
            self._rows = self._read(answered)
        self._answered = answered
        if not answered.is_query:
            self._settle(answered)
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Sequence[Any]]) -> Cursor:
        """Execute a statement with each of several lists of values."""
        for parameters in seq_of_parameters:
            self.execute(operation, parameters)
        return self

    def changes(self) -> Iterator[tuple[str, Values]]:
        """Yield the rows of a query in STREAMING mode, each with the kind of its change: `+I`, `-U`, `+U`, `-D`."""
        if self._answered is None:
            raise InterfaceError(_NO_ROWS)
        with translated():
            for changes in self._answered.changes:
                codes = [0] * changes[0].num_rows if changes[1] is None else changes[1].tolist()
                for code, values in zip(codes, _values(changes, self._answered.row), strict=True):
                    yield str(RowKind(code)), values

    def fetchone(self) -> Values | None:
        """Return the next row, None after the last."""
        return next(self._open_rows(), None)

    def fetchmany(self, size: int | None = None) -> list[Values]:
        """Return the next rows, at most `size` (`arraysize`)."""
        return list(islice(self._open_rows(), self.arraysize if size is None else size))

    def fetchall(self) -> list[Values]:
        """Return the rows that are left. Of an endless query that never returns."""
        return list(self._open_rows())

    def __iter__(self) -> Iterator[Values]:
        return self._open_rows()

    def close(self) -> None:
        """End the query, and take no more statements."""
        self._forget()
        self._closed = True

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Do nothing: no sizes are needed."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Do nothing: no sizes are needed."""

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _client(self) -> Any:
        if self._closed:
            raise InterfaceError("the cursor is closed")
        return self.connection._open_client()

    def _open_rows(self) -> Iterator[Values]:
        self._client()
        if self._rows is None:
            raise InterfaceError(_NO_ROWS)
        return self._rows

    def _read(self, answered: Answered) -> Iterator[Values]:
        with translated():
            for changes in answered.changes:
                if changes[1] is not None:
                    raise NotSupportedError(
                        "the rows of this query change: read them with `changes()`, or in BATCH mode"
                    )
                yield from _values(changes, answered.row)

    def _settle(self, answered: Answered) -> None:
        """Read what a statement has answered at once, so that its operation need not be kept."""
        if self._rows is None:
            with translated():
                list(answered.changes)
        else:
            self._rows = iter(list(self._rows))
        self._forget_operation()

    def _forget(self) -> None:
        self._forget_operation()
        self.description, self.job_id, self._rows = None, None, None

    def _forget_operation(self) -> None:
        answered, self._answered = self._answered, None
        if answered is not None and not self.connection.closed:
            with translated():
                self._client().end(answered.operation)


def _described(field: Field) -> Description:
    kind = field.type
    length = kind.length if isinstance(kind, LengthType) else None
    digits = (kind.precision, kind.scale) if isinstance(kind, DecimalType) else (None, None)
    return field.name, kind.root.name, None, length, *digits, kind.nullable


def _values(changes: Changes, row: RowType) -> list[Values]:
    columns = [
        from_column(column, field.type, dt.UTC)
        for column, field in zip(changes[0].columns, row.fields, strict=True)
    ]
    return list(zip(*columns, strict=True))

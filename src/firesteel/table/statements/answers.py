"""The results of statements that start no job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from firesteel.common.logical_types import STRING, Field, RowType
from firesteel.control import JobHandle
from firesteel.table.result_kind import ResultKind
from firesteel.table.table_result import Printing, TableResult, of_values


def ok(job: JobHandle | None = None) -> TableResult:
    """Return the result of a statement that was executed, and that has started a job if there is one.

    >>> ok().print()
    OK
    """
    row = RowType((Field("result", STRING),), nullable=False)
    return of_values(row, [("OK",)], Printing(raw=True), ResultKind.SUCCESS, job)


def text(content: str, column: str = "result") -> TableResult:
    """Return one text, which is printed as it is."""
    row = RowType((Field(column, STRING),), nullable=False)
    return of_values(row, [(content,)], Printing(raw=True))


def listed(column: str, values: Iterable[str]) -> TableResult:
    """Return texts, one below the other.

    >>> listed("view name", []).print()
    Empty set
    """
    return table((Field(column, STRING),), [(value,) for value in values])


def table(fields: tuple[Field, ...], values: Sequence[Sequence[Any]]) -> TableResult:
    """Return rows of several columns; NULL is printed as nothing."""
    return of_values(RowType(fields, nullable=False), values, Printing(null=""))


def texts(columns: Sequence[str], values: Sequence[Sequence[str | None]]) -> TableResult:
    """Return rows of texts."""
    return table(tuple(Field(column, STRING) for column in columns), values)

"""Records as rows of a table: which value goes to which column, and what a database can take as a value."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from firesteel.common.errors import TypeMismatchError
from firesteel.common.types import Row, RowKind
from firesteel.connectors.sql.settings import SqlSettings

Values = tuple[Any, ...]
Convert = Callable[[Any], Any]

_PLAIN: Final = (int, float, str, bytes, Decimal, dt.datetime, dt.date, dt.time, dt.timedelta, uuid.UUID)
_AS_IT_IS: Final[dict[type, Convert | None]] = dict.fromkeys((*_PLAIN, bool, type(None)))
_SQLITE: Final[dict[type, Convert | None]] = {
    Decimal: str,
    dt.datetime: lambda value: value.isoformat(" "),
    dt.date: dt.date.isoformat,
    dt.time: dt.time.isoformat,
    dt.timedelta: dt.timedelta.total_seconds,
    uuid.UUID: str,
}
"""SQLite has no types for these. As ISO 8601 text they sort correctly, and its functions understand them."""

_RETRACTIONS: Final = frozenset({RowKind.DELETE, RowKind.UPDATE_BEFORE})


class RowReader:
    """Turns records into `(whether it is a deletion, values in the order of the columns)`.

    Takes Rows (by name if they have names), dicts (by name) and tuples (by position). Raises TypeMismatchError
    for everything else, for a column without a value, for values that databases cannot store (lists, dicts), for None
    in a key, and for deletions if there is no key.
    """

    def __init__(self, settings: SqlSettings, dialect: str) -> None:
        self._settings = settings
        self._names = list(settings.columns)
        self._key = [self._names.index(name) for name in settings.key]
        self._converters = {**_AS_IT_IS, **(_SQLITE if dialect == "sqlite" else {})}

    def read(self, record: Any) -> tuple[bool, Values]:
        """Return one record's row."""
        row = self.converted(self._values_of(record))
        deletes = isinstance(record, Row) and record.get_row_kind() is not RowKind.INSERT
        return (deletes and self._deletes(record)), row

    def converted(self, values: Sequence[Any]) -> Values:
        """Return the row of values in the order of the columns."""
        converters = self._converters
        row = tuple(
            [
                value if (convert := converters.get(type(value), self._convert)) is None else convert(value)
                for value in values
            ]
        )
        for index in self._key:
            if row[index] is None:
                raise self._mismatch(
                    "a value in each key column", f"None in {self._names[index]!r}: {tuple(values)!r}"
                )
        return row

    def _deletes(self, record: Row) -> bool:
        if not self._key:
            raise self._mismatch(
                "rows that are insertions",
                f"{record.get_row_kind()} {record!r}",
                "give the sink its key columns, and it updates and deletes by key",
            )
        return record.get_row_kind() in _RETRACTIONS

    def _values_of(self, record: Any) -> Sequence[Any]:
        names = self._names
        if isinstance(record, Row):
            try:
                values: Sequence[Any] = record.get_fields_by_names(names)
            except ValueError as error:
                raise self._mismatch(f"rows with the fields {names}", str(error)) from None
        elif isinstance(record, Mapping):
            missing = [name for name in names if name not in record]
            if missing:
                raise self._mismatch(f"dicts with the keys {names}", f"one without {missing}")
            return [record[name] for name in names]
        elif isinstance(record, tuple):
            values = record
        else:
            raise self._mismatch("Rows, tuples or dicts", f"{type(record).__name__}: {record!r}")
        if len(values) != len(names):
            raise self._mismatch(f"a value for each of {names}", f"{len(values)} values: {record!r}")
        return values

    def _convert(self, value: Any) -> Any:
        """Return a value whose type is derived from one of the plain types."""
        if isinstance(value, (bytearray, memoryview)):
            return bytes(value)
        for kind in _PLAIN:
            if isinstance(value, kind):
                convert = self._converters[kind]
                return value if convert is None else convert(value)
        raise self._mismatch(
            "values that are None, numbers, text, bytes, dates or times",
            f"{type(value).__name__}: {value!r}",
            "lists, maps and rows have no column type of their own; map them to text, such as json.dumps(value)",
        )

    def _mismatch(self, needs: str, got: str, hint: str | None = None) -> TypeMismatchError:
        return TypeMismatchError(f"requires {needs}", who=self._settings.who, got=got, hint=hint)

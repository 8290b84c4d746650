"""Row: a record with positions and, if known, names; and the kinds of change that a row can stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, overload

from firesteel.common.errors import UnsupportedError

__all__ = ["ResultRow", "Row", "RowKind", "copy_row", "field_names", "make_row", "result_row"]


class RowKind(Enum):
    """The kind of change of a table that a row stands for (Flink: org.apache.flink.types.RowKind).

    >>> [str(kind) for kind in RowKind]
    ['+I', '-U', '+U', '-D']
    """

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return _SHORT_NAMES[self.value]

    def to_j_row_kind(self) -> Any:
        """Not available: raises UnsupportedError."""
        raise UnsupportedError("is not available", who="RowKind.to_j_row_kind", got="no JVM object behind it")


_SHORT_NAMES = ("+I", "-U", "+U", "-D")
_KINDS = tuple(RowKind)
_INSERT = RowKind.INSERT


class Row:
    """A record of values; you access them by position, by name (`row["name"]`) or as attributes (`row.name`).

    A row is made of values, or of named values; if you call an unnamed row, it creates rows with its values as names.
    You can change rows in place (`row[0] = 1`). Two rows are equal if their kinds, names and values are; the order of
    the names does not matter. Rows with and without names are never equal. Source of the semantics: PyFlink's
    `pyflink.common.Row`.

    >>> row = Row(name="Alice", age=11)
    >>> row.name, row["age"], row[1], "name" in row
    ('Alice', 11, 11, True)
    >>> Person = Row("name", "age")
    >>> Person
    <Row('name', 'age')>
    >>> Person("Alice", 11)
    Row(name='Alice', age=11)
    """

    __slots__ = ("_fields", "_row_kind", "_values")

    _values: list[Any]
    _fields: list[str] | None
    _row_kind: RowKind

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if kwargs:
            if args:
                raise ValueError("Can not use both args and kwargs to create Row")
            self._fields = list(kwargs)
            self._values = list(kwargs.values())
        else:
            self._fields = None
            self._values = list(args)
        self._row_kind = _INSERT

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        """Return a row of the given kind.

        >>> Row.of_kind(RowKind.DELETE, 1).get_row_kind()
        <RowKind.DELETE: 3>
        """
        row = Row(*args, **kwargs)
        row._row_kind = row_kind
        return row

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """Return the row as a dict from name to value; with `recursive`, rows within it (in lists and dicts too) also.

        Raises TypeError for a row without names.

        >>> Row(key=1, value=Row(a=2)).as_dict(True)
        {'key': 1, 'value': {'a': 2}}
        """
        if self._fields is None:
            raise TypeError("Cannot convert a Row class into dict")
        values = map(_plain, self._values) if recursive else self._values
        return dict(zip(self._fields, values, strict=False))

    def get_row_kind(self) -> RowKind:
        """Return the kind of change this row stands for."""
        return self._row_kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Set the kind of change this row stands for."""
        self._row_kind = row_kind

    def set_field_names(self, field_names: list[str]) -> None:
        """Name the values, in their order."""
        self._fields = field_names

    def get_fields_by_names(self, names: list[str]) -> list[Any]:
        """Return the values with the given names, in that order; all values if the row has no names.

        Raises ValueError if the row lacks one of the names.
        """
        fields = self._fields
        if fields is None or names == fields:
            return self._values
        missing = sorted(set(names).difference(fields))
        if missing:
            raise ValueError(f"Field names {missing} not exist in {fields}.")
        return [self._values[fields.index(name)] for name in names]

    def __contains__(self, item: object) -> bool:
        return item in (self._values if self._fields is None else self._fields)

    def __call__(self, *args: Any) -> Row:
        if len(args) > len(self._values):
            raise ValueError(
                f"Can not create Row with fields {self!r}, expected {len(self)} values but got {args}"
            )
        row = Row(*args)
        row._fields = self._values
        row._row_kind = self._row_kind
        return row

    def _index(self, name: str) -> int:
        if self._fields is None:
            raise AttributeError(f"the row has no field names, so none called {name!r}")
        return self._fields.index(name)

    @overload
    def __getitem__(self, item: slice) -> list[Any]: ...
    @overload
    def __getitem__(self, item: int | str) -> Any: ...
    def __getitem__(self, item: int | str | slice) -> Any:
        if isinstance(item, (int, slice)):
            return self._values[item]
        try:
            return self._values[self._index(item)]
        except IndexError:
            raise KeyError(item) from None
        except ValueError:
            raise ValueError(item) from None

    def __setitem__(self, key: int | str | slice, value: Any) -> None:
        if isinstance(key, (int, slice)):
            self._values[key] = value
            return
        try:
            self._values[self._index(key)] = value
        except (IndexError, AttributeError):
            raise KeyError(key) from None
        except ValueError:
            raise ValueError(key) from None

    def __getattr__(self, item: str) -> Any:
        if item.startswith("_"):
            raise AttributeError(item)
        try:
            return self._values[self._index(item)]
        except (IndexError, ValueError):
            raise AttributeError(item) from None

    def __reduce__(self) -> tuple[Any, ...]:
        if self._row_kind is _INSERT:
            return _restore, (self._fields, tuple(self._values))
        return _restore, (self._fields, tuple(self._values), self._row_kind.value)

    def __repr__(self) -> str:
        if self._fields is None:
            return f"<Row({', '.join(map(repr, self._values))})>"
        named = zip(self._fields, self._values, strict=False)
        return f"Row({', '.join(f'{name}={value!r}' for name, value in named)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row) or self._row_kind is not other._row_kind:
            return False
        mine, theirs = self._fields, other._fields
        if mine is None or theirs is None:
            return mine is theirs and self._values == other._values
        if mine == theirs:
            return self._values == other._values
        names = sorted(mine)
        return names == sorted(theirs) and all(
            self._values[mine.index(name)] == other._values[theirs.index(name)] for name in names
        )

    def __hash__(self) -> int:
        return hash(tuple(self._values))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(True)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


_new = Row.__new__


def _restore(fields: list[str] | None, values: tuple[Any, ...], kind: int = 0) -> Row:
    row = _new(Row)
    row._fields = fields
    row._values = list(values)
    row._row_kind = _KINDS[kind]
    return row


def copy_row(row: Row, values: Iterable[Any]) -> Row:
    """Return a row with the names and the kind of `row` and other values.

    >>> copy_row(Row(a=1), [2])
    Row(a=2)
    """
    copy = _new(Row)
    copy._fields = row._fields
    copy._values = list(values)
    copy._row_kind = row._row_kind
    return copy


def make_row(fields: list[str] | None, values: list[Any], kind: RowKind = _INSERT) -> Row:
    """Return a row that uses the lists `fields` and `values` themselves, without copying them.

    >>> make_row(["a"], [1])
    Row(a=1)
    """
    row = _new(Row)
    row._fields = fields
    row._values = values
    row._row_kind = kind
    return row


class ResultRow(Row):
    """A row of a table's result: a row without names, as PyFlink has it, whose values are found by name as well.

    It prints as a row without names, and equals one with the same values and kind, or one with the same names.

    >>> row = result_row(["name", "age"], ["Alice", 11])
    >>> row, row == Row("Alice", 11), row == Row(name="Alice", age=11)
    (<Row('Alice', 11)>, True, True)
    >>> row["age"], row.name, row.as_dict()
    (11, 'Alice', {'name': 'Alice', 'age': 11})
    """

    __slots__ = ("_names",)

    _names: list[str]

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """Return the row as a dict from column to value; see `Row.as_dict`."""
        return self._named().as_dict(recursive)

    def get_fields_by_names(self, names: list[str]) -> list[Any]:
        """Return the values of these columns. Raises ValueError for a name that is no column."""
        return self._named().get_fields_by_names(names)

    def set_field_names(self, field_names: list[str]) -> None:
        """Name the values, in their order; from then on it is a row with names."""
        super().set_field_names(field_names)
        self._names = field_names

    def _named(self) -> Row:
        return make_row(self._names, self._values, self._row_kind)

    def _index(self, name: str) -> int:
        return self._names.index(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return result_row, (self._names, self._values, self._row_kind)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ResultRow) or (isinstance(other, Row) and other._fields is None):
            return self._row_kind is other._row_kind and self._values == other._values
        return self._named() == other

    __hash__ = Row.__hash__


def result_row(names: list[str], values: list[Any], kind: RowKind = _INSERT) -> ResultRow:
    """Return a row of a result, which uses the lists themselves."""
    row = ResultRow.__new__(ResultRow)
    row._fields = None
    row._names = names
    row._values = values
    row._row_kind = kind
    return row


def field_names(row: Row) -> Sequence[str] | None:
    """Return the names of a row's values in their order, or None if it has none.

    >>> field_names(Row(a=1)), field_names(Row(1))
    (['a'], None)
    """
    return row._fields

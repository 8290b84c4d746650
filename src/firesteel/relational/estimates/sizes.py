"""What is known or guessed of the rows of a relation and of its columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Final

from firesteel.common.logical_types import (
    ArrayType,
    LogicalType,
    LogicalTypeFamily,
    LogicalTypeRoot,
    MapType,
    MultisetType,
    RowType,
)
from firesteel.functions.columns.statistics import ColumnStatistics, TableStatistics

_R = LogicalTypeRoot
_WIDTHS: Final = {
    **dict.fromkeys((_R.BOOLEAN, _R.TINYINT, _R.CHAR), 1.0),
    _R.SMALLINT: 2.0,
    **dict.fromkeys((_R.INTEGER, _R.FLOAT, _R.INTERVAL_DAY_TIME), 4.0),
    **dict.fromkeys((_R.BIGINT, _R.DOUBLE, _R.INTERVAL_YEAR_MONTH), 8.0),
    **dict.fromkeys((_R.VARCHAR, _R.DECIMAL, _R.DATE, _R.TIME_WITHOUT_TIME_ZONE), 12.0),
    **dict.fromkeys((_R.TIMESTAMP_WITHOUT_TIME_ZONE, _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE), 12.0),
    **dict.fromkeys((_R.BINARY, _R.VARBINARY), 16.0),
}
_OTHER: Final = 128.0
_ELEMENTS: Final = 16

UNKNOWN: Final = 1e8
"""The rows of a table of which nothing is known, as in Flink."""


@dataclass(frozen=True)
class Column:
    """A column of a relation.

    `width` is the average number of bytes of a value, `base` how many rows the relation has from which the column
    comes, before any of them are left out; `distinct` is how many different values it has there, `low` and `high` are
    bounds of them as numbers, `nulls` is the share of NULLs (None: not known).
    """

    width: float
    base: float
    distinct: float | None = None
    low: float | None = None
    high: float | None = None
    nulls: float | None = None


@dataclass(frozen=True)
class Estimate:
    """About how many rows a relation has, with its columns; `known` is whether that is more than a guess at a table."""

    rows: float
    columns: tuple[Column, ...]
    known: bool = True

    @cached_property
    def width(self) -> float:
        """Return the average number of bytes of a row."""
        return sum(column.width for column in self.columns)

    @property
    def size(self) -> float:
        """Return the number of bytes of all rows."""
        return self.rows * self.width


def of_table(row: RowType, statistics: TableStatistics | None, keys: Sequence[int] = ()) -> Estimate:
    """Return the size of a table with rows of a type; `keys` are the columns that are a primary key by themselves.

    A whole number or a date has as many values as there are between its bounds, if there are more rows than that.
    """
    if statistics is None:
        columns = tuple(
            Column(width_of(kind), UNKNOWN, UNKNOWN if place in keys else None)
            for place, kind in enumerate(row.children)
        )
        return Estimate(UNKNOWN, columns, known=False)
    known = statistics.columns or (ColumnStatistics(),) * len(row.fields)
    columns = tuple(
        _column(kind, one, statistics.rows, is_key=place in keys)
        for place, (kind, one) in enumerate(zip(row.children, known, strict=True))
    )
    return Estimate(statistics.rows, columns)


def _column(kind: LogicalType, known: ColumnStatistics, rows: float, *, is_key: bool) -> Column:
    low, high = number(known.low), number(known.high)
    distinct = rows if is_key else known.distinct
    if distinct is None:
        distinct = _values_of(kind, low, high)
        distinct = distinct if distinct is not None and distinct <= rows else None
    nulls = 0.0 if not kind.nullable else None if known.nulls is None else known.nulls / max(rows, 1)
    return Column(width_of(kind), rows, distinct, low, high, nulls)


def _values_of(kind: LogicalType, low: float | None, high: float | None) -> float | None:
    """Return how many values of a type there are between bounds; None if there is no such number."""
    if kind.root is _R.BOOLEAN:
        return 2.0
    steps = kind.root is _R.DATE or LogicalTypeFamily.INTEGER_NUMERIC in kind.root.families
    return high - low + 1 if steps and low is not None and high is not None else None


def number(value: object) -> float | None:
    """Return a number, or a time as one, so that differences are in proportion; None for other values.

    >>> number(Decimal("1.5")), number(dt.date(1, 1, 2)), number("a"), number(True)
    (1.5, 2.0, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float | Decimal):
        return float(value)
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=dt.UTC).timestamp()
    return float(value.toordinal()) if isinstance(value, dt.date) else None


def width_of(kind: LogicalType) -> float:
    """Return the average number of bytes of a value of a type. Source: Flink's FlinkRelMdSize.

    >>> from firesteel.common.logical_types import parse_type
    >>> [width_of(parse_type(text)) for text in ("BIGINT", "STRING", "ROW<a INT, b DOUBLE>", "ARRAY<INT>")]
    [8.0, 12.0, 12.0, 64.0]
    """
    if isinstance(kind, RowType):
        return sum(map(width_of, kind.children))
    if isinstance(kind, ArrayType | MapType):
        return sum(map(width_of, kind.children)) * _ELEMENTS
    if isinstance(kind, MultisetType):
        return (sum(map(width_of, kind.children)) + _WIDTHS[_R.INTEGER]) * _ELEMENTS
    return _WIDTHS.get(kind.root, _OTHER)

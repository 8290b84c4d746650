"""Conditions on rows as conditions of a database, which are TRUE wherever the conditions on what is read are.

Contract: whoever reads the rows checks them again, so a database may give too many rows, but never too few. What it
compares is not what is read of it: a DECIMAL is rounded, a TIMESTAMP cut, a text ordered by a collation. So a
condition is widened, or left out, as the type of the stored column requires. SQLite has types of values, not of
columns: values of another class than expected are read whatever the condition.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from firesteel.common.logical_types import (
    DecimalType,
    LogicalType,
    LogicalTypeFamily,
    LogicalTypeRoot,
    TimestampType,
)
from firesteel.connectors.sql.guarded import guarded
from firesteel.connectors.sql.tables import MYSQL
from firesteel.functions.columns.pushdowns import Comparison, Condition, Junction, Like, NullTest, Operator

_R = LogicalTypeRoot
_TEMPORAL: Final = (_R.DATE, _R.TIME_WITHOUT_TIME_ZONE, _R.TIMESTAMP_WITHOUT_TIME_ZONE)
_EXACT: Final = 0
_MILLISECOND: Final = dt.timedelta(milliseconds=1)
_DIGITS_KEPT: Final = 3
"""Up to this precision a TIMESTAMP is cut to milliseconds."""

Clause = sa.ColumnElement[bool]
Column = sa.ColumnElement[Any]
Slack = Any
"""How far what is read may be from what is stored, 0 if it is the same; None if that is not known."""


class Conditions:
    """Translates conditions on columns: `declared` are the types that are read, `stored` those of the database.

    SQLite needs no `stored` types.

    >>> from firesteel.common.logical_types import parse_type
    >>> conditions = Conditions("postgresql", {"n": parse_type("INT")}, {"n": sa.BIGINT()})
    >>> print(conditions.of(Comparison("n", ">", 3)))
    n > :n_1
    """

    def __init__(
        self,
        dialect: str,
        declared: Mapping[str, LogicalType],
        stored: Mapping[str, sa.types.TypeEngine[Any]],
    ) -> None:
        self._dialect = dialect
        self._declared = declared
        self._stored = stored

    def of(self, condition: Condition) -> Clause | None:
        """Return a condition of the database; None if it would leave out no rows."""
        if isinstance(condition, Junction):
            parts = [self.of(part) for part in condition.parts]
            known = [part for part in parts if part is not None]
            if condition.any_of:
                return sa.or_(*known) if len(known) == len(parts) else None
            return sa.and_(*known) if known else None
        if isinstance(condition, NullTest):
            return self._null_test(condition)
        column: Column = sa.column(condition.column)
        kind = self._declared[condition.column]
        if self._dialect == "sqlite":
            return guarded(column, condition, kind)
        if isinstance(condition, Like):
            return self._like(column, condition.pattern, self._stored.get(condition.column))
        return self._compared(column, condition, kind)

    def _null_test(self, test: NullTest) -> Clause | None:
        column: Column = sa.column(test.column)
        if test.negated:
            return column.is_not(None)
        root = self._declared[test.column].root
        # Numbers with too many digits are read as NULL, and so are days that do not exist in MySQL.
        if root is _R.DECIMAL or (root in _TEMPORAL and self._dialect in MYSQL):
            return None
        return column.is_(None)

    def _compared(self, column: Column, comparison: Comparison, kind: LogicalType) -> Clause | None:
        value, operator = comparison.value, comparison.operator
        stored = self._stored.get(comparison.column)
        if isinstance(value, str):
            return self._text_compared(column, operator, value, stored)
        slack = _slack(value, kind, stored)
        if slack is None:
            return None
        if slack == _EXACT:
            return _compare(column, operator, value)
        try:
            return _widened(column, operator, value, slack)
        except OverflowError:  # a time at the end of the year 9999
            return None

    def _text_compared(self, column: Column, operator: Operator, value: str, stored: object) -> Clause | None:
        """Compare texts by their code points, as Flink does; whatever the collation, equal texts are equal."""
        if not _is_text(stored) or not _can_be_sent(value):
            return None
        compared = column if operator == "=" else self._by_code_points(column, stored)
        return None if compared is None else _compare(compared, operator, value)

    def _like(self, column: Column, pattern: str, stored: object) -> Clause | None:
        """Compare by characters: whatever the collation, a text has the form of more patterns, and not of fewer."""
        if not _is_text(stored) or not _can_be_sent(pattern):
            return None
        compared = self._by_code_points(column, stored) if self._dialect == "postgresql" else column
        return None if compared is None else compared.like(pattern)

    def _by_code_points(self, column: Column, stored: object) -> Column | None:
        """Return a text that is compared by its code points; None if the database compares it in another way."""
        plain = self._dialect == "postgresql" and type(stored) in (sa.VARCHAR, sa.TEXT)
        return sa.collate(column, "C") if plain else None


def _compare(column: Column, operator: Operator, value: object) -> Clause:
    compared: Clause = column.bool_op(operator)(value)
    return compared


def _is_text(stored: object) -> bool:
    return isinstance(stored, sa.VARCHAR | sa.TEXT)


def _can_be_sent(text: str) -> bool:
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def _widened(column: Column, operator: Operator, value: Any, slack: Slack) -> Clause | None:
    match operator:
        case "=":
            return sa.and_(column >= value - slack, column <= value + slack)
        case "<" | "<=":
            return _compare(column, "<=", value + slack)
        case ">" | ">=":
            return _compare(column, ">=", value - slack)
        case _:
            return None


def _slack(value: object, kind: LogicalType, stored: object) -> Slack | None:
    match value:
        case bool():
            return _EXACT if kind.root is _R.BOOLEAN and isinstance(stored, sa.Boolean) else None
        case int():
            return (
                _EXACT if kind.has_family(LogicalTypeFamily.INTEGER_NUMERIC) and _is_whole(stored) else None
            )
        case float():
            return _EXACT if isfinite(value) and isinstance(stored, sa.Double) else None
        case Decimal() if isinstance(kind, DecimalType) and _is_decimal(stored):
            scale = getattr(stored, "scale", None)
            fits = scale is not None and scale <= kind.scale
            return _EXACT if fits else Decimal(1).scaleb(-kind.scale)
        case dt.datetime() if isinstance(kind, TimestampType) and _is_clock(stored) and value.tzinfo is None:
            digits = getattr(stored, "precision", None)
            fits = kind.precision > _DIGITS_KEPT or (digits is not None and digits <= _DIGITS_KEPT)
            return _EXACT if fits else _MILLISECOND
        case dt.date() if not isinstance(value, dt.datetime):
            return _EXACT if kind.root is _R.DATE and isinstance(stored, sa.Date) else None
    return None


def _is_whole(stored: object) -> bool:
    return isinstance(stored, sa.Integer) or (_is_decimal(stored) and getattr(stored, "scale", None) == 0)


def _is_decimal(stored: object) -> bool:
    return isinstance(stored, sa.Numeric) and not isinstance(stored, sa.Float)


def _is_clock(stored: object) -> bool:
    """Return whether a type has times of a day; a TIMESTAMP of MySQL has points in time, of which two show the same."""
    return isinstance(stored, sa.DateTime) and not (stored.timezone or isinstance(stored, mysql.TIMESTAMP))

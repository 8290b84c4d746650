"""Comparisons in SQLite, whose values have types and whose columns have none.

Values of the expected class, and of the plain form if they are texts of times, are compared; all others are read.
"""

from __future__ import annotations

import datetime as dt
from math import isfinite
from typing import Any, Final

import sqlalchemy as sa

from firesteel.common.logical_types import LogicalType, LogicalTypeRoot
from firesteel.functions.columns.pushdowns import Comparison, Like, Operator

_R = LogicalTypeRoot
_DATE: Final = "-".join(("[0-9]" * 4, "[0-9]" * 2, "[0-9]" * 2))
_CLOCK: Final = f"{_DATE} {':'.join(['[0-9]' * 2] * 3)}*"
_SECOND: Final = dt.timedelta(seconds=1)
_LONGEST_PATTERN: Final = 50_000
"""How many bytes a pattern may have in SQLite."""

Clause = sa.ColumnElement[bool]


def guarded(column: Any, condition: Comparison | Like, kind: LogicalType) -> Clause | None:
    """Return a condition that is TRUE where one on what is read is; None if it would leave out no rows."""
    if isinstance(condition, Like):
        return _like(column, condition.pattern)
    value, operator = condition.value, condition.operator
    match value:
        case bool() if kind.root is _R.BOOLEAN and operator in ("=", "<>"):
            is_zero = value is (operator == "<>")
            return _unless(column, "integer", column == 0 if is_zero else column != 0)
        case int() if not isinstance(value, bool):
            return _unless(column, "integer", column.bool_op(operator)(value))
        case float() if isfinite(value) and kind.root is _R.DOUBLE:
            return _unless(column, "real", column.bool_op(operator)(value))
        case str():
            text = sa.collate(sa.cast(column, sa.Text), "BINARY")
            return _unless(column, "text", text.bool_op(operator)(value))
        case dt.datetime() if value.tzinfo is None:
            return _clock(column, operator, value)
        case dt.date() if not isinstance(value, dt.datetime):
            compared = sa.cast(column, sa.Text).bool_op(operator)(value.isoformat())
            return sa.or_(sa.not_(column.bool_op("GLOB")(_DATE)), compared)
    return None


def _like(column: Any, pattern: str) -> Clause | None:
    """Compare with a pattern, whatever the case of letters is. SQLite looks at texts up to a NUL character only."""
    if len(pattern.encode(errors="replace")) > _LONGEST_PATTERN or "\0" in pattern:
        return None
    text = sa.cast(column, sa.Text)
    cut = sa.func.instr(text, sa.func.char(0)) > 0
    return _unless(column, "text", sa.or_(cut, text.like(pattern)))


def _unless(column: Any, kind: str, compared: Any) -> Clause:
    return sa.or_(sa.func.typeof(column).not_in([kind, "null"]), compared)


def _clock(column: Any, operator: Operator, value: dt.datetime) -> Clause | None:
    """Compare whole seconds: the texts of equal times differ behind them."""
    try:
        first = value.replace(microsecond=0)
        low, high = first.isoformat(" "), (first + _SECOND).isoformat(" ")
    except OverflowError:
        return None
    text = sa.cast(column, sa.Text)
    match operator:
        case "=":
            compared = sa.and_(text >= low, text < high)
        case "<" | "<=":
            compared = text < high
        case ">" | ">=":
            compared = text >= low
        case _:
            return None
    return sa.or_(sa.not_(column.bool_op("GLOB")(_CLOCK)), compared)

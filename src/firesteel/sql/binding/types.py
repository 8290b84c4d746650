"""Types as they are written to logical types."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from sqlglot import exp

from firesteel.common.errors import ProgramError, SqlError
from firesteel.common.logical_types import (
    ArrayType,
    DayTimeIntervalType,
    Field,
    IntervalField,
    LogicalType,
    MapType,
    MultisetType,
    RawType,
    RowType,
    StructuredType,
    YearMonthIntervalType,
    parse_type,
)
from firesteel.sql.binding.places import Text
from firesteel.sql.nodes import KnownType, TypeName

_LENGTHS: Final = ("CHAR", "CHARACTER", "VARCHAR", "BINARY", "VARBINARY")
_OTHER_NAMES: Final = {"CHARACTER": "CHAR", "REAL": "FLOAT"}
_OF_ANY_LENGTH: Final = {"VARCHAR": "STRING", "VARBINARY": "BYTES"}
"""What types without a length are, which is another than Flink's texts of types have there."""
_COLLECTIONS: Final[dict[str, Callable[..., LogicalType]]] = {
    "ARRAY": ArrayType,
    "MAP": MapType,
    "MULTISET": MultisetType,
}


MONTHS: Final = YearMonthIntervalType(IntervalField.MONTH, IntervalField.MONTH)
"""The type of all intervals of years and months, as in Flink's plans."""
MILLISECONDS: Final = DayTimeIntervalType(IntervalField.SECOND, IntervalField.SECOND, fractional_precision=3)
"""The type of all intervals of days and smaller units, as in Flink's plans."""


def type_of(name: exp.Expr, text: Text) -> LogicalType:
    """Return the type that is written; it is nullable unless NOT NULL is.

    Raises SqlValidationError where a length, a precision or a field's name is not allowed.
    """
    if isinstance(name, exp.Var):
        return _interval(name.name)
    if isinstance(name, KnownType):
        known: LogicalType = name.args["kind"]
        return known
    assert isinstance(name, TypeName)
    try:
        found = _type(name, text)
    except ProgramError as error:
        if isinstance(error, SqlError):
            raise
        raise text.located(name, error) from None
    return found.copy(nullable=name.args.get("nullable") is not False)


def _type(name: TypeName, text: Text) -> LogicalType:
    kind = name.name
    parameters = [int(number.name) for number in name.args.get("parameters") or ()]
    if kind in _LENGTHS and parameters == [0]:
        raise text.wrong(name, f"requires a length of at least 1 in {kind}", got="0")
    if kind in _COLLECTIONS:
        return _COLLECTIONS[kind](*(type_of(element, text) for element in name.args["elements"]))
    if kind == "RAW":
        return RawType(*(argument.name for argument in name.args["arguments"]))
    if kind not in ("ROW", "STRUCTURED"):
        return _plain(_OTHER_NAMES.get(kind, kind), *parameters)
    fields = tuple(
        Field(field.this.name, type_of(field.args["kind"], text), field.args.get("comment"))
        for field in name.args.get("fields") or ()
    )
    return RowType(fields) if kind == "ROW" else StructuredType(fields, name.args["arguments"][0].name)


@cache
def _plain(kind: str, *parameters: int) -> LogicalType:
    if not parameters:
        return parse_type(_OF_ANY_LENGTH.get(kind, kind))
    return parse_type(f"{kind}({', '.join(map(str, parameters))})")


def _interval(name: str) -> LogicalType:
    months = any(unit in name for unit in ("YEAR", "QUARTER", "MONTH"))
    return MONTHS if months else MILLISECONDS


def interval_type(
    start: IntervalField, end: IntervalField, precision: int | None = None, fraction: int | None = None
) -> YearMonthIntervalType | DayTimeIntervalType:
    """Return the type of intervals from one unit to another.

    `precision` is the number of digits of years or days.
    """
    if start.value <= IntervalField.MONTH.value:
        years = precision if start is IntervalField.YEAR and precision is not None else 2
        return YearMonthIntervalType(start, end, years)
    days = precision if start is IntervalField.DAY and precision is not None else 2
    digits = fraction if end is IntervalField.SECOND and fraction is not None else 6
    return DayTimeIntervalType(start, end, days, digits)

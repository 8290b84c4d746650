"""Which type can be cast to which: implicitly, explicitly, or without a cast at all (Flink: LogicalTypeCasts).

The rules are stated for roots and families in `_RULES`; what they do not say about types with parts, users' types and
nullability is in `supports_cast`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from firesteel.common.logical_types.constructed import RowType
from firesteel.common.logical_types.intervals import DayTimeIntervalType, YearMonthIntervalType
from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.roots import LogicalTypeFamily, LogicalTypeRoot, roots_of
from firesteel.common.logical_types.special import DistinctType, StructuredType
from firesteel.common.logical_types.strings import MAX_LENGTH, LengthType, VarBinaryType

_R = LogicalTypeRoot
_F = LogicalTypeFamily
_Roots = frozenset[LogicalTypeRoot]


@dataclass(frozen=True)
class _Rule:
    """The roots from which a cast to some root is implicit, and from which it must be written."""

    implicit: _Roots
    explicit: _Roots


_TEXT: Final = roots_of(_F.CHARACTER_STRING)
_NUMBERS: Final = roots_of(_F.NUMERIC)
_INTEGERS: Final = (_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT)
_CLOCKS: Final = frozenset({_R.TIMESTAMP_WITHOUT_TIME_ZONE, _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE})
_TO_NUMBER: Final = _NUMBERS | _TEXT | _CLOCKS | {_R.BOOLEAN}
_TO_EXACT: Final = _TO_NUMBER | roots_of(_F.INTERVAL)
_TO_CLOCK: Final = roots_of(_F.DATETIME) | _TEXT | _NUMBERS
_TO_TEXT: Final = roots_of(_F.PREDEFINED, _F.CONSTRUCTED) | {_R.STRUCTURED_TYPE, _R.RAW, _R.BITMAP}


def _rule(*implicit: LogicalTypeRoot, explicit: _Roots = frozenset()) -> _Rule:
    return _Rule(frozenset(implicit), explicit)


_RULES: Final[dict[LogicalTypeRoot, _Rule]] = {
    **{root: _rule(root) for root in _R},
    **{root: _rule() for root in (_R.RAW, _R.SYMBOL)},  # only equal types can be cast to each other
    _R.CHAR: _rule(_R.CHAR, explicit=_TO_TEXT),
    _R.VARCHAR: _rule(*_TEXT, explicit=_TO_TEXT),
    _R.BOOLEAN: _rule(_R.BOOLEAN, explicit=_TEXT | roots_of(_F.INTEGER_NUMERIC)),
    _R.BINARY: _rule(_R.BINARY, explicit=_TEXT | {_R.VARBINARY, _R.RAW}),
    _R.VARBINARY: _rule(_R.BINARY, _R.VARBINARY, explicit=_TEXT | {_R.RAW, _R.BITMAP}),
    _R.DECIMAL: _rule(*_NUMBERS, explicit=_TO_EXACT),
    **{root: _rule(*_INTEGERS[: place + 1], explicit=_TO_EXACT) for place, root in enumerate(_INTEGERS)},
    _R.FLOAT: _rule(*_INTEGERS, _R.FLOAT, _R.DECIMAL, explicit=_TO_NUMBER),
    _R.DOUBLE: _rule(*_NUMBERS, explicit=_TO_NUMBER),
    _R.DATE: _rule(
        _R.DATE, _R.TIMESTAMP_WITHOUT_TIME_ZONE, explicit=roots_of(_F.TIMESTAMP) | _TEXT
    ),
    _R.TIME_WITHOUT_TIME_ZONE: _rule(
        _R.TIME_WITHOUT_TIME_ZONE,
        _R.TIMESTAMP_WITHOUT_TIME_ZONE,
        explicit=roots_of(_F.TIME, _F.TIMESTAMP) | _TEXT,
    ),
    _R.TIMESTAMP_WITHOUT_TIME_ZONE: _rule(*_CLOCKS, explicit=_TO_CLOCK),
    _R.TIMESTAMP_WITH_TIME_ZONE: _rule(_R.TIMESTAMP_WITH_TIME_ZONE, explicit=roots_of(_F.DATETIME) | _TEXT),
    _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: _rule(*_CLOCKS, explicit=_TO_CLOCK),
    **{
        root: _rule(root, explicit=roots_of(_F.EXACT_NUMERIC) | _TEXT)
        for root in (_R.INTERVAL_YEAR_MONTH, _R.INTERVAL_DAY_TIME)
    },
}  # fmt: skip


def supports_implicit_cast(source: LogicalType, target: LogicalType) -> bool:
    """Return whether values of `source` are values of `target` without loss, so that no CAST need be written.

    >>> from firesteel.common.logical_types import BigIntType, IntType
    >>> supports_implicit_cast(IntType(), BigIntType()), supports_implicit_cast(BigIntType(), IntType())
    (True, False)
    """
    return _supports_cast(source, target, explicit=False)


def supports_explicit_cast(source: LogicalType, target: LogicalType) -> bool:
    """Return whether CAST(... AS target) is allowed for values of `source`; some of them may still fail or be cut.

    A nullable source can be cast to NOT NULL; the caller then knows that no value is NULL.
    """
    return _supports_cast(source, target, explicit=True)


def _supports_cast(source: LogicalType, target: LogicalType, *, explicit: bool) -> bool:
    if source.nullable and not target.nullable and not explicit:
        return False
    if source.copy(nullable=True) == target.copy(nullable=True) or source.root is _R.NULL:
        return True
    if isinstance(source, DistinctType) and isinstance(target, DistinctType):
        return False
    if isinstance(source, DistinctType):
        return _supports_cast(source.source, target, explicit=explicit)
    if isinstance(target, DistinctType):
        return _supports_cast(source, target.source, explicit=explicit)
    if source.has_family(_F.INTERVAL) and target.has_family(_F.EXACT_NUMERIC):
        return _is_number_of_units(source)
    if source.has_family(_F.EXACT_NUMERIC) and target.has_family(_F.INTERVAL):
        return _is_number_of_units(target)
    if _has_parts(source) or _has_parts(target):
        parts = _supports_cast_of_parts(source, target, explicit=explicit)
        return parts or (explicit and target.root in (_R.CHAR, _R.VARCHAR))
    if source.root is _R.BITMAP and isinstance(target, VarBinaryType) and target.length < MAX_LENGTH:
        return False  # its bytes cannot be cut
    rule = _RULES[target.root]
    return source.root in rule.implicit or (explicit and source.root in rule.explicit)


def _is_number_of_units(data_type: LogicalType) -> bool:
    """Return whether the type is an interval of one unit: only those are numbers."""
    return isinstance(data_type, YearMonthIntervalType | DayTimeIntervalType) and data_type.is_single_field


def _has_parts(data_type: LogicalType) -> bool:
    return data_type.has_family(_F.CONSTRUCTED) or isinstance(data_type, StructuredType)


def _supports_cast_of_parts(source: LogicalType, target: LogicalType, *, explicit: bool) -> bool:
    def each(left: LogicalType, right: LogicalType) -> bool:
        return _supports_cast(left, right, explicit=explicit)

    if isinstance(source, StructuredType) and isinstance(target, StructuredType):
        return _same_structure(source, target, each)
    if source.root is target.root or {source.root, target.root} == {_R.ROW, _R.STRUCTURED_TYPE}:
        return _each(source.children, target.children, each)
    return False


_Check = Callable[[LogicalType, LogicalType], bool]


def _each(sources: tuple[LogicalType, ...], targets: tuple[LogicalType, ...], check: _Check) -> bool:
    return len(sources) == len(targets) and all(map(check, sources, targets))


def _same_structure(source: StructuredType, target: StructuredType, check: _Check) -> bool:
    """Return whether two types of one class that no catalog knows agree in their parts."""
    if source.identifier or target.identifier or source.class_name != target.class_name:
        return False
    return _each(source.children, target.children, check)


def _interval_fits(source: LogicalType, target: LogicalType) -> bool:
    """Return whether the target has the digits; the units do not matter, as all are one number in store."""
    if isinstance(source, YearMonthIntervalType) and isinstance(target, YearMonthIntervalType):
        return source.year_precision <= target.year_precision
    if isinstance(source, DayTimeIntervalType) and isinstance(target, DayTimeIntervalType):
        return (
            source.day_precision <= target.day_precision
            and source.fractional_precision <= target.fractional_precision
        )
    return False


def supports_avoiding_cast(source: LogicalType, target: LogicalType) -> bool:
    """Return whether values of `source` can be used as `target` as they are: names of fields do not matter.

    >>> from firesteel.common.logical_types import CharType, IntType, VarCharType
    >>> supports_avoiding_cast(CharType(2), VarCharType(3)), supports_avoiding_cast(IntType(), IntType(nullable=False))
    (True, False)
    """
    if source.nullable and not target.nullable:
        return False
    if source.copy(nullable=True) == target.copy(nullable=True):
        return True
    if target.root in (_R.VARCHAR, _R.VARBINARY) and isinstance(source, LengthType):
        family = _F.CHARACTER_STRING if target.root is _R.VARCHAR else _F.BINARY_STRING
        fits = isinstance(target, LengthType) and source.length <= target.length
        return fits and source.has_family(family)
    if isinstance(source, StructuredType) and isinstance(target, StructuredType):
        return _same_structure(source, target, supports_avoiding_cast)
    if source.has_family(_F.INTERVAL) and target.has_family(_F.INTERVAL):
        return _interval_fits(source, target)
    like_rows = isinstance(source, RowType | StructuredType) and isinstance(target, RowType | StructuredType)
    if like_rows or (source.root is target.root and source.children):
        return _each(source.children, target.children, supports_avoiding_cast)
    return False

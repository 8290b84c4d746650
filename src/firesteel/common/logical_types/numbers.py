"""Numbers: DECIMAL, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.roots import LogicalTypeRoot

MAX_PRECISION: Final = 38
"""The largest number of digits of a DECIMAL."""


@dataclass(frozen=True)
class DecimalType(LogicalType):
    """A decimal number of up to `precision` digits (1 to 38), `scale` of them after the point.

    >>> str(DecimalType(10, 2))
    'DECIMAL(10, 2)'
    """

    root = LogicalTypeRoot.DECIMAL
    precision: int = 10
    scale: int = 0

    def __post_init__(self) -> None:
        self._require(
            1 <= self.precision <= MAX_PRECISION,
            f"a precision between 1 and {MAX_PRECISION} (both inclusive)",
            self.precision,
        )
        self._require(
            0 <= self.scale <= self.precision,
            f"a scale between 0 and the precision {self.precision} (both inclusive)",
            self.scale,
        )

    def _text(self, *, serializable: bool) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


@dataclass(frozen=True)
class PlainNumberType(LogicalType):
    """The common part of the numbers without parameters; `precision` is their number of decimal digits."""

    precision: ClassVar[int]
    _name: ClassVar[str]

    def _text(self, *, serializable: bool) -> str:
        return self._name


@dataclass(frozen=True)
class IntegerNumberType(PlainNumberType):
    """The common part of the whole numbers of `bits` bits; arithmetic wraps around, as in Java."""

    bits: ClassVar[int]
    scale: ClassVar[int] = 0


@dataclass(frozen=True)
class TinyIntType(IntegerNumberType):
    """A whole number of 8 bits."""

    root = LogicalTypeRoot.TINYINT
    bits = 8
    precision = 3
    _name = "TINYINT"


@dataclass(frozen=True)
class SmallIntType(IntegerNumberType):
    """A whole number of 16 bits."""

    root = LogicalTypeRoot.SMALLINT
    bits = 16
    precision = 5
    _name = "SMALLINT"


@dataclass(frozen=True)
class IntType(IntegerNumberType):
    """A whole number of 32 bits."""

    root = LogicalTypeRoot.INTEGER
    bits = 32
    precision = 10
    _name = "INT"


@dataclass(frozen=True)
class BigIntType(IntegerNumberType):
    """A whole number of 64 bits."""

    root = LogicalTypeRoot.BIGINT
    bits = 64
    precision = 19
    _name = "BIGINT"


@dataclass(frozen=True)
class FloatType(PlainNumberType):
    """A floating-point number of 32 bits."""

    root = LogicalTypeRoot.FLOAT
    precision = 7
    _name = "FLOAT"


@dataclass(frozen=True)
class DoubleType(PlainNumberType):
    """A floating-point number of 64 bits."""

    root = LogicalTypeRoot.DOUBLE
    precision = 15
    _name = "DOUBLE"

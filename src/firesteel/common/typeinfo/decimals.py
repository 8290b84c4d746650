"""The type of a decimal number of a precision (Flink: org.apache.flink.table.runtime.typeutils.BigDecimalTypeInfo)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from firesteel.common.java_numbers import fitted
from firesteel.common.typeinfo.basic import BasicType, BasicTypeInfo
from firesteel.common.typeinfo.information import Convert, mismatch


class BigDecimalTypeInfo(BasicTypeInfo):
    """A decimal.Decimal of at most `precision` digits, `scale` of them behind the point; a value may be None.

    Values are rounded half up, as in Flink. Formats of files write it as DECIMAL(precision, scale).

    >>> BigDecimalTypeInfo(4, 1).coerce("1.25")
    Decimal('1.3')
    """

    def __init__(self, precision: int, scale: int) -> None:
        super().__init__(BasicType.BIG_DEC)
        self.precision = precision
        self.scale = scale

    def schema(self) -> dict[str, Any]:
        """Return the type's name in Types with its digits, as a schema."""
        return {**super().schema(), "precision": self.precision, "scale": self.scale}

    def _conforms(self, variable: str) -> None:
        return None

    def _converter(self) -> Convert:
        convert = super()._converter()
        return lambda value: rounded(convert(value), self.precision, self.scale)

    def _identity(self) -> Any:
        return super()._identity(), self.precision, self.scale

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "precision": self.precision, "scale": self.scale}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.precision, self.scale = state["precision"], state["scale"]


def rounded(value: Decimal | None, precision: int, scale: int) -> Decimal | None:
    """Return a number with so many digits behind the point. Raises TypeMismatchError if it has too many before it.

    >>> rounded(Decimal("1.5"), 2, 0)
    Decimal('2')
    """
    if value is None:
        return None
    found = fitted(value, precision, scale) if value.is_finite() else None
    if found is None:
        raise mismatch(f"a number of DECIMAL({precision}, {scale})", value)
    return found

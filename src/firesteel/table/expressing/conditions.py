"""Comparisons and logic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firesteel.table.expressing.operand import Operand

if TYPE_CHECKING:
    from firesteel.table.expression import Expression


class Comparisons(Operand):
    """Comparisons and logic."""

    def __lt__(self, other: Any) -> Expression[bool]:
        """Return whether the value is less than another."""
        return self._call("lessThan", other)

    def __gt__(self, other: Any) -> Expression[bool]:
        """Return whether the value is greater than another."""
        return self._call("greaterThan", other)

    def __le__(self, other: Any) -> Expression[bool]:
        """Return whether the value is at most another."""
        return self._call("lessThanOrEqual", other)

    def __ge__(self, other: Any) -> Expression[bool]:
        """Return whether the value is at least another."""
        return self._call("greaterThanOrEqual", other)

    def __and__(self, other: Any) -> Expression[bool]:
        """Return whether both are true."""
        return self._call("and", other)

    def __or__(self, other: Any) -> Expression[bool]:
        """Return whether one of both is true."""
        return self._call("or", other)

    def __rand__(self, other: Any) -> Expression[bool]:
        """Return whether both are true."""
        return self._call("and", other)

    def __ror__(self, other: Any) -> Expression[bool]:
        """Return whether one of both is true."""
        return self._call("or", other)

    def __invert__(self) -> Expression[bool]:
        """Return whether the value is not true, as PyFlink does: true for NULL."""
        return self._call("isNotTrue")

    def between(self, lower_bound: Any, upper_bound: Any) -> Expression[bool]:
        """Return whether the value is between two bounds, which belong to it."""
        return self._call("between", lower_bound, upper_bound)

    def not_between(self, lower_bound: Any, upper_bound: Any) -> Expression[bool]:
        """Return whether the value is below or above two bounds."""
        return self._call("notBetween", lower_bound, upper_bound)

    def then(self, if_true: Any, if_false: Any) -> Expression[Any]:
        """Return one of two values, as this one is true or not."""
        return self._call("ifThenElse", if_true, if_false)

    def if_null(self, null_replacement: Any) -> Expression[Any]:
        """Return the value, or another one instead of NULL."""
        return self._call("IFNULL", null_replacement)

    @property
    def is_null(self) -> Expression[bool]:
        """Return whether the value is NULL."""
        return self._call("isNull")

    @property
    def is_not_null(self) -> Expression[bool]:
        """Return whether the value is not NULL."""
        return self._call("isNotNull")

    @property
    def is_true(self) -> Expression[bool]:
        """Return whether the value is true."""
        return self._call("isTrue")

    @property
    def is_false(self) -> Expression[bool]:
        """Return whether the value is false."""
        return self._call("isFalse")

    @property
    def is_not_true(self) -> Expression[bool]:
        """Return whether the value is false or NULL."""
        return self._call("isNotTrue")

    @property
    def is_not_false(self) -> Expression[bool]:
        """Return whether the value is true or NULL."""
        return self._call("isNotFalse")

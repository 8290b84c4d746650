"""Arithmetic and functions of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firesteel.table.expressing.operand import Operand, given

if TYPE_CHECKING:
    from firesteel.table.expression import Expression


class Arithmetic(Operand):
    """Numbers."""

    def __add__(self, other: Any) -> Expression[Any]:
        """Return the sum, or both texts one after the other."""
        return self._call("plus", other)

    def __sub__(self, other: Any) -> Expression[Any]:
        """Return the difference."""
        return self._call("minus", other)

    def __mul__(self, other: Any) -> Expression[Any]:
        """Return the product."""
        return self._call("times", other)

    def __truediv__(self, other: Any) -> Expression[Any]:
        """Return the quotient."""
        return self._call("divide", other)

    def __mod__(self, other: Any) -> Expression[Any]:
        """Return the remainder."""
        return self._call("mod", other)

    def __pow__(self, other: Any) -> Expression[Any]:
        """Return the power."""
        return self._call("power", other)

    def __radd__(self, other: Any) -> Expression[Any]:
        """Return the sum, or both texts one after the other."""
        return self._after("plus", other)

    def __rsub__(self, other: Any) -> Expression[Any]:
        """Return the difference."""
        return self._after("minus", other)

    def __rmul__(self, other: Any) -> Expression[Any]:
        """Return the product."""
        return self._call("times", other)

    def __rtruediv__(self, other: Any) -> Expression[Any]:
        """Return the quotient."""
        return self._after("divide", other)

    def __rmod__(self, other: Any) -> Expression[Any]:
        """Return the remainder."""
        return self._after("mod", other)

    def __rpow__(self, other: Any) -> Expression[Any]:
        """Return the power."""
        return self._after("power", other)

    def __neg__(self) -> Expression[Any]:
        """Return the value with the other sign."""
        return self._call("minusPrefix")

    def __abs__(self) -> Expression[Any]:
        """Return the value without its sign."""
        return self._call("abs")

    @property
    def exp(self) -> Expression[float]:
        """Return e to the power of the value."""
        return self._call("exp")

    @property
    def log10(self) -> Expression[float]:
        """Return the logarithm to base 10."""
        return self._call("log10")

    @property
    def log2(self) -> Expression[float]:
        """Return the logarithm to base 2."""
        return self._call("log2")

    @property
    def ln(self) -> Expression[float]:
        """Return the natural logarithm."""
        return self._call("ln")

    def log(self, base: Any = None) -> Expression[float]:
        """Return the logarithm, the natural one without a base."""
        return self._after("log", *given(base))

    @property
    def cosh(self) -> Expression[float]:
        """Return the hyperbolic cosine."""
        return self._call("cosh")

    @property
    def sinh(self) -> Expression[float]:
        """Return the hyperbolic sine."""
        return self._call("sinh")

    @property
    def sin(self) -> Expression[float]:
        """Return the sine."""
        return self._call("sin")

    @property
    def cos(self) -> Expression[float]:
        """Return the cosine."""
        return self._call("cos")

    @property
    def tan(self) -> Expression[float]:
        """Return the tangent."""
        return self._call("tan")

    @property
    def cot(self) -> Expression[float]:
        """Return the cotangent."""
        return self._call("cot")

    @property
    def asin(self) -> Expression[float]:
        """Return the arc sine."""
        return self._call("asin")

    @property
    def acos(self) -> Expression[float]:
        """Return the arc cosine."""
        return self._call("acos")

    @property
    def atan(self) -> Expression[float]:
        """Return the arc tangent."""
        return self._call("atan")

    @property
    def tanh(self) -> Expression[float]:
        """Return the hyperbolic tangent."""
        return self._call("tanh")

    @property
    def degrees(self) -> Expression[float]:
        """Return radians as degrees."""
        return self._call("degrees")

    @property
    def radians(self) -> Expression[float]:
        """Return degrees as radians."""
        return self._call("radians")

    @property
    def sqrt(self) -> Expression[float]:
        """Return the square root."""
        return self._call("sqrt")

    @property
    def abs(self) -> Expression[Any]:
        """Return the value without its sign."""
        return self._call("abs")

    @property
    def sign(self) -> Expression[Any]:
        """Return -1, 0 or 1, as the value is below, at or above 0."""
        return self._call("sign")

    def round(self, places: Any) -> Expression[Any]:
        """Return the value with so many digits after the point."""
        return self._call("round", places)

    def truncate(self, n: Any = 0) -> Expression[Any]:
        """Return the value without the digits after the n-th one behind the point."""
        return self._call("truncate", n)

    @property
    def bin(self) -> Expression[str]:
        """Return a whole number as the text of its bits."""
        return self._call("bin")

    @property
    def hex(self) -> Expression[str]:
        """Return a number or the bytes of a text as hexadecimal digits."""
        return self._call("hex")

    @property
    def unhex(self) -> Expression[Any]:
        """Return the bytes that hexadecimal digits stand for."""
        return self._call("UNHEX")

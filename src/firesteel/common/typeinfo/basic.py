"""Numbers, text and truth values (Flink: BasicTypeInfo)."""

# ruff: noqa: N802 - the factories have PyFlink's names

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any, Final, NamedTuple

from firesteel.common.time import Instant
from firesteel.common.typeinfo.information import Convert, TypeInformation, mismatch
from firesteel.common.typeinfo.java_text import double_text, float32, float_text, instant_text


class BasicType(Enum):
    """The basic types; the values are the names that Flink shows."""

    STRING = "String"
    BYTE = "Byte"
    BOOLEAN = "Boolean"
    SHORT = "Short"
    INT = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    CHAR = "Char"
    BIG_INT = "BigInteger"
    BIG_DEC = "BigDecimal"
    INSTANT = "Instant"


_TEXT = (str, bytes, bytearray)


def _integer(name: str, bits: int) -> Convert:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1

    def convert(value: Any) -> int:
        number = _whole(name, value)
        if not low <= number <= high:
            raise mismatch(f"{name} between {low} and {high}", value)
        return number

    return convert


def _whole(name: str, value: Any) -> int:
    try:
        if not isinstance(value, _TEXT):
            return int(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise mismatch(name, value)


def _big_integer(value: Any) -> int | None:
    return None if value is None else _whole("a BIG_INT", value)


def _double(value: Any) -> float:
    try:
        if not isinstance(value, _TEXT):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise mismatch("a floating-point number", value)


def _boolean(value: Any) -> bool:
    number = _whole("a BOOLEAN", value)
    if not 0 <= number <= 255:
        raise mismatch("a BOOLEAN", value)
    return number != 0


def _string(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return str.__str__(value)
    raise mismatch("a STRING", value)


def _char(value: Any) -> str:
    if isinstance(value, str) and len(value) == 1:
        return str.__str__(value)
    raise mismatch("a CHAR, a text of one character", value)


def _decimal(value: Any) -> Decimal | None:
    if value is None:
        return None
    try:
        return Decimal(str(value))
    except InvalidOperation:
        raise mismatch("a BIG_DEC", value) from None


def _instant(value: Any) -> Instant | None:
    if value is None:
        return None
    if isinstance(value, Instant):
        return Instant(value.seconds, value.nanos)
    raise mismatch("an INSTANT, a firesteel.common.Instant", value)


def _big_integer_to_wire(value: int | None) -> int | bytes | None:
    if value is None or -(2**63) <= value < 2**63:
        return value
    return value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)


def _big_integer_from_wire(data: int | bytes | None) -> int | None:
    return int.from_bytes(data, "big", signed=True) if isinstance(data, bytes) else data


def _instant_to_wire(value: Instant | None) -> tuple[int, int] | None:
    return None if value is None else (value.seconds, value.nanos)


def _instant_from_wire(data: list[int] | None) -> Instant | None:
    return None if data is None else Instant(*data)


def _decimal_to_wire(value: Decimal | None) -> str | None:
    return None if value is None else str(value)


class _Basic(NamedTuple):
    """The behaviour of one basic type; `conforms` has a `{0}` in place of the variable."""

    conforms: str | None
    convert: Convert
    text: Callable[[Any], str]
    to_wire: Convert | None = None
    from_wire: Convert | None = None


def _in_range(bits: int) -> str:
    return f"type({{0}}) is int and {-(2 ** (bits - 1))} <= {{0}} <= {2 ** (bits - 1) - 1}"


def _boolean_text(value: bool) -> str:
    return "true" if value else "false"


_BASICS: Final[dict[BasicType, _Basic]] = {
    BasicType.STRING: _Basic("type({0}) is str", _string, str),
    BasicType.BYTE: _Basic(_in_range(8), _integer("a BYTE", 8), str),
    BasicType.BOOLEAN: _Basic("type({0}) is bool", _boolean, _boolean_text),
    BasicType.SHORT: _Basic(_in_range(16), _integer("a SHORT", 16), str),
    BasicType.INT: _Basic(_in_range(32), _integer("an INT", 32), str),
    BasicType.LONG: _Basic(_in_range(64), _integer("a LONG", 64), str),
    BasicType.FLOAT: _Basic(
        "type({0}) is float and float32({0}) == {0}", lambda value: float32(_double(value)), float_text
    ),
    BasicType.DOUBLE: _Basic("type({0}) is float", _double, double_text),
    BasicType.CHAR: _Basic("type({0}) is str and len({0}) == 1", _char, str),
    BasicType.BIG_INT: _Basic(
        "type({0}) is int", _big_integer, str, _big_integer_to_wire, _big_integer_from_wire
    ),
    BasicType.BIG_DEC: _Basic("type({0}) is Decimal", _decimal, str, _decimal_to_wire, _decimal),
    BasicType.INSTANT: _Basic(None, _instant, instant_text, _instant_to_wire, _instant_from_wire),
}


class BasicTypeInfo(TypeInformation):
    """A number, a text, a truth value or an instant.

    Values are coerced as Flink's Python coders do it: whole numbers are range-checked, and a fraction is cut off (`1.5`
    is the INT 1); any number becomes a DOUBLE or FLOAT, FLOAT with 32 bits; a BOOLEAN may be given as an int from 0 to
    255; a BIG_DEC as anything that prints as a decimal. STRING, BIG_INT, BIG_DEC and INSTANT take None. Beyond Flink's
    Python coders, a BIG_INT has no limit.

    >>> BasicTypeInfo.INT_TYPE_INFO().coerce(True), BasicTypeInfo.INT_TYPE_INFO().coerce(1.5)
    (1, 1)
    """

    def __init__(self, basic_type: BasicType) -> None:
        self._basic_type = basic_type
        self._basic = _BASICS[basic_type]

    @property
    def basic_type(self) -> BasicType:
        """Which basic type it is."""
        return self._basic_type

    def to_string(self, value: Any) -> str:
        """Return the value in Java's notation; `null` for None."""
        return "null" if value is None else self._basic.text(value)

    def schema(self) -> dict[str, Any]:
        """Return the type's name in Types, as a schema."""
        return {"type": self._basic_type.name}

    def _conforms(self, variable: str) -> str | None:
        template = self._basic.conforms
        return None if template is None else template.format(variable)

    def _converter(self) -> Convert:
        return self._basic.convert

    def _names(self) -> dict[str, Any]:
        return {"float32": float32, "Decimal": Decimal}

    def _to_wire(self) -> Convert | None:
        return self._basic.to_wire

    def _from_wire(self) -> Convert | None:
        return self._basic.from_wire

    def _identity(self) -> Any:
        return self._basic_type

    def __getstate__(self) -> dict[str, Any]:
        return {"_basic_type": self._basic_type}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._basic_type = state["_basic_type"]
        self._basic = _BASICS[self._basic_type]

    def __repr__(self) -> str:
        return self._basic_type.value

    @staticmethod
    def STRING_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of text."""
        return BasicTypeInfo(BasicType.STRING)

    @staticmethod
    def BOOLEAN_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of truth values."""
        return BasicTypeInfo(BasicType.BOOLEAN)

    @staticmethod
    def BYTE_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of a signed whole number of 8 bits."""
        return BasicTypeInfo(BasicType.BYTE)

    @staticmethod
    def SHORT_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of a signed whole number of 16 bits."""
        return BasicTypeInfo(BasicType.SHORT)

    @staticmethod
    def INT_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of a signed whole number of 32 bits."""
        return BasicTypeInfo(BasicType.INT)

    @staticmethod
    def LONG_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of a signed whole number of 64 bits."""
        return BasicTypeInfo(BasicType.LONG)

    @staticmethod
    def FLOAT_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of a floating-point number of 32 bits."""
        return BasicTypeInfo(BasicType.FLOAT)

    @staticmethod
    def DOUBLE_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of a floating-point number of 64 bits."""
        return BasicTypeInfo(BasicType.DOUBLE)

    @staticmethod
    def CHAR_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of a text of one character."""
        return BasicTypeInfo(BasicType.CHAR)

    @staticmethod
    def BIG_INT_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of a whole number of any size."""
        return BasicTypeInfo(BasicType.BIG_INT)

    @staticmethod
    def BIG_DEC_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of a decimal.Decimal."""
        return BasicTypeInfo(BasicType.BIG_DEC)

    @staticmethod
    def INSTANT_TYPE_INFO() -> InstantTypeInfo:
        """Return the type of a firesteel.common.Instant."""
        return InstantTypeInfo(BasicType.INSTANT)


class InstantTypeInfo(BasicTypeInfo):
    """A point in time with nanoseconds."""

    def need_conversion(self) -> bool:
        """Return True: instants are converted."""
        return True

    def to_internal_type(self, obj: Instant) -> int:
        """Return the microseconds since the epoch, to the millisecond."""
        return obj.to_epoch_milli() * 1000

    def from_internal_type(self, obj: int) -> Instant:
        """Return the instant that many microseconds after the epoch."""
        return Instant.of_epoch_milli(obj // 1000)

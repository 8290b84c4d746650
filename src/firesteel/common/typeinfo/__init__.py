"""The types that you can declare for a stream or a state; `Types` creates them (PyFlink: pyflink.common.typeinfo)."""

# ruff: noqa: N802 - the factories have PyFlink's names

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from firesteel.common.errors import ConfigurationError
from firesteel.common.typeinfo.basic import BasicType, BasicTypeInfo, InstantTypeInfo
from firesteel.common.typeinfo.collections import (
    BasicArrayTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
)
from firesteel.common.typeinfo.composite import RowTypeInfo, TupleTypeInfo
from firesteel.common.typeinfo.information import Convert, Part, TypeInformation
from firesteel.common.typeinfo.temporal import (
    DateTypeInfo,
    LocalTimeTypeInfo,
    SqlTimeTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
)

__all__ = [
    "BasicArrayTypeInfo",
    "BasicType",
    "BasicTypeInfo",
    "DateTypeInfo",
    "ExternalTypeInfo",
    "InstantTypeInfo",
    "ListTypeInfo",
    "LocalTimeTypeInfo",
    "MapTypeInfo",
    "ObjectArrayTypeInfo",
    "PickledBytesTypeInfo",
    "PrimitiveArrayTypeInfo",
    "RowTypeInfo",
    "SqlTimeTypeInfo",
    "TimeTypeInfo",
    "TimestampTypeInfo",
    "TupleTypeInfo",
    "TypeInformation",
    "Types",
    "from_schema",
]


class ExternalTypeInfo(TypeInformation):
    """A type of the Table API; here it behaves like the type within."""

    def __init__(self, type_info: TypeInformation) -> None:
        self._type_info = type_info

    @property
    def is_pickled(self) -> bool:
        """Whether the type within is untyped."""
        return self._type_info.is_pickled

    def to_string(self, value: Any) -> str:
        """Return the text that the type within has for a value."""
        return self._type_info.to_string(value)

    def to_print_string(self, value: Any) -> str:
        """Return the text that printing shows, as the type within has it."""
        return self._type_info.to_print_string(value)

    def schema(self) -> dict[str, Any]:
        """Return the schema of the type within, marked as external."""
        return {"type": "EXTERNAL", "element": self._type_info.schema()}

    def _conforms(self, variable: str) -> str | None:
        return self._type_info._conforms(variable)

    def _names(self) -> dict[str, Any]:
        return self._type_info._names()

    def _converter(self) -> Convert:
        return self._type_info._converter()

    def _parts(self, value: Any) -> Iterator[Part]:
        return self._type_info._parts(value)

    def _to_wire(self) -> Convert | None:
        return self._type_info._to_wire()

    def _from_wire(self) -> Convert | None:
        return self._type_info._from_wire()

    def _identity(self) -> Any:
        return self._type_info

    def __repr__(self) -> str:
        return f"ExternalTypeInfo<{self._type_info}>"


class Types:
    """Creates the types of streams and states, with PyFlink's names.

    >>> Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
    RowTypeInfo(name: String, age: Integer)
    """

    @staticmethod
    def STRING() -> TypeInformation:
        """Return the type of text; a value may be None."""
        return BasicTypeInfo.STRING_TYPE_INFO()

    @staticmethod
    def BYTE() -> TypeInformation:
        """Return the type of a whole number from -128 to 127."""
        return BasicTypeInfo.BYTE_TYPE_INFO()

    @staticmethod
    def BOOLEAN() -> TypeInformation:
        """Return the type of truth values."""
        return BasicTypeInfo.BOOLEAN_TYPE_INFO()

    @staticmethod
    def SHORT() -> TypeInformation:
        """Return the type of a whole number from -32768 to 32767."""
        return BasicTypeInfo.SHORT_TYPE_INFO()

    @staticmethod
    def INT() -> TypeInformation:
        """Return the type of a whole number from -2**31 to 2**31 - 1."""
        return BasicTypeInfo.INT_TYPE_INFO()

    @staticmethod
    def LONG() -> TypeInformation:
        """Return the type of a whole number from -2**63 to 2**63 - 1."""
        return BasicTypeInfo.LONG_TYPE_INFO()

    @staticmethod
    def FLOAT() -> TypeInformation:
        """Return the type of a floating-point number of 32 bits."""
        return BasicTypeInfo.FLOAT_TYPE_INFO()

    @staticmethod
    def DOUBLE() -> TypeInformation:
        """Return the type of a floating-point number of 64 bits."""
        return BasicTypeInfo.DOUBLE_TYPE_INFO()

    @staticmethod
    def CHAR() -> TypeInformation:
        """Return the type of a text of one character."""
        return BasicTypeInfo.CHAR_TYPE_INFO()

    @staticmethod
    def BIG_INT() -> TypeInformation:
        """Return the type of a whole number of any size; a value may be None."""
        return BasicTypeInfo.BIG_INT_TYPE_INFO()

    @staticmethod
    def BIG_DEC() -> TypeInformation:
        """Return the type of a decimal.Decimal; a value may be None."""
        return BasicTypeInfo.BIG_DEC_TYPE_INFO()

    @staticmethod
    def INSTANT() -> TypeInformation:
        """Return the type of a firesteel.common.Instant; a value may be None."""
        return BasicTypeInfo.INSTANT_TYPE_INFO()

    @staticmethod
    def SQL_DATE() -> TypeInformation:
        """Return the type of a datetime.date; a value may be None."""
        return SqlTimeTypeInfo.DATE()

    @staticmethod
    def SQL_TIME() -> TypeInformation:
        """Return the type of a datetime.time to the millisecond; a value may be None."""
        return SqlTimeTypeInfo.TIME()

    @staticmethod
    def SQL_TIMESTAMP() -> TypeInformation:
        """Return the type of a datetime.datetime without zone to the millisecond; a value may be None."""
        return SqlTimeTypeInfo.TIMESTAMP()

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation:
        """Return the type of any Python object."""
        return PickledBytesTypeInfo()

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """Return the type of a Row with fields f0, f1, ... of these types; fields may be None, the row may not."""
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(field_names: Sequence[str], field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """Return the type of a Row with fields of these names and types; fields may be None, the row may not."""
        return RowTypeInfo(field_types, field_names)

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation]) -> TupleTypeInfo:
        """Return the type of a tuple with fields of the given types."""
        return TupleTypeInfo(field_types)

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation) -> PrimitiveArrayTypeInfo:
        """Return the type of a list of numbers, characters or truth values, never None; of BYTE, a bytes object."""
        return PrimitiveArrayTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """Return the type of a list of numbers, truth values or texts; elements may be None."""
        return BasicArrayTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """Return the type of a list of values of any type; elements may be None."""
        return ObjectArrayTypeInfo(element_type)

    @staticmethod
    def MAP(key_type_info: TypeInformation, value_type_info: TypeInformation) -> TypeInformation:
        """Return the type of a dict; values may be None."""
        return MapTypeInfo(key_type_info, value_type_info)

    @staticmethod
    def LIST(element_type_info: TypeInformation) -> TypeInformation:
        """Return the type of a list."""
        return ListTypeInfo(element_type_info)


_SINGLE: dict[str, Callable[[], TypeInformation]] = {
    **{name: getattr(Types, name) for name in BasicType.__members__},
    **{
        name: getattr(Types, name) for name in ("SQL_DATE", "SQL_TIME", "SQL_TIMESTAMP", "PICKLED_BYTE_ARRAY")
    },
}
_OF_ELEMENTS: dict[str, Callable[[TypeInformation], TypeInformation]] = {
    "PRIMITIVE_ARRAY": PrimitiveArrayTypeInfo,
    "BASIC_ARRAY": BasicArrayTypeInfo,
    "OBJECT_ARRAY": ObjectArrayTypeInfo,
    "LIST": ListTypeInfo,
    "EXTERNAL": ExternalTypeInfo,
}


def from_schema(schema: dict[str, Any]) -> TypeInformation:
    """Return the type whose `schema()` this is. Raises ConfigurationError if there is none.

    >>> from_schema({"type": "TUPLE", "fields": [{"type": "STRING"}, {"type": "LONG"}]})
    TupleTypeInfo(String, Long)
    """
    name = schema.get("type", "")
    if name in _SINGLE:
        return _SINGLE[name]()
    if name in _OF_ELEMENTS:
        return _OF_ELEMENTS[name](from_schema(schema["element"]))
    if name in LocalTimeTypeInfo.TimeType.__members__:
        return LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType[name])
    if name == "MAP":
        return MapTypeInfo(from_schema(schema["key"]), from_schema(schema["value"]))
    if name in ("TUPLE", "ROW"):
        fields = [from_schema(field) for field in schema["fields"]]
        return TupleTypeInfo(fields) if name == "TUPLE" else RowTypeInfo(fields, schema["names"])
    raise ConfigurationError("a type's schema requires a known type name", got=repr(name))

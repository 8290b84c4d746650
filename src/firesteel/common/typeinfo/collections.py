"""Arrays, lists, maps, and values without a declared structure.

Flink: PrimitiveArrayTypeInfo, BasicArrayTypeInfo, ObjectArrayTypeInfo, ListTypeInfo, MapTypeInfo,
PickledByteArrayTypeInfo.
"""

from __future__ import annotations

import datetime as dt
import decimal
import pickle
from collections.abc import Callable, Iterator
from typing import Any, Final

from firesteel.common import pickles
from firesteel.common.errors import ProgramError, SerializationError
from firesteel.common.typeinfo.basic import BasicType, BasicTypeInfo
from firesteel.common.typeinfo.composite import checked
from firesteel.common.typeinfo.information import Convert, GeneratedCode, Part, TypeInformation, mismatch

_PRIMITIVES: Final = frozenset(
    BasicType[name] for name in ("BOOLEAN", "BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "CHAR")
)


def _bytes(value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise mismatch("bytes", value)


class _SequenceTypeInfo(TypeInformation):
    """A list whose elements have one type; of BYTE it is a bytes object unless elements may be None."""

    _schema_name: str
    _nullable = False

    def __init__(self, element_type: TypeInformation) -> None:
        self._element_type = checked([element_type], f"Types.{self._schema_name}")[0]
        self._is_bytes = not self._nullable and element_type == BasicTypeInfo(BasicType.BYTE)

    @property
    def element_type(self) -> TypeInformation:
        """The type of the elements."""
        return self._element_type

    def to_string(self, value: Any) -> str:
        """Return `[1, 2]`."""
        if value is None:
            return "null"
        if self._is_bytes:
            return str([byte - 256 if byte > 127 else byte for byte in value])
        text = self._element_type.to_string
        return f"[{', '.join('null' if item is None else text(item) for item in value)}]"

    def schema(self) -> dict[str, Any]:
        """Return the schema of the elements."""
        return {"type": self._schema_name, "element": self._element_type.schema()}

    def _conforms(self, variable: str) -> str | None:
        return f"type({variable}) is bytes" if self._is_bytes else None

    def _converter(self) -> Convert:
        if self._is_bytes:
            return _bytes
        code = GeneratedCode()
        code.names["as_list"] = _as_list
        element = code.coerced(self._element_type, "item", nullable=self._nullable)
        return code.function(
            "def convert(value):\n"
            "    if type(value) is not list:\n"
            "        value = as_list(value)\n"
            f"    return [{element} for item in value]\n"
        )

    def _parts(self, value: Any) -> Iterator[Part]:
        if isinstance(value, (list, tuple)) and not self._is_bytes:
            for index, item in enumerate(value):
                if item is not None or not self._nullable:
                    yield f"[{index}]", self._element_type, item

    def _to_wire(self) -> Convert | None:
        return self._each(self._element_type._to_wire())

    def _from_wire(self) -> Convert | None:
        return self._each(self._element_type._from_wire())

    def _each(self, convert: Convert | None) -> Convert | None:
        if convert is None or self._is_bytes:
            return None
        if self._nullable:
            return lambda items: [None if item is None else convert(item) for item in items]
        return lambda items: list(map(convert, items))

    def _identity(self) -> Any:
        return self._element_type

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self._element_type}>"


def _as_list(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return value
    raise mismatch("a list", value)


def _require_basic(info: TypeInformation, allowed: frozenset[BasicType], who: str) -> None:
    if not isinstance(info, BasicTypeInfo) or info.basic_type not in allowed:
        raise ProgramError(
            "requires an element type that Java has such an array of",
            who=who,
            got=str(info),
            hint="use Types.OBJECT_ARRAY or Types.LIST",
        )


class PrimitiveArrayTypeInfo(_SequenceTypeInfo):
    """An array of numbers, characters or truth values, a list in Python; of BYTE it is a bytes object."""

    _schema_name = "PRIMITIVE_ARRAY"

    def __init__(self, element_type: TypeInformation) -> None:
        _require_basic(element_type, _PRIMITIVES, "Types.PRIMITIVE_ARRAY")
        super().__init__(element_type)


class BasicArrayTypeInfo(_SequenceTypeInfo):
    """An array of boxed basic values or texts, a list in Python; elements may be None."""

    _schema_name = "BASIC_ARRAY"
    _nullable = True

    def __init__(self, element_type: TypeInformation) -> None:
        _require_basic(element_type, _PRIMITIVES | {BasicType.STRING}, "Types.BASIC_ARRAY")
        super().__init__(element_type)


class ObjectArrayTypeInfo(_SequenceTypeInfo):
    """An array of values of any type, a list in Python; elements may be None."""

    _schema_name = "OBJECT_ARRAY"
    _nullable = True


class ListTypeInfo(_SequenceTypeInfo):
    """A list; of BYTE it is a bytes object, as in PyFlink."""

    _schema_name = "LIST"

    @property
    def elem_type(self) -> TypeInformation:
        """The type of the elements."""
        return self._element_type


class MapTypeInfo(TypeInformation):
    """A dict whose keys have one type and whose values have another; values may be None.

    >>> from firesteel.common import Types
    >>> info = Types.MAP(Types.STRING(), Types.DOUBLE())
    >>> info.to_string(info.coerce({"a": 1, "b": None}))
    '{a=1.0, b=null}'
    """

    def __init__(self, key_type_info: TypeInformation, value_type_info: TypeInformation) -> None:
        self._key_type_info, self._value_type_info = checked([key_type_info, value_type_info], "Types.MAP")

    @property
    def key_type(self) -> TypeInformation:
        """The type of the keys."""
        return self._key_type_info

    @property
    def value_type(self) -> TypeInformation:
        """The type of the values."""
        return self._value_type_info

    def to_string(self, value: Any) -> str:
        """Return `{a=1, b=2}`, in the dict's order."""
        if value is None:
            return "null"
        key_text, text = self._key_type_info.to_string, self._value_type_info.to_string
        entries = (f"{key_text(key)}={'null' if item is None else text(item)}" for key, item in value.items())
        return f"{{{', '.join(entries)}}}"

    def schema(self) -> dict[str, Any]:
        """Return the schemas of keys and values."""
        return {"type": "MAP", "key": self._key_type_info.schema(), "value": self._value_type_info.schema()}

    def _conforms(self, variable: str) -> None:
        return None

    def _converter(self) -> Convert:
        code = GeneratedCode()
        code.names["as_dict"] = _as_dict
        key = code.coerced(self._key_type_info, "key")
        item = code.coerced(self._value_type_info, "item", nullable=True)
        return code.function(
            "def convert(value):\n"
            "    if type(value) is not dict:\n"
            "        value = as_dict(value)\n"
            f"    return {{{key}: {item} for key, item in value.items()}}\n"
        )

    def _parts(self, value: Any) -> Iterator[Part]:
        if isinstance(value, dict):
            for key, item in value.items():
                yield f" key {key!r}", self._key_type_info, key
                if item is not None:
                    yield f"[{key!r}]", self._value_type_info, item

    def _to_wire(self) -> Convert:
        to_key, to_item = self._key_type_info._to_wire(), self._value_type_info._to_wire()
        return lambda value: [
            (
                key if to_key is None else to_key(key),
                item if to_item is None or item is None else to_item(item),
            )
            for key, item in value.items()
        ]

    def _from_wire(self) -> Convert:
        from_key, from_item = self._key_type_info._from_wire(), self._value_type_info._from_wire()
        return lambda entries: {
            key if from_key is None else from_key(key): item
            if from_item is None or item is None
            else from_item(item)
            for key, item in entries
        }

    def _identity(self) -> Any:
        return (self._key_type_info, self._value_type_info)

    def __repr__(self) -> str:
        return f"MapTypeInfo<{self._key_type_info}, {self._value_type_info}>"


def _as_dict(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    raise mismatch("a dict", value)


_ATOMS: Final = frozenset(
    {type(None), bool, int, float, complex, str, bytes, decimal.Decimal, dt.date, dt.time,
     dt.datetime, dt.timedelta}
)  # fmt: skip


def dump(value: Any) -> bytes:
    """Pickle a value; by value if its class cannot be imported. Raises SerializationError."""
    try:
        return pickle.dumps(value, 5)
    except (pickle.PicklingError, AttributeError, TypeError):
        try:
            return pickles.dumps(value)
        except Exception as error:
            raise SerializationError(
                "requires values that can be pickled",
                who="type PickledByteArrayTypeInfo",
                got=f"{type(value).__name__} ({error})",
            ) from error


def _detached(value: Any) -> Any:
    return pickle.loads(dump(value))


class PickledBytesTypeInfo(TypeInformation):
    """Any Python object: the type of values that are not declared. It is printed as Python prints it.

    >>> from firesteel.common import Types
    >>> Types.PICKLED_BYTE_ARRAY().to_string([1, "a", None])
    "[1, 'a', None]"
    """

    @property
    def is_pickled(self) -> bool:
        """Always."""
        return True

    def to_string(self, value: Any) -> str:
        """Return Python's `str`, but bytes as Java shows an array of them: within a row Flink holds them as one.

        >>> from firesteel.common import Types
        >>> Types.PICKLED_BYTE_ARRAY().to_string(bytearray(b"a\\xff"))
        '[97, -1]'
        """
        if isinstance(value, bytes | bytearray):
            return f"[{', '.join(str(byte - 256 if byte > 127 else byte) for byte in value)}]"
        return str(value)

    def to_print_string(self, value: Any) -> str:
        """Return Python's `str`: PyFlink turns records of this type into text before it prints them."""
        return str(value)

    def schema(self) -> dict[str, Any]:
        """Return the type's name in Types, as a schema."""
        return {"type": "PICKLED_BYTE_ARRAY"}

    def _conforms(self, variable: str) -> str:
        return f"type({variable}) in atoms or type({variable}) is tuple and atoms.issuperset(map(type, {variable}))"

    def _names(self) -> dict[str, Any]:
        return {"atoms": _ATOMS}

    def _converter(self) -> Convert:
        return _detached

    def _to_wire(self) -> Convert:
        return dump

    def _from_wire(self) -> Convert:
        return pickle.loads

    def _make_encoder(self) -> Callable[[Any], bytes]:
        return dump

    def _make_decoder(self) -> Callable[[bytes], Any]:
        return pickle.loads

    def _identity(self) -> Any:
        return None

    def __repr__(self) -> str:
        return "PickledByteArrayTypeInfo"

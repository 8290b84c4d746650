"""TypeInformation: the effect of a declared type on a value, compiled into one fast function.

Flink serialises where a type is declared. The value comes back coerced (an INT is range-checked, a FLOAT loses the bits
that a Java float does not have, a row gets its field names) and independent of the original.

Every type has two parts, which `compile_coercer` joins into one generated function:

- `_conforms(variable)`: an expression that is true for values that can be returned unchanged: of exactly the right
  Python type, in range, immutable. None if there are no such values (a list is always copied).
- `_converter()`: a function for all other values; it converts, copies, or raises TypeMismatchError.

Contract: coercing is idempotent; `decode(encode(value)) == coerce(value)`; only the outermost coercer names the path of
a mismatch, by a second search after one was found.
"""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from firesteel.common.errors import TypeMismatchError, UnsupportedError

Convert = Callable[[Any], Any]
Part = tuple[str, "TypeInformation", Any]
"""The place of a part within a value (`[0]`, `.name`), its type, and the part."""

_packer = msgspec.msgpack.Encoder()
_unpacker = msgspec.msgpack.Decoder()


class TypeInformation(ABC):
    """The type of the values of a stream or a state.

    `str(info)` is PyFlink's text. Two are equal if their structures are; they are hashable and picklable.
    """

    _coercer: Convert | None = None
    _encoder: Callable[[Any], bytes] | None = None
    _decoder: Callable[[bytes], Any] | None = None

    @property
    def is_pickled(self) -> bool:
        """Whether values are arbitrary Python objects (Flink: PickledByteArrayTypeInfo)."""
        return False

    def coerce(self, value: Any) -> Any:
        """Return the value as it comes back from Flink's serialiser; its mutable parts are copies.

        Raises TypeMismatchError, which names the place within the value, the type and the part that was found there.

        >>> from firesteel.common import Types
        >>> Types.TUPLE([Types.STRING(), Types.FLOAT()]).coerce(["a", 0.1])
        ('a', 0.10000000149011612)
        """
        return self.compile_coercer()(value)

    def compile_coercer(self) -> Convert:
        """Return `coerce` as one function generated for this type, for callers that need it per record."""
        if self._coercer is None:
            code = GeneratedCode()
            code.names.update(info=self, located=_located, TypeMismatchError=TypeMismatchError)
            result = code.coerced(self, "value")
            self._coercer = code.function(
                "def coerce(value):\n"
                "    try:\n"
                f"        return {result}\n"
                "    except TypeMismatchError as mismatch:\n"
                "        raise located(info, value, mismatch) from None\n"
            )
        return self._coercer

    def encode(self, value: Any) -> bytes:
        """Return the coerced value as bytes; equal values may have different bytes. Raises TypeMismatchError."""
        return self.compile_encoder()(value)

    def decode(self, data: bytes) -> Any:
        """Return the value that was passed to `encode`, coerced.

        >>> from firesteel.common import Types
        >>> info = Types.LIST(Types.SQL_DATE())
        >>> import datetime
        >>> info.decode(info.encode([datetime.date(2020, 1, 1)]))
        [datetime.date(2020, 1, 1)]
        """
        return self.compile_decoder()(data)

    def compile_encoder(self) -> Callable[[Any], bytes]:
        """Return `encode` as one function, for callers that need it often."""
        if self._encoder is None:
            self._encoder = self._make_encoder()
        return self._encoder

    def compile_decoder(self) -> Callable[[bytes], Any]:
        """Return `decode` as one function, for callers that need it often."""
        if self._decoder is None:
            self._decoder = self._make_decoder()
        return self._decoder

    def _make_encoder(self) -> Callable[[Any], bytes]:
        coerce, to_wire, pack = self.compile_coercer(), self._to_wire(), _packer.encode

        def encode(value: Any) -> bytes:
            value = coerce(value)
            try:
                return pack(value if to_wire is None else to_wire(value))
            except UnicodeEncodeError as error:
                raise TypeMismatchError(
                    "requires text that UTF-8 can hold",
                    who=f"type {self}",
                    got=f"a lone surrogate: {error.object!r}",
                ) from None

        return encode

    def _make_decoder(self) -> Callable[[bytes], Any]:
        from_wire, unpack = self._from_wire(), _unpacker.decode
        if from_wire is None:
            return unpack
        return lambda data: from_wire(unpack(data))

    @abstractmethod
    def to_string(self, value: Any) -> str:
        """Return a coerced value in Java's notation, as Flink's sinks write it (Java: toString).

        >>> from firesteel.common import Row, Types
        >>> Types.TUPLE([Types.DOUBLE(), Types.ROW([Types.STRING(), Types.INT()])]).to_string((1e10, Row("a", None)))
        '(1.0E10,+I[a, null])'
        """

    def to_print_string(self, value: Any) -> str:
        """Return the text that PyFlink's `print()` shows for a record of this type.

        This is Java's notation, except for a stream of rows: PyFlink turns those into text in Python, without spaces.

        >>> from firesteel.common import Row, Types
        >>> info = Types.ROW([Types.STRING(), Types.INT()])
        >>> info.to_print_string(Row("a", None)), info.to_string(Row("a", None))
        ('+I[a,None]', '+I[a, null]')
        """
        return self.to_string(value)

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Return the type as plain data that fits into JSON; `firesteel.common.typeinfo.from_schema` reads it back."""

    @abstractmethod
    def _conforms(self, variable: str) -> str | None:
        """Return an expression that is true if `variable` can be returned unchanged, or None."""

    @abstractmethod
    def _converter(self) -> Convert:
        """Return a function for values that do not conform."""

    def _names(self) -> dict[str, Any]:
        """Return the names that the expression of `_conforms` uses, apart from builtins."""
        return {}

    def _parts(self, value: Any) -> Iterator[Part]:
        """Return the parts of a value of this kind, if it has any."""
        return iter(())

    def _to_wire(self) -> Convert | None:
        """Return a function from a coerced value to one for MessagePack; None if it already is one."""
        return None

    def _from_wire(self) -> Convert | None:
        """Return the inverse of `_to_wire`."""
        return None

    def need_conversion(self) -> bool:
        """Return whether PyFlink converts values of this type before it passes them to Java."""
        return False

    def to_internal_type(self, obj: Any) -> Any:
        """Return the value as PyFlink passes it to Java."""
        return obj

    def from_internal_type(self, obj: Any) -> Any:
        """Return the inverse of `to_internal_type`."""
        return obj

    def get_java_type_info(self) -> Any:
        """Not available: raises UnsupportedError."""
        raise UnsupportedError(
            "is not available", who=f"{type(self).__name__}.get_java_type_info", got="no JVM object behind it"
        )

    @abstractmethod
    def _identity(self) -> Any:
        """Return the key by which two types of one class are equal."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._identity()))

    def __getstate__(self) -> dict[str, Any]:
        generated = ("_coercer", "_encoder", "_decoder")
        return {name: value for name, value in self.__dict__.items() if name not in generated}


class GeneratedCode:
    """The names that one generated function uses."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}

    def coerced(self, info: TypeInformation, variable: str, *, nullable: bool = False) -> str:
        """Return an expression for the coerced value of `variable`; with `nullable`, None passes for every type."""
        converter = f"convert_{len(self.names)}"
        self.names[converter] = info._converter()
        conforms = info._conforms(variable)
        keep = [f"{variable} is None"] if nullable else []
        if conforms is not None:
            self.names.update(info._names())
            keep.append(conforms)
        if not keep:
            return f"{converter}({variable})"
        return f"({variable} if {' or '.join(keep)} else {converter}({variable}))"

    def function(self, source: str) -> Convert:
        """Return the function that `source` defines."""
        scope = dict(self.names)
        exec(
            compile(source, "<firesteel type>", "exec"), scope
        )  # the source consists of this package's templates only
        defined: Convert = scope[source.removeprefix("def ").partition("(")[0]]
        return defined


def mismatch(requirement: str, value: Any) -> TypeMismatchError:
    """Return the error for a value that does not meet a type's requirement ("a STRING")."""
    return TypeMismatchError(requirement, got=f"{type(value).__name__}: {reprlib.repr(value)}")


def _located(info: TypeInformation, value: Any, found: TypeMismatchError) -> TypeMismatchError:
    path, part, error = _locate(info, value)
    error = error or found
    where = f" at value{path}" if path else ""
    return TypeMismatchError(
        f"requires {error.requirement}{where}",
        who=f"type {info}",
        got=error.got,
        hint=error.hint or f"declare another type than {part}, or convert the value before it is emitted",
    )


def _locate(info: TypeInformation, value: Any) -> tuple[str, TypeInformation, TypeMismatchError | None]:
    for place, part, item in info._parts(value):
        error = _tried(part, item)
        if error is not None:
            path, inner, deeper = _locate(part, item)
            return place + path, inner, deeper or error
    return "", info, None


def _tried(info: TypeInformation, value: Any) -> TypeMismatchError | None:
    code = GeneratedCode()
    try:
        code.function(f"def attempt(value):\n    return {code.coerced(info, 'value')}\n")(value)
    except TypeMismatchError as error:
        return error
    return None

"""Text, bytes and truth values: CHAR, VARCHAR, BINARY, VARBINARY, BOOLEAN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.roots import LogicalTypeRoot

MAX_LENGTH: Final = 2**31 - 1
"""The largest length of text and bytes: the length of STRING and BYTES."""


@dataclass(frozen=True)
class LengthType(LogicalType):
    """The common part of text and bytes: a length in characters or bytes, from 1 to MAX_LENGTH.

    Literals of no characters have the length 0; such a type has no serializable text.
    """

    length: int = 1
    _unlimited: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        self._require(
            0 <= self.length <= MAX_LENGTH,
            f"a length between 1 and {MAX_LENGTH} (both inclusive)",
            self.length,
        )

    def _text(self, *, serializable: bool) -> str:
        if serializable and not self.length:
            raise self._no_text_error("a length of 0, which only literals have")
        if not serializable and self._unlimited and self.length == MAX_LENGTH:
            return self._unlimited
        return f"{self.root.name}({self.length})"


@dataclass(frozen=True)
class CharType(LengthType):
    """Text of exactly `length` characters.

    >>> CharType(3, nullable=False).as_serializable_string()
    'CHAR(3) NOT NULL'
    """

    root = LogicalTypeRoot.CHAR


@dataclass(frozen=True)
class VarCharType(LengthType):
    """Text of up to `length` characters; STRING is the longest.

    >>> str(STRING), STRING.as_serializable_string()
    ('STRING', 'VARCHAR(2147483647)')
    """

    root = LogicalTypeRoot.VARCHAR
    _unlimited = "STRING"


@dataclass(frozen=True)
class BinaryType(LengthType):
    """Exactly `length` bytes."""

    root = LogicalTypeRoot.BINARY


@dataclass(frozen=True)
class VarBinaryType(LengthType):
    """Up to `length` bytes; BYTES is the longest."""

    root = LogicalTypeRoot.VARBINARY
    _unlimited = "BYTES"


@dataclass(frozen=True)
class BooleanType(LogicalType):
    """TRUE or FALSE."""

    root = LogicalTypeRoot.BOOLEAN

    def _text(self, *, serializable: bool) -> str:
        return "BOOLEAN"


STRING: Final = VarCharType(MAX_LENGTH)
"""Text of any length."""

BYTES: Final = VarBinaryType(MAX_LENGTH)
"""Bytes of any length."""

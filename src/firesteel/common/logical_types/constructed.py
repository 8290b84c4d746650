"""Types made of other types: ARRAY, MULTISET, MAP, ROW."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from firesteel.common.logical_types.logical_type import LogicalType, escaped_identifier, escaped_text
from firesteel.common.logical_types.roots import LogicalTypeRoot


def text_of(data_type: LogicalType, *, serializable: bool) -> str:
    """Return the serializable text or the summary of a type."""
    return data_type.as_serializable_string() if serializable else data_type.as_summary_string()


@dataclass(frozen=True)
class _ElementsType(LogicalType):
    element: LogicalType

    @property
    def children(self) -> tuple[LogicalType, ...]:
        """Return the type of the elements."""
        return (self.element,)

    def _text(self, *, serializable: bool) -> str:
        return f"{self.root.name}<{text_of(self.element, serializable=serializable)}>"


@dataclass(frozen=True)
class ArrayType(_ElementsType):
    """A list of values of one type."""

    root = LogicalTypeRoot.ARRAY


@dataclass(frozen=True)
class MultisetType(_ElementsType):
    """Values of one type, each with the number of times it occurs; a dict from value to count in Python."""

    root = LogicalTypeRoot.MULTISET


@dataclass(frozen=True)
class MapType(LogicalType):
    """Keys of one type, each with a value of another.

    >>> from firesteel.common.logical_types import STRING, IntType
    >>> str(MapType(STRING, IntType(nullable=False)))
    'MAP<STRING, INT NOT NULL>'
    """

    root = LogicalTypeRoot.MAP
    key: LogicalType
    value: LogicalType

    @property
    def children(self) -> tuple[LogicalType, ...]:
        """Return the types of the keys and of the values."""
        return (self.key, self.value)

    def _text(self, *, serializable: bool) -> str:
        parts = [text_of(part, serializable=serializable) for part in self.children]
        return f"MAP<{', '.join(parts)}>"


class Field(NamedTuple):
    """A named part of a row or of a structured type, with a description if there is one."""

    name: str
    type: LogicalType
    description: str | None = None

    def text(self, *, serializable: bool) -> str:
        """Return name, type and description; a summary has `...` in place of the description."""
        text = f"{escaped_identifier(self.name)} {text_of(self.type, serializable=serializable)}"
        if self.description is None:
            return text
        return f"{text} {escaped_text(self.description) if serializable else escaped_text('...')}"


@dataclass(frozen=True)
class RowType(LogicalType):
    """A sequence of fields; their names are different and none is blank.

    >>> from firesteel.common.logical_types import BigIntType
    >>> str(RowType.of({"n": BigIntType()}))
    'ROW<`n` BIGINT>'
    """

    root = LogicalTypeRoot.ROW
    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        names = self.field_names
        self._require(all(map(str.strip, names)), "field names that are not blank", names)
        self._require(len(set(names)) == len(names), "field names that are all different", names)

    @staticmethod
    def of(fields: dict[str, LogicalType], *, nullable: bool = True) -> RowType:
        """Return a row of the given names and types, in their order."""
        return RowType(tuple(Field(name, part) for name, part in fields.items()), nullable=nullable)

    @property
    def children(self) -> tuple[LogicalType, ...]:
        """Return the types of the fields."""
        return tuple(part.type for part in self.fields)

    @property
    def field_names(self) -> list[str]:
        """Return the names of the fields."""
        return [part.name for part in self.fields]

    def _text(self, *, serializable: bool) -> str:
        return f"ROW<{', '.join(part.text(serializable=serializable) for part in self.fields)}>"

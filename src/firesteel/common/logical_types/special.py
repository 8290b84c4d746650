"""Types that users define, and types that have no place in the SQL standard."""

from __future__ import annotations

from dataclasses import dataclass, field

from firesteel.common.logical_types.constructed import Field
from firesteel.common.logical_types.logical_type import LogicalType, escaped_identifier, escaped_text
from firesteel.common.logical_types.roots import LogicalTypeRoot


@dataclass(frozen=True)
class ObjectIdentifier:
    """The full name of something in a catalog."""

    catalog: str
    database: str
    name: str

    def __str__(self) -> str:
        return ".".join(map(escaped_identifier, (self.catalog, self.database, self.name)))


@dataclass(frozen=True)
class DistinctType(LogicalType):
    """A type under another name: values are the source type's, but the two are not compared without a cast."""

    root = LogicalTypeRoot.DISTINCT_TYPE
    identifier: ObjectIdentifier
    source: LogicalType
    description: str | None = None

    @property
    def children(self) -> tuple[LogicalType, ...]:
        """Return the source type."""
        return (self.source,)

    def _text(self, *, serializable: bool) -> str:
        return str(self.identifier)


@dataclass(frozen=True)
class StructuredType(LogicalType):
    """A class with attributes; registered in a catalog (`identifier`), or known by `class_name` only.

    >>> from firesteel.common.logical_types import IntType
    >>> StructuredType((Field("n", IntType()),), class_name="shop.Order").as_serializable_string()
    "STRUCTURED<'shop.Order', `n` INT>"
    """

    root = LogicalTypeRoot.STRUCTURED_TYPE
    attributes: tuple[Field, ...]
    class_name: str | None = None
    identifier: ObjectIdentifier | None = None
    description: str | None = None

    def __post_init__(self) -> None:
        self._require(bool(self.class_name or self.identifier), "a class or a name in a catalog", "neither")

    @property
    def children(self) -> tuple[LogicalType, ...]:
        """Return the types of the attributes."""
        return tuple(part.type for part in self.attributes)

    def _text(self, *, serializable: bool) -> str:
        if self.identifier:
            return str(self.identifier)
        attributes = ", ".join(part.text(serializable=serializable) for part in self.attributes)
        return f"STRUCTURED<{escaped_text(self.class_name or '')}, {attributes}>"


@dataclass(frozen=True)
class RawType(LogicalType):
    """Python objects of a class that SQL cannot look into; `snapshot` describes how they are stored.

    >>> str(RawType("shop.Order", "pickle"))
    "RAW('shop.Order', '...')"
    """

    root = LogicalTypeRoot.RAW
    class_name: str
    snapshot: str

    def _text(self, *, serializable: bool) -> str:
        snapshot = self.snapshot if serializable else "..."
        return f"RAW({escaped_text(self.class_name)}, {escaped_text(snapshot)})"


@dataclass(frozen=True)
class NullType(LogicalType):
    """The type of an untyped NULL; it is always nullable."""

    root = LogicalTypeRoot.NULL

    def __post_init__(self) -> None:
        self._require(self.nullable, "to be nullable", "NOT NULL")

    def _text(self, *, serializable: bool) -> str:
        return "NULL"


@dataclass(frozen=True)
class SymbolType(LogicalType):
    """A word that changes what a function does, such as the LEADING of TRIM; only arguments have it."""

    root = LogicalTypeRoot.SYMBOL

    def _text(self, *, serializable: bool) -> str:
        if serializable:
            raise self._no_text_error("a symbol, which only arguments of functions are")
        return "SYMBOL"


@dataclass(frozen=True)
class DescriptorType(LogicalType):
    """The names of columns as an argument of a table function: DESCRIPTOR(ts)."""

    root = LogicalTypeRoot.DESCRIPTOR

    def _text(self, *, serializable: bool) -> str:
        return "DESCRIPTOR"


@dataclass(frozen=True)
class VariantType(LogicalType):
    """A value whose type is known per value only, such as parsed JSON."""

    root = LogicalTypeRoot.VARIANT

    def _text(self, *, serializable: bool) -> str:
        return "VARIANT"


@dataclass(frozen=True)
class BitmapType(LogicalType):
    """A set of 32-bit whole numbers, compressed."""

    root = LogicalTypeRoot.BITMAP

    def _text(self, *, serializable: bool) -> str:
        return "BITMAP"


@dataclass(frozen=True)
class UnresolvedType(LogicalType):
    """A name of a type that the catalog has not been asked for yet; `parts` are the parts of the name."""

    root = LogicalTypeRoot.UNRESOLVED
    parts: tuple[str, ...] = field()

    def _text(self, *, serializable: bool) -> str:
        name = ".".join(map(escaped_identifier, self.parts))
        if serializable:
            raise self._no_text_error("a name that is not resolved yet")
        return name

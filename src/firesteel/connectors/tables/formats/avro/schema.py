"""Schemas of Avro as a tree, without references by name (Avro 1.12, "Schema Declaration")."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from firesteel.common.errors import ConfigurationError, ProgramError, UnsupportedError

MISSING: Final = object()
"""The default of a field that has none."""

_NULL: Final = "null"


@dataclass(frozen=True, eq=False)
class AvroField:
    """A field of a record; `default` is as in JSON, or MISSING."""

    name: str
    type: AvroType
    default: Any = MISSING
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class AvroType:
    """A type, equal to itself alone: its `kind` is the word of Avro, such as 'long' or 'record'.

    `logical` is the name of its logical type. `parts` are the elements of an array, the values of a map, or the
    branches of a union. `default` is the symbol of an enum that stands for unknown ones.
    """

    kind: str
    name: str = ""
    logical: str | None = None
    precision: int = 0
    scale: int = 0
    size: int = 0
    symbols: tuple[str, ...] = ()
    default: str | None = None
    parts: tuple[AvroType, ...] = ()
    fields: tuple[AvroField, ...] = ()

    @property
    def short_name(self) -> str:
        """The name without its namespace."""
        return self.name.rpartition(".")[2]

    @property
    def may_be_null(self) -> bool:
        """Whether null is a value."""
        return self.kind == _NULL or any(part.kind == _NULL for part in self.parts if self.kind == "union")

    def without_null(self) -> AvroType:
        """Return the other branch of a union with null that has two, or the type itself."""
        if self.kind != "union":
            return self
        others = [part for part in self.parts if part.kind != _NULL]
        return others[0] if len(others) == 1 else self

    def walk(self) -> Iterator[AvroType]:
        """Yield this type and all within it."""
        yield self
        for part in (*self.parts, *(field.type for field in self.fields)):
            yield from part.walk()


def require_fastavro(who: str) -> None:
    """Raise ConfigurationError, with the command to run, if fastavro is not installed."""
    if importlib.util.find_spec("fastavro") is None:
        raise ConfigurationError(
            "requires fastavro, which is not installed", who=who, hint='pip install "firesteel[avro]"'
        )


def parse_schema(text: str, who: str, references: Sequence[str] = ()) -> AvroType:
    """Return the type of a schema as JSON, which may name types of other schemas.

    Raises ProgramError if it is none, UnsupportedError if it is recursive.

    >>> parse_schema('["null", {"type": "int", "logicalType": "date"}]', "t").without_null().logical
    'date'
    """
    return _type(checked_schema(text, who, references, expand=True), who)


def checked_schema(text: str, who: str, references: Sequence[str] = (), *, expand: bool = False) -> Any:
    """Return a schema as fastavro has it, which may refer to itself. Raises ProgramError if it is none.

    With `expand`, what is referred to stands in its place; fastavro does not read or write with such a schema.
    """
    from fastavro.schema import SchemaParseException, UnknownType
    from fastavro.schema import parse_schema as parsed

    named: dict[str, Any] = {}
    try:
        for other in references:
            parsed(json.loads(other), named_schemas=named)
        return parsed(json.loads(text), named_schemas=named, expand=expand)
    except (ValueError, KeyError, SchemaParseException, UnknownType) as error:
        raise ProgramError("requires a schema of Avro", who=who, got=f"{text[:500]} ({error})") from error


def _type(node: Any, who: str) -> AvroType:
    if isinstance(node, list):
        return AvroType("union", parts=tuple(_type(part, who) for part in node))
    if isinstance(node, str):
        return _single(node, who)
    kind = node["type"]
    if not isinstance(kind, str):
        return _type(kind, who)
    if kind == "record":
        fields = tuple(_field(field, who) for field in node["fields"])
        return AvroType("record", name=node["name"], fields=fields)
    if kind == "enum":
        symbols = tuple(node["symbols"])
        return AvroType("enum", name=node["name"], symbols=symbols, default=node.get("default"))
    if kind in ("array", "map"):
        return AvroType(kind, parts=(_type(node["items" if kind == "array" else "values"], who),))
    found = _single(kind, who)
    return AvroType(
        found.kind,
        name=node.get("name", ""),
        logical=node.get("logicalType"),
        precision=node.get("precision", 0),
        scale=node.get("scale", 0),
        size=node.get("size", 0),
    )


_SINGLE: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string", "fixed")


def _single(kind: str, who: str) -> AvroType:
    if kind not in _SINGLE:
        raise UnsupportedError("cannot have a schema that refers to itself", who=who, got=repr(kind))
    return AvroType(kind)


def _field(node: dict[str, Any], who: str) -> AvroField:
    default = node.get("default", MISSING)
    return AvroField(node["name"], _type(node["type"], who), default, tuple(node.get("aliases", ())))

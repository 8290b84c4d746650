"""The schema of a state as a manifest records it, and as text.

A schema is JSON-able: `kind` ("value", "list", "map", "reducing", "aggregating", "broadcast" or "timers"), its types
(`type`, or `key` and `value` of a map; each a type's `schema()`, None for untyped values), `ttl` if the state
expires, and once it is recorded `id`, `scope` and `name`. `ttl` is the result of `expiry.ttl_schema`; True is a time to
live whose length was not recorded.
"""

from __future__ import annotations

from typing import Any, Final

from firesteel.common.typeinfo.composite import row_names

Schema = dict[str, Any]

_PLACE: Final = ("id", "scope", "name")
_KINDS: Final = {
    "value": "ValueState",
    "list": "ListState",
    "map": "MapState",
    "reducing": "ReducingState",
    "aggregating": "AggregatingState",
    "broadcast": "BroadcastState",
}
_ARRAYS: Final = ("PRIMITIVE_ARRAY", "BASIC_ARRAY", "OBJECT_ARRAY", "LIST")


def declared_part(schema: Schema) -> Schema:
    """Return the part of a recorded schema that a descriptor has: kind, types and time to live."""
    return {field: part for field, part in schema.items() if field not in _PLACE}


def is_same(one: Schema, other: Schema) -> bool:
    """Return whether values stored with one schema can be read with the other unchanged.

    The length of the time to live does not matter, only whether there is one.

    >>> is_same({"kind": "value", "type": None, "ttl": True}, {"kind": "value", "type": None, "ttl": {"ms": 5}})
    True
    """
    return _without_duration(one) == _without_duration(other)


def ttl_text(schema: Schema) -> str:
    """Return how a state expires, in words; empty if it does not."""
    ttl = schema.get("ttl")
    if not ttl:
        return ""
    return f" with a TTL of {ttl['ms']} ms" if isinstance(ttl, dict) else " with a TTL"


def schema_text(schema: Schema) -> str:
    """Return a state's schema in the syntax of types.

    >>> schema_text({"kind": "map", "key": {"type": "STRING"}, "value": None, "ttl": {"ms": 5}})
    'MapState<STRING, PICKLED> with a TTL of 5 ms'
    """
    kind = _KINDS.get(schema["kind"])
    if kind is None:
        return str(schema["kind"])
    types = [type_text(schema[part]) for part in ("type", "key", "value") if part in schema]
    return f"{kind}<{', '.join(types)}>{ttl_text(schema)}"


def type_text(schema: dict[str, Any] | None) -> str:
    """Return a type in the syntax of SQL; an untyped value is PICKLED.

    >>> row = {"type": "ROW", "names": ["a", "b"], "fields": [{"type": "INT"}, {"type": "STRING"}]}
    >>> type_text({"type": "LIST", "element": row})
    'LIST<ROW<a INT, b STRING>>'
    """
    schema = without_external(schema)
    if schema is None:
        return "PICKLED"
    name: str = schema["type"]
    if name == "ROW":
        fields = zip(row_names(schema), schema["fields"], strict=True)
        return f"ROW<{', '.join(f'{field} {type_text(part)}' for field, part in fields)}>"
    if name == "TUPLE":
        return f"TUPLE<{', '.join(map(type_text, schema['fields']))}>"
    if name == "MAP":
        return f"MAP<{type_text(schema['key'])}, {type_text(schema['value'])}>"
    return f"{name}<{type_text(schema['element'])}>" if name in _ARRAYS else name


def without_external(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the type within types of the Table API; None for any form of an untyped object."""
    while schema is not None and schema["type"] == "EXTERNAL":
        schema = schema["element"]
    return None if schema is None or schema["type"] == "PICKLED_BYTE_ARRAY" else schema


def _without_duration(schema: Schema) -> Schema:
    part = declared_part(schema)
    return {**part, "ttl": True} if part.pop("ttl", None) else part

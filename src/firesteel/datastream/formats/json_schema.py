"""The type that a JSON schema describes (Flink: JsonRowSchemaConverter)."""

from __future__ import annotations

from typing import Any, Final

from firesteel.common.errors import ProgramError
from firesteel.common.typeinfo import TypeInformation, Types

_FORMATS: Final = {
    "date-time": Types.SQL_TIMESTAMP(),
    "date": Types.SQL_DATE(),
    "time": Types.SQL_TIME(),
}
_SINGLE: Final = {
    "boolean": Types.BOOLEAN(),
    "number": Types.BIG_DEC(),
    "integer": Types.BIG_DEC(),
    "null": Types.STRING(),
}


def type_of_json_schema(schema: dict[str, Any]) -> TypeInformation:
    """Return the type of a JSON schema; `$ref` within it is followed. Raises ProgramError for a schema without a type.

    >>> type_of_json_schema({"type": "object", "properties": {"a": {"type": ["integer", "null"]}}})
    RowTypeInfo(a: BigDecimal)
    """
    return _convert(schema, schema)


def _convert(node: dict[str, Any], root: dict[str, Any]) -> TypeInformation:
    if "$ref" in node:
        return _convert(_referred(node["$ref"], root), root)
    kind = _kind(node)
    if kind == "object":
        properties: dict[str, Any] = node.get("properties", {})
        if not properties:
            raise _not_understood(node)
        return Types.ROW_NAMED(list(properties), [_convert(field, root) for field in properties.values()])
    if kind == "array":
        items = node.get("items")
        if isinstance(items, list) and not node.get("additionalItems"):
            return Types.ROW([_convert(item, root) for item in items])
        if isinstance(items, dict):
            element = _convert(items, root)
            text = element == Types.STRING()
            return Types.BASIC_ARRAY(element) if text else Types.OBJECT_ARRAY(element)
        raise _not_understood(node)
    if kind == "string":
        if node.get("contentEncoding") == "base64":
            return Types.PRIMITIVE_ARRAY(Types.BYTE())
        return _FORMATS.get(node.get("format", ""), Types.STRING())
    if kind in _SINGLE:
        return _SINGLE[kind]
    raise _not_understood(node)


def _kind(node: dict[str, Any]) -> str:
    kind = node.get("type")
    kinds = [name for name in kind if name != "null" or len(kind) == 1] if isinstance(kind, list) else [kind]
    if len(kinds) != 1 or not isinstance(kinds[0], str):
        raise _not_understood(node)
    return kinds[0]


def _referred(reference: str, root: dict[str, Any]) -> dict[str, Any]:
    if not reference.startswith("#/"):
        raise ProgramError("requires references within it", who="the JSON schema", got=reference)
    node: Any = root
    for name in reference[2:].split("/"):
        if not isinstance(node, dict) or name not in node:
            raise ProgramError("requires references to what it has", who="the JSON schema", got=reference)
        node = node[name]
    return dict(node)


def _not_understood(node: dict[str, Any]) -> ProgramError:
    return ProgramError(
        "requires objects with properties, arrays with items, and single types",
        who="the JSON schema",
        got=str(node)[:200],
    )

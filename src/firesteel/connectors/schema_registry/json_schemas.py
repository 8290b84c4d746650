"""JSON Schemas of a registry."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from firesteel.common.errors import ProgramError
from firesteel.connectors.schema_registry.client import Reference, UnknownSchemaError, registered_schema
from firesteel.connectors.schema_registry.settings import RegistrySettings
from firesteel.formats.json_schema import JsonSchema

JSON: Final = "JSON"
"""What the registry calls them."""

_KEPT: Final = 256


@lru_cache(_KEPT)
def known_json_schema(text: str, references: tuple[Reference, ...] = ()) -> JsonSchema:
    """Return a schema, which has been read before in most cases. Raises ProgramError for what is none."""
    return JsonSchema(text, references)


def registered_json_schema(settings: RegistrySettings, number: int) -> JsonSchema | str:
    """Return the schema with an id, or why there is none. Raises ConnectorError if nobody answers."""
    try:
        found = registered_schema(settings, number)
    except UnknownSchemaError as error:
        return f"its schema {number} is unknown: {error}"
    if found.kind != JSON:
        return f"its schema {number} is one of {found.kind}, not of JSON"
    try:
        return known_json_schema(found.text, found.references)
    except ProgramError as error:
        return f"its schema {number} is none: {error}"

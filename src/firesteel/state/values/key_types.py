"""Decides whether keys of one declared type find the state that was kept under keys of another.

Keys are never converted, because their bytes decide their key group and so their subtask. Flink refuses
another key serializer in the same way ("The new key serializer must be compatible"); accepted are types
whose keys have the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from firesteel.state.values.conversion import TypeSchema, compare_types
from firesteel.state.values.schemas import type_text, without_external

_KINDS: Final = {
    "STRING": {"str", "None"},
    "CHAR": {"str"},
    "BOOLEAN": {"bool"},
    "DOUBLE": {"float"},
    "BIG_DEC": {"Decimal", "None"},
    "BYTE": {"int"},
    "SHORT": {"int"},
    "INT": {"int"},
    "LONG": {"int"},
    "BIG_INT": {"int", "None"},
}


def finds_state(saved: TypeSchema, kinds: Iterable[str] | None, declared: TypeSchema) -> bool:
    """Return whether every key of the saved state is the same key in the declared type.

    `saved` is the type that was declared then, None if there was none. `kinds` are the kinds of the saved keys (see
    `KeyKinds`), None if they are not known.

    >>> finds_state({"type": "INT"}, ["int"], {"type": "LONG"}), finds_state({"type": "LONG"}, ["int"], None)
    (True, False)
    >>> finds_state(None, ["int"], {"type": "LONG"}), finds_state(None, ["int"], {"type": "STRING"})
    (True, False)
    """
    saved, declared = without_external(saved), without_external(declared)
    if saved == declared:
        return True
    if saved is None and declared is not None:
        return kinds is not None and _KINDS.get(declared["type"], set()).issuperset(kinds)
    if declared is None:
        return kinds is not None and not list(kinds)
    convert, _, refusals = compare_types(saved, declared, "key")
    return convert is None and not refusals and _floats(saved) == _floats(declared)


def key_text(declared: TypeSchema, kinds: Iterable[str] | None = None) -> str:
    """Return a type of keys in words, with their kinds if no type is declared.

    >>> key_text({"type": "LONG"}), key_text(None, ["int", "str"])
    ('LONG', 'no declared type (int, str)')
    """
    if without_external(declared) is not None:
        return type_text(declared)
    seen = ", ".join(kinds or ())
    return f"no declared type ({seen})" if seen else "no declared type"


def _floats(schema: Any) -> int:
    """Count the FLOATs in a type. As a key, a FLOAT is rounded to 32 bits and a DOUBLE is not."""
    if isinstance(schema, dict):
        return int(schema.get("type") == "FLOAT") + sum(map(_floats, schema.values()))
    return sum(map(_floats, schema)) if isinstance(schema, list) else 0

"""The states of one operator: their ids in the store and their schemas in the manifest.

A state's id comes from the hash of its name, so that subtasks, which may meet their states in different orders, agree
on it without talking; a clash within an operator goes to the next free id and is settled for good by the manifest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from xxhash import xxh3_64_intdigest

from firesteel.common.errors import StateMismatchError
from firesteel.state.values.evolution import required_evolution
from firesteel.state.values.schemas import Schema, is_same, schema_text

__all__ = ["Schema", "StateCatalog", "merge_schemas"]

_IDS: Final = 1 << 16


class StateCatalog:
    """Every state that was ever declared for an operator, by scope and name ("keyed:count").

    Ids of states that are no longer declared stay reserved, for their entries are still in the store.
    """

    def __init__(self) -> None:
        self._schemas: dict[str, Schema] = {}
        self._taken: set[int] = set()

    def declare(self, scope: str, name: str, kind: str, types: Schema) -> int:
        """Return the id of a state, new or as the manifest recorded it.

        Raises StateEvolutionRequired if the manifest recorded types that can be converted to these, StateMismatchError
        if it was another kind of state or of types that cannot. A time to live of another length is just recorded.
        """
        path = f"{scope}:{name}"
        known = self._schemas.get(path)
        declared: Schema = {"kind": kind, **types}
        if known is not None:
            if not is_same(known, declared):
                raise required_evolution(path, known, declared)
            self._schemas[path] = _with_ttl_of(declared, known)
            state_id: int = known["id"]
            return state_id
        state_id = xxh3_64_intdigest(path.encode()) % _IDS
        while state_id in self._taken:
            state_id = (state_id + 1) % _IDS
        self._taken.add(state_id)
        self._schemas[path] = {"id": state_id, "scope": scope, "name": name, **declared}
        return state_id

    def schemas(self) -> dict[str, Schema]:
        """Return all schemas as JSON-able dicts: id, scope, name, kind and the types (None where untyped)."""
        return {path: dict(schema) for path, schema in self._schemas.items()}

    def restore(self, schemas: dict[str, Schema]) -> None:
        """Take over what a manifest recorded, before any state is declared."""
        for path, schema in schemas.items():
            self._schemas[path] = dict(schema)
            self._taken.add(schema["id"])


def merge_schemas(reports: Iterable[dict[str, Schema]]) -> dict[str, Schema]:
    """Return the schemas of an operator from those of its subtasks, given after what the last manifest recorded.

    A time to live is that of a subtask that has another than the manifest: those that have not declared the state
    report what was recorded. Raises StateMismatchError if two subtasks gave one name two ids or types, or two names
    one id.
    """
    merged: dict[str, Schema] = {}
    recorded: dict[str, Schema] = {}
    owners: dict[int, str] = {}
    for report in reports:
        for path, schema in report.items():
            first = recorded.setdefault(path, schema)
            if first["id"] != schema["id"] or not is_same(first, schema):
                raise StateMismatchError(
                    f"is {_with_id(first)} in one subtask",
                    who=f"state '{schema['name']}'",
                    got=f"{_with_id(schema)} in another",
                    hint="declare it with the same types in all subtasks",
                )
            if path not in merged or schema.get("ttl") != first.get("ttl"):
                merged[path] = schema
            if owners.setdefault(schema["id"], path) != path:
                raise StateMismatchError(
                    f"clashes with state '{owners[schema['id']]}' of the same operator",
                    who=f"state '{path}'",
                    hint="give one of the two another name",
                )
    return merged


def _with_ttl_of(declared: Schema, known: Schema) -> Schema:
    return {**known, "ttl": declared["ttl"]} if isinstance(declared.get("ttl"), dict) else known


def _with_id(schema: Schema) -> str:
    return f"{schema_text(schema)} (id {schema['id']})"

"""The states of one operator: their ids in the store and their schemas in the manifest.

A state's id is derived from the hash of its name, so that subtasks agree on it even if they declare their states in
different orders. If two states of an operator clash, the second gets the next free id, which the manifest records.
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

    Ids of states that are no longer declared stay reserved, because their entries are still in the store.
    """

    def __init__(self) -> None:
        self._schemas: dict[str, Schema] = {}
        self._taken: set[int] = set()

    def declare(self, scope: str, name: str, kind: str, types: Schema) -> int:
        """Return the id of a state, either new or from the manifest.

        Raises StateEvolutionRequired if the recorded types can be converted to these, StateMismatchError if they cannot
        or if it was another kind of state. A different length of the time to live is only recorded.
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
        """Return all schemas as JSON-able dicts: id, scope, name, kind and the types (None: untyped)."""
        return {path: dict(schema) for path, schema in self._schemas.items()}

    def restore(self, schemas: dict[str, Schema]) -> None:
        """Load the schemas that a manifest recorded, before any state is declared."""
        for path, schema in schemas.items():
            self._schemas[path] = dict(schema)
            self._taken.add(schema["id"])


def merge_schemas(reports: Iterable[dict[str, Schema]], who: str) -> dict[str, Schema]:
    """Return the schemas of the operator `who` from those of the last manifest, followed by those of its subtasks.

    If a subtask has another time to live than the manifest, it wins: subtasks that have not declared the state report
    the recorded one. Raises StateMismatchError if two subtasks gave one name two ids or types, or two names
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
                    who=f"{who}: state '{schema['name']}'",
                    got=f"{_with_id(schema)} in another",
                    hint="declare it with the same types in all subtasks",
                )
            if path not in merged or schema.get("ttl") != first.get("ttl"):
                merged[path] = schema
            if owners.setdefault(schema["id"], path) != path:
                raise StateMismatchError(
                    f"clashes with state '{owners[schema['id']]}' of the same operator",
                    who=f"{who}: state '{path}'",
                    hint="give one of the two another name",
                )
    return merged


def _with_ttl_of(declared: Schema, known: Schema) -> Schema:
    return {**known, "ttl": declared["ttl"]} if isinstance(declared.get("ttl"), dict) else known


def _with_id(schema: Schema) -> str:
    return f"{schema_text(schema)} (id {schema['id']})"

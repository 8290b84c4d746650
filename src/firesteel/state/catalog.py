"""The states of one operator: their ids in the store and their schemas in the manifest.

A state's id comes from the hash of its name, so that subtasks, which may meet their states in different orders, agree
on it without talking; a clash within an operator goes to the next free id and is settled for good by the manifest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from xxhash import xxh3_64_intdigest

from firesteel.common.errors import StateMismatchError

Schema = dict[str, Any]
_IDS: Final = 1 << 16


class StateCatalog:
    """Every state that was ever declared for an operator, by scope and name ("keyed:count").

    Ids of states that are no longer declared stay reserved, for their entries are still in the store.
    """

    def __init__(self) -> None:
        self._schemas: dict[str, Schema] = {}
        self._taken: set[int] = set()

    def declare(self, scope: str, name: str, kind: str, types: Schema) -> int:
        """Return the id of a state; raises StateMismatchError if it was of another kind or type in the manifest."""
        path = f"{scope}:{name}"
        known = self._schemas.get(path)
        declared: Schema = {"kind": kind, **types}
        if known is not None:
            before = {field: known[field] for field in (*declared, "ttl") if field in known}
            if before != declared:
                raise _mismatch(name, before, declared)
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
    """Return the schemas of an operator from those of its subtasks.

    Raises StateMismatchError if two subtasks gave one name two ids or types, or two names one id.
    """
    merged: dict[str, Schema] = {}
    owners: dict[int, str] = {}
    for report in reports:
        for path, schema in report.items():
            if merged.setdefault(path, schema) != schema:
                raise _mismatch(schema["name"], merged[path], schema)
            if owners.setdefault(schema["id"], path) != path:
                raise StateMismatchError(
                    f"clashes with state '{owners[schema['id']]}' of the same operator",
                    who=f"state '{path}'",
                    hint="give one of the two another name",
                )
    return merged


def _mismatch(name: str, before: Schema, declared: Schema) -> StateMismatchError:
    return StateMismatchError(
        f"was saved as {json.dumps(before, sort_keys=True)}",
        who=f"state '{name}'",
        got=f"a descriptor for {json.dumps(declared, sort_keys=True)}",
        hint="declare it as it was saved, or give the new state another name",
    )

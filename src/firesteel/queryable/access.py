"""What there is to read in a job, and the contents of a state by its name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firesteel.queryable.arranged import ArrangedContents
from firesteel.queryable.contents import StateContents
from firesteel.queryable.copies import Snapshot
from firesteel.queryable.forms import Form
from firesteel.saved.arrangements import layout_text
from firesteel.saved.inspection import SavedOperator, SavedState
from firesteel.state.values.schemas import schema_text

Contents = StateContents | ArrangedContents


def contents_of(snapshot: Snapshot, state: str, form: Form) -> Contents:
    """Return the contents of a state or an arrangement.

    Raises StateError, which lists the states of the operator, if it has none of this name.
    """
    if state in snapshot.arrangements:
        return ArrangedContents(snapshot, state, form)
    return StateContents(snapshot, snapshot.operator.state(state), form)


def operators_of(saved: SavedState) -> list[dict[str, Any]]:
    """Return the operators with their states that can be read: keyed, in windows, broadcast, timers, arrangements."""
    return [
        {"id": operator.id, "name": operator.snapshot.name, "states": list(_states(operator))}
        for operator in saved.operators()
    ]


def _states(operator: SavedOperator) -> Iterator[dict[str, Any]]:
    for schema in operator.states():
        ttl = schema.get("ttl")
        yield {
            "name": schema["name"],
            "scope": schema["scope"],
            "kind": schema["kind"],
            "type": schema_text(schema),
            **({"ttl-ms": ttl["ms"]} if isinstance(ttl, dict) else {}),
        }
    for found in operator.arrangements:
        kind, text = found.layout.kind.value, layout_text(found.layout)
        yield {"name": found.name, "scope": "arrangement", "kind": kind, "type": text}


def about(snapshot: Snapshot, state: str) -> dict[str, str]:
    """Return the scope and the type of a state that is there, as text."""
    if state in snapshot.arrangements:
        return {"scope": "arrangement", "type": layout_text(snapshot.arrangements[state].layout)}
    schema = snapshot.operator.state(state)
    return {"scope": schema["scope"], "type": schema_text(schema)}

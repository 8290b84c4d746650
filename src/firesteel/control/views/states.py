"""The operators and states of a savepoint or a kept epoch."""

from __future__ import annotations

import msgspec

from firesteel.saved.arrangements import layout_text
from firesteel.saved.inspection import SavedOperator, SavedState
from firesteel.state.values.schemas import schema_text


class StateEntry(msgspec.Struct, frozen=True):
    """One state; `ttl_ms` is its time to live in milliseconds, `entries` and `bytes` count its entries."""

    name: str
    scope: str
    kind: str
    type: str
    ttl_ms: int | None
    entries: int | None
    bytes: int | None


class OperatorEntry(msgspec.Struct, frozen=True):
    """One operator; `stored_bytes` is the size of its runs, `positions` how far its splits have been read."""

    name: str
    id: str
    parallelism: int
    max_parallelism: int
    watermarks: list[int]
    stored_bytes: int
    states: list[StateEntry]
    positions: dict[str, int]


class Listing(msgspec.Struct, frozen=True):
    """A saved state; `processing_time` is in milliseconds."""

    directory: str
    epoch: int
    job_id: str
    job_name: str
    max_parallelism: int
    processing_time: int
    operators: list[OperatorEntry]


def list_states(saved: SavedState, count: bool) -> Listing:
    """Return the operators of a saved state with their states; `count` reads all state to count its entries."""
    manifest = saved.manifest
    return Listing(
        directory=saved.storage.url,
        epoch=manifest.epoch,
        job_id=manifest.job_id,
        job_name=manifest.job_name,
        max_parallelism=manifest.max_parallelism,
        processing_time=manifest.processing_time,
        operators=[_operator(saved, operator, count) for operator in saved.operators()],
    )


def _operator(saved: SavedState, operator: SavedOperator, count: bool) -> OperatorEntry:
    snapshot = operator.snapshot
    held = saved.held(operator) if count else {}
    states = []
    for schema in operator.states():
        entries, size = held.get(schema["id"], (None, None))
        ttl = schema.get("ttl")
        duration = ttl["ms"] if isinstance(ttl, dict) else None
        place = schema["name"], schema["scope"], schema["kind"]
        states.append(StateEntry(*place, schema_text(schema), duration, entries, size))
    for name, parts in operator.lists().items():
        elements = [element for part in parts for element in part.elements[slice(*part.kept_range)]]
        text = schema_text({"kind": "list", "type": parts[0].schema})
        kind = f"{parts[0].mode.value} list"
        states.append(StateEntry(name, "operator", kind, text, None, len(elements), sum(map(len, elements))))
    for found in operator.arrangements:
        entries, size = saved.held_arranged(found) if count else (None, None)
        place = found.name, "arrangement", found.layout.kind.value
        text = layout_text(found.layout)
        states.append(StateEntry(*place, text, found.layout.time_to_live, entries, size))
    return OperatorEntry(
        name=snapshot.name,
        id=operator.id,
        parallelism=snapshot.parallelism,
        max_parallelism=operator.max_parallelism,
        watermarks=snapshot.watermarks,
        stored_bytes=operator.size,
        states=states,
        positions={split: read.position for split, read in saved.positions(operator).items()},
    )

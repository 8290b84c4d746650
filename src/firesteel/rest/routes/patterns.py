"""The patterns of a job: what they look for, and how many partial matches wait in each of their states."""

from __future__ import annotations

from typing import Any, Final

from firesteel.control.views.found_matches import Waiting
from firesteel.control.views.partial_matches import looks_for_patterns, waiting
from firesteel.rest.calls import Call, Route
from firesteel.rest.routes.asked_states import reasons
from firesteel.rest.standing import Standing
from firesteel.runtime.patterns.diagram import Diagram, DrawnState, diagram_of_shape
from firesteel.saved.inspection import SavedOperator, SavedState

MOST_KEYS: Final = 100_000
"""The keys of an operator whose partial matches are counted."""


def patterns(call: Call) -> dict[str, Any]:
    """The patterns of a job, and how many partial matches they have after its last epoch.

    `patterns` is null if that epoch is `after`. `complete` is false if an operator has too many keys for all to be
    counted.
    """
    after = call.query.get("after")
    found = call.cluster.patterns.of(call.path["jobid"], lambda: _patterns(call))
    return found | {"patterns": None} if after == str(found["epoch"]) else found


def _patterns(call: Call) -> dict[str, Any]:
    job = call.job()
    record = job.record
    if record.state_storage() is None:
        return {"epoch": None, "time": None, "complete": True, "patterns": []}
    with reasons():  # no epoch may be committed yet
        saved = call.cluster.readers.of(record.id, record.state).saved()
        operators = [(each, *waiting(saved, each, MOST_KEYS)) for each in _looking(saved)]
    return {
        "epoch": saved.manifest.epoch,
        "time": saved.manifest.created_at,
        "complete": all(complete for _, _, complete in operators),
        "patterns": [_shown(operator, one, job) for operator, found, _ in operators for one in found],
    }


def _looking(saved: SavedState) -> list[SavedOperator]:
    return [operator for operator in saved.operators() if looks_for_patterns(operator)]


def _shown(operator: SavedOperator, counted: Waiting, job: Standing) -> dict[str, Any]:
    diagram = _drawn(operator.id, counted, job)
    return {
        "operator": operator.id,
        "name": operator.snapshot.name,
        "id": counted.pattern,
        "version": counted.version,
        "title": diagram.title,
        "held_back": counted.held_back,
        "states": [_state(state, counted) for state in diagram.states],
    }


def _drawn(operator_id: str, counted: Waiting, job: Standing) -> Diagram:
    """Return the drawing of the program's pattern, with conditions; of another one what was saved of it."""
    known = {} if job.plan is None else job.plan.patterns.get(operator_id, {})
    found = known.get(counted.pattern or "")
    return diagram_of_shape(counted.shape) if found is None else found


def _state(state: DrawnState, counted: Waiting) -> dict[str, Any]:
    return {
        "name": state.name,
        "kind": state.kind.value,
        "remark": state.remark,
        "waiting": counted.states[state.number],
        "ways": [
            {"action": way.action.value, "target": way.target, "condition": way.condition}
            for way in state.ways
        ],
    }


ROUTES: Final = (Route("GET", "/jobs/:jobid/patterns", patterns, query=("after",)),)

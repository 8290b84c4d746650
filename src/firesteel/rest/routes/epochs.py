"""The epochs of a job: the phases that each went through, and what the job's admission learnt from it."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import msgspec

from firesteel.checkpoint.manifest import OperatorSnapshot
from firesteel.rest.calls import Call, Route
from firesteel.rest.routes.checkpoints import checkpoints, figures_of, kept_epoch
from firesteel.state.arrangements.names import arrangement_of, operator_of


def epochs(call: Call) -> dict[str, Any]:
    """The last epochs of a job whose output is visible, oldest first, with their phases, and when epochs failed.

    `target` is how long an epoch is to take, and all times are in milliseconds. `limited` is whether epochs are limited
    in their records. `counts` and `kept` are the counts and the history of the job's checkpoints.
    """
    job = call.job()
    metrics, kept = job.metrics(), checkpoints(call)
    return {
        "target": None if job.plan is None else job.plan.epoch_ms,
        "limited": job.mode == "STREAMING",
        "epochs": [] if metrics is None else [msgspec.structs.asdict(epoch) for epoch in metrics.epochs],
        "failures": [{"at": failure.at, "kind": failure.kind} for failure in job.failures()],
        "counts": kept["counts"],
        "kept": kept["history"],
    }


def stored(call: Call) -> dict[str, Any]:
    """What each operator stored in a kept epoch, how large its state then was, and of which states that is.

    Sizes are those on storage, in bytes. `end_to_end_duration` is the time in which the slowest subtask stored its
    state (milliseconds), null if it is not known. An operator that the program does not have any more has no vertex.
    """
    job = call.job()
    epoch, reader = kept_epoch(job, call.number("epoch"))
    operators = reader.read(epoch.epoch).operators
    added = Counter[str]()
    for run in (run for snapshot in operators.values() for run in snapshot.runs):
        added[run.operator] += run.size
    held = {
        state: sum(layer.size for layer in layers)
        for state, layers in reader.all_layers(0, epoch.epoch).items()
    }
    figures = figures_of(job, epoch.epoch)
    took = {} if figures is None else figures.stored
    known = {each.id: (vertex.id, each) for vertex in job.vertices for each in vertex.operators}
    shown = []
    for id_ in sorted(operators, key=[*known, *operators].index):
        vertex, operator = known.get(id_, (None, None))
        parts = _parts(id_, operators[id_], added, held)
        shown.append(
            {
                "id": id_,
                "uid": None if operator is None else operator.uid,
                "name": operators[id_].name if operator is None else operator.title,
                "vertex": vertex,
                "checkpointed_size": sum(part["checkpointed_size"] for part in parts),
                "state_size": sum(part["state_size"] for part in parts),
                "end_to_end_duration": max(took.get(id_, ()), default=None),
                "parts": parts,
            }
        )
    return {"epoch": epoch.epoch, "time": epoch.time, "operators": shown}


def _parts(
    id_: str, snapshot: OperatorSnapshot, added: Counter[str], held: dict[str, int]
) -> list[dict[str, Any]]:
    """Return the sizes of an operator's arrangements, and of all its other states, which are stored together."""
    names = sorted({state for state in (*added, *held) if operator_of(state) == id_})
    together = sorted({schema["name"] for schema in snapshot.states.values() if schema["scope"] != "timers"})
    return [
        {
            "states": [arrangement_of(state)] if arrangement_of(state) else together,
            "checkpointed_size": added[state],
            "state_size": held.get(state, 0),
        }
        for state in names
    ]


ROUTES: Final = (
    Route("GET", "/jobs/:jobid/epochs", epochs, shared=True),
    Route("GET", "/jobs/:jobid/epochs/:epoch", stored),
)

"""The epochs of a job: the phases that each went through, and what the job's admission learnt from it."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from firesteel.rest.calls import Call, Route
from firesteel.rest.standing import Standing


def epochs(call: Call) -> dict[str, Any]:
    """The last epochs of a job whose output is visible, oldest first, with their phases, and when epochs failed.

    `target` is how long an epoch is to take, and all times are in milliseconds. `limited` is whether epochs are limited
    in their records.
    """
    return call.cluster.flows.of(f"{call.path['jobid']}/epochs", lambda: _epochs(call.job()))


def _epochs(job: Standing) -> dict[str, Any]:
    metrics = job.metrics()
    return {
        "target": None if job.plan is None else job.plan.epoch_ms,
        "limited": job.mode == "STREAMING",
        "epochs": [] if metrics is None else [msgspec.structs.asdict(epoch) for epoch in metrics.epochs],
        "failures": [{"at": failure.at, "kind": failure.kind} for failure in job.failures()],
    }


ROUTES: Final = (Route("GET", "/jobs/:jobid/epochs", epochs),)

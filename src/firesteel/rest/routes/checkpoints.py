"""The checkpoints of a job: its committed epochs that are kept, and its last savepoints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import mean, quantiles
from typing import Any, Final, NamedTuple

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import manifest_path
from firesteel.checkpoint.objects import Storage
from firesteel.control.views.checkpoints import Checkpoint, find_checkpoints
from firesteel.control.views.metrics import CheckpointFigures
from firesteel.control.views.plans import Vertex
from firesteel.rest.calls import Call, Refusal, Route
from firesteel.rest.routes.vertices import vertex_of
from firesteel.rest.savepoints import Savepoint, as_url, last_savepoints
from firesteel.rest.standing import Standing
from firesteel.state.arrangements.names import operator_of

_SIZES: Final = (
    "checkpointed_size",
    "state_size",
    "end_to_end_duration",
    "alignment_buffered",
    "processed_data",
    "persisted_data",
)
_ALIGNMENT: Final = ("buffered", "processed", "persisted", "duration")
_UNKNOWN: Final = -1
"""Flink's duration of a checkpoint that it knows nothing of."""

_OF_COMPLETED: Final = ("external_path", "discarded")
_NO_SPREAD: Final = dict.fromkeys(("p50", "p90", "p95", "p99", "p999"), "NaN")


def checkpoints(call: Call) -> dict[str, Any]:
    """How many checkpoints a job has completed, their sizes, and those that are kept, the newest first.

    Savepoints are among them, each with the number of its epoch.
    """
    job = call.job()
    kept = [] if job.plan is None else find_checkpoints(job.storage())
    history = [_described(job, epoch, {}) for epoch in reversed(kept)]
    savepoints = [_of_savepoint(job, found, {}) for found in last_savepoints(job.record)]
    return {
        "counts": _counts(job, kept[-1].epoch if kept else 0),
        "summary": {name: _spread([each[name] for each in history if each[name] >= 0]) for name in _SIZES},
        "latest": {
            "completed": history[0] if history else None,
            "savepoint": savepoints[0] if savepoints else None,
            "failed": _failed(job),
            "restored": _restored(job),
        },
        "history": sorted([*savepoints, *history], key=_order, reverse=True),
    }


def _order(described: dict[str, Any]) -> tuple[int, int]:
    return described["id"], described["latest_ack_timestamp"]


def _counts(job: Standing, completed: int) -> dict[str, int]:
    """Count checkpoints: all completed ones, and what the present driver has failed and begun."""
    metrics = job.metrics()
    own = {view.name: int(view.value or 0) for view in (() if metrics is None else metrics.job)}
    failed = own.get("numberOfFailedCheckpoints", 0)
    begun = own.get("totalNumberOfCheckpoints", 0) - own.get("numberOfCompletedCheckpoints", 0) - failed
    running = max(0, begun) if job.status == "RUNNING" else 0
    return {
        "restored": job.restarts,
        "total": completed + failed + running,
        "in_progress": running,
        "completed": completed,
        "failed": failed,
    }


def _restored(job: Standing) -> dict[str, Any] | None:
    metrics = job.metrics()
    if metrics is None or metrics.restored is None:
        return None
    return {
        "id": metrics.restored.epoch,
        "restore_timestamp": metrics.restored.at,
        "is_savepoint": False,
        "external_path": _path(job, metrics.restored.epoch),
    }


def _failed(job: Standing) -> dict[str, Any] | None:
    """Return the last epoch that failed under the present driver: nothing of it was kept."""
    metrics = job.metrics()
    failed = None if metrics is None else metrics.failed
    if failed is None:
        return None
    described = _described(job, Checkpoint(failed.epoch, failed.at), {})
    return {name: value for name, value in described.items() if name not in _OF_COMPLETED} | {
        "className": "failed",
        "status": "FAILED",
        "latest_ack_timestamp": -1,
        "end_to_end_duration": _UNKNOWN,
        "num_acknowledged_subtasks": 0,
        "failure_timestamp": failed.at,
        "failure_message": failed.message,
    }


def _of_savepoint(job: Standing, found: Savepoint, tasks: dict[str, Any]) -> dict[str, Any]:
    """Return a savepoint: it has the epoch's number, and its size is that of all that it holds."""
    return _described(job, _epoch_of(found), tasks) | {
        "is_savepoint": True,
        "savepointFormat": "NATIVE",
        "checkpoint_type": "SAVEPOINT",
        "external_path": as_url(found.location),
    }


def _epoch_of(found: Savepoint) -> Checkpoint:
    about = found.about
    return Checkpoint(about.epoch, about.created_at, about.size, about.size)


def _path(job: Standing, epoch: int) -> str:
    return f"file:{job.directory}/{manifest_path(epoch)}"


def figures_of(job: Standing, epoch: int) -> CheckpointFigures | None:
    """Return what the driver has measured of an epoch: None if another driver committed it, or if that is long ago."""
    metrics = job.metrics()
    found = () if metrics is None else metrics.checkpoints
    return next((figures for figures in found if figures.epoch == epoch), None)


def _described(job: Standing, epoch: Checkpoint, tasks: dict[str, Any]) -> dict[str, Any]:
    subtasks = sum(vertex.parallelism for vertex in job.vertices)
    at = epoch.time or 0
    figures = figures_of(job, epoch.epoch)
    duration = _UNKNOWN if figures is None else round(figures.duration)
    return {
        "className": "completed",
        "id": epoch.epoch,
        "status": "COMPLETED",
        "is_savepoint": False,
        "savepointFormat": None,
        "trigger_timestamp": at - max(0, duration),
        "latest_ack_timestamp": at,
        "checkpointed_size": epoch.written_bytes or 0,
        "state_size": epoch.state_bytes or 0,
        "end_to_end_duration": duration,
        "alignment_buffered": 0,
        "processed_data": 0,
        "persisted_data": 0,
        "num_subtasks": subtasks,
        "num_acknowledged_subtasks": subtasks,
        "checkpoint_type": "CHECKPOINT",
        "tasks": tasks,
        "external_path": _path(job, epoch.epoch),
        "discarded": False,
    }


def _spread(values: Sequence[int]) -> dict[str, float]:
    """Return the numbers that Flink has of a list."""
    ordered = sorted(values) or [0]
    cuts = quantiles(ordered, n=1000, method="inclusive") if len(ordered) > 1 else ordered * 999
    places = {"p50": 499, "p90": 899, "p95": 949, "p99": 989, "p999": 998}
    shares = {name: float(cuts[place]) for name, place in places.items()}
    return {"min": ordered[0], "max": ordered[-1], "avg": int(mean(ordered)), **shares}


def config(call: Call) -> dict[str, Any]:
    """How a job checkpoints: with each epoch."""
    job = call.job()
    return {
        "mode": "exactly_once",
        "interval": 0 if job.plan is None else job.plan.epoch_ms,
        "timeout": 600_000,
        "min_pause": 0,
        "max_concurrent": 1,
        "externalization": {"enabled": True, "delete_on_cancellation": False},
        "state_backend": "Firesteel",
        "checkpoint_storage": "Firesteel",
        "unaligned_checkpoints": False,
        "tolerable_failed_checkpoints": 0,
        "aligned_checkpoint_timeout": 0,
        "checkpoints_after_tasks_finish": True,
        "state_changelog_enabled": True,
        "changelog_periodic_materialization_interval": 0,
        "changelog_storage": "filesystem",
    }


def kept_epoch(job: Standing, number: int) -> tuple[Checkpoint, ManifestReader]:
    """Return a kept epoch, and what reads it. Raises Refusal (404) for another one."""
    if job.plan is not None:
        storage = job.storage()
        for epoch in find_checkpoints(storage):
            if epoch.epoch == number and epoch.damage is None:
                return epoch, ManifestReader(storage)
    raise Refusal(404, f"Could not find checkpointing statistics for checkpoint {number}.")


class _Found(NamedTuple):
    """A checkpoint, and what reads it; `savepoint` if it is one."""

    epoch: Checkpoint
    reader: ManifestReader
    savepoint: Savepoint | None = None


def _found(call: Call, job: Standing) -> _Found:
    """Return the kept epoch of a number, or else the savepoint of that epoch. Raises Refusal (404) without either."""
    number = call.number("checkpointid")
    try:
        return _Found(*kept_epoch(job, number))
    except Refusal:
        for saved in last_savepoints(job.record):
            if saved.about.epoch == number:
                return _Found(_epoch_of(saved), ManifestReader(Storage.existing(saved.location)), saved)
        raise


def details(call: Call) -> dict[str, Any]:
    """A checkpoint, and what each vertex added."""
    job = call.job()
    found = _found(call, job)
    stored = _Stored(job, found)
    tasks = {vertex.id: stored.task(vertex) for vertex in job.vertices}
    if found.savepoint is not None:
        return _of_savepoint(job, found.savepoint, tasks)
    return _described(job, found.epoch, tasks)


class _Stored:
    """What the vertices of a job have stored in an epoch, or in a savepoint: all of their state."""

    def __init__(self, job: Standing, found: _Found) -> None:
        epoch, reader, _ = found
        self._epoch = epoch
        self._is_savepoint = found.savepoint is not None
        self._operators = reader.read(epoch.epoch).operators
        self._figures = figures_of(job, epoch.epoch)
        self._sizes: Counter[str] = Counter()
        for state, layers in reader.all_layers(0, epoch.epoch).items():
            self._sizes[operator_of(state)] += sum(layer.size for layer in layers)

    def task(self, vertex: Vertex) -> dict[str, Any]:
        """Return what a vertex has stored."""
        subtasks = self.subtasks(vertex)
        size = sum(self._sizes[operator.id] for operator in vertex.operators)
        added = sum(each["checkpointed_size"] for each in subtasks)
        return {
            "id": self._epoch.epoch,
            "status": "COMPLETED",
            "latest_ack_timestamp": self._epoch.time or 0,
            "checkpointed_size": size if self._is_savepoint else added,
            "state_size": size,
            "end_to_end_duration": max(each["end_to_end_duration"] for each in subtasks),
            "alignment_buffered": 0,
            "processed_data": 0,
            "persisted_data": 0,
            "num_subtasks": vertex.parallelism,
            "num_acknowledged_subtasks": vertex.parallelism,
        }

    def subtasks(self, vertex: Vertex) -> list[dict[str, Any]]:
        """Return what each subtask of a vertex has stored."""
        snapshots = [self._operators.get(operator.id) for operator in vertex.operators]
        sizes: Counter[int] = Counter()
        for run in (run for snapshot in snapshots if snapshot is not None for run in snapshot.runs):
            sizes[run.subtask] += run.size
        return [
            self._subtask(number, sizes[number], self._took(vertex, number))
            for number in range(vertex.parallelism)
        ]

    def _subtask(self, number: int, size: int, took: int) -> dict[str, Any]:
        return {
            "className": "completed",
            "index": number,
            "ack_timestamp": self._epoch.time or 0,
            "end_to_end_duration": took,
            "checkpointed_size": size,
            "state_size": size,
            "checkpoint": {"sync": took, "async": 0},
            "alignment": dict.fromkeys(_ALIGNMENT, 0),
            "start_delay": 0,
            "unaligned_checkpoint": False,
            "aborted": False,
            "status": "completed",
        }

    def _took(self, vertex: Vertex, subtask: int) -> int:
        """Return how long a subtask has stored the state of its operators (milliseconds)."""
        if self._figures is None:
            return _UNKNOWN
        times = [self._figures.stored.get(operator.id, ()) for operator in vertex.operators]
        return round(sum(dict(enumerate(found)).get(subtask, 0.0) for found in times))


def subtasks(call: Call) -> dict[str, Any]:
    """What the subtasks of a vertex added in a checkpoint."""
    job, vertex = vertex_of(call)
    stored = _Stored(job, _found(call, job))
    found = stored.subtasks(vertex)
    none = _of_subtasks([0])
    sizes = _of_subtasks([each["checkpointed_size"] for each in found])
    times = _of_subtasks([each["end_to_end_duration"] for each in found])
    return {
        **stored.task(vertex),
        "summary": {
            "checkpointed_size": sizes,
            "state_size": sizes,
            "end_to_end_duration": times,
            "checkpoint_duration": {"sync": times, "async": none},
            "alignment": dict.fromkeys(_ALIGNMENT, none),
            "start_delay": none,
        },
        "subtasks": found,
    }


def _of_subtasks(values: Sequence[int]) -> dict[str, float | str]:
    """Return the numbers that Flink has of subtasks: it does not know how they are spread."""
    known = [value for value in values if value >= 0] or [0]
    return {"min": min(known), "max": max(known), "avg": int(mean(known)), **_NO_SPREAD}


ROUTES: Final = (
    Route("GET", "/jobs/:jobid/checkpoints", checkpoints, shared=True),
    Route("GET", "/jobs/:jobid/checkpoints/config", config),
    Route("GET", "/jobs/:jobid/checkpoints/details/:checkpointid", details),
    Route("GET", "/jobs/:jobid/checkpoints/details/:checkpointid/subtasks/:vertexid", subtasks),
)

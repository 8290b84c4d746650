"""The vertices of a job: chains of operators, and their subtasks."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, quantiles
from typing import Any, Final

from firesteel.control.views.plans import Vertex
from firesteel.rest.calls import Call, Refusal, Route
from firesteel.rest.routes.jobs import duration_of, io_metrics, task_state, tasks_of
from firesteel.rest.standing import Standing


def vertex_of(call: Call) -> tuple[Standing, Vertex]:
    """Return the job and the vertex of an address. Raises Refusal (404) if there is no such vertex."""
    job = call.job()
    asked = call.path["vertexid"]
    for vertex in job.vertices:
        if vertex.id == asked:
            return job, vertex
    raise Refusal(404, f"Job vertex {asked} not found")


def vertex(call: Call) -> dict[str, Any]:
    """A vertex and its subtasks."""
    job, found = vertex_of(call)
    subtasks = [_subtask(job, found, number) for number in range(found.parallelism)]
    return {
        "id": found.id,
        "name": found.name,
        "parallelism": found.parallelism,
        "maxParallelism": found.max_parallelism,
        "now": job.now,
        "subtasks": subtasks,
        "aggregated": _aggregated(subtasks),
    }


def _subtask(job: Standing, vertex: Vertex, number: int) -> dict[str, Any]:
    start = -1 if job.running_since is None else job.running_since
    return {
        "subtask": number,
        "status": task_state(job),
        "attempt": job.restarts,
        "endpoint": endpoint(job),
        "start-time": start,
        "end-time": -1 if job.end is None else job.end,
        "duration": duration_of(job),
        "metrics": io_metrics(job, vertex, number),
        "taskmanager-id": taskmanager_id(job),
        "status-duration": {
            "CREATED": 0,
            "SCHEDULED": 0,
            "DEPLOYING": 0,
            "INITIALIZING": max(0, start - job.start),
            "RUNNING": max(0, duration_of(job)),
        },
        "start_time": start,
    }


def endpoint(job: Standing) -> str:
    """Return the machine of a job's driver."""
    return "(unassigned)" if job.listening is None else job.listening.host


def taskmanager_id(job: Standing) -> str:
    """Return the name under which a job's driver is listed as a task manager."""
    return "(unassigned)" if job.listening is None else f"{job.listening.host}:{job.listening.pid}"


def _aggregated(subtasks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    numbers = [name for name in subtasks[0]["metrics"] if not name.endswith("-complete")] if subtasks else []
    durations = list(subtasks[0]["status-duration"]) if subtasks else []
    return {
        "metrics": {name: _spread([task["metrics"][name] for task in subtasks]) for name in numbers},
        "status-duration": {
            name: _spread([task["status-duration"][name] for task in subtasks]) for name in durations
        },
    }


def _spread(values: Sequence[float]) -> dict[str, int]:
    whole = sorted(map(int, values))
    cuts = quantiles(whole, n=100, method="inclusive") if len(whole) > 1 else whole * 99
    return {
        "min": whole[0],
        "max": whole[-1],
        "avg": int(mean(whole)),
        "sum": sum(whole),
        "median": int(cuts[49]),
        "p25": int(cuts[24]),
        "p75": int(cuts[74]),
        "p95": int(cuts[94]),
    }


def subtask(call: Call) -> dict[str, Any]:
    """A subtask."""
    job, found = vertex_of(call)
    number = call.number("subtaskindex")
    if number >= found.parallelism:
        raise Refusal(404, f"Invalid subtask index {number} for vertex {found.id}")
    return _subtask(job, found, number)


def attempt(call: Call) -> dict[str, Any]:
    """An attempt of a subtask: the present one, since nothing is kept of earlier ones."""
    found = subtask(call)
    asked = call.number("attempt")
    if asked != found["attempt"]:
        raise Refusal(404, f"Could not find attempt number {asked} of the subtask {found['subtask']}.")
    return found


def attempt_accumulators(call: Call) -> dict[str, Any]:
    """The accumulators of an attempt: PyFlink programs have none."""
    found = attempt(call)
    return {
        "subtask": found["subtask"],
        "attempt": found["attempt"],
        "id": f"{call.path['vertexid']}_{found['subtask']}_{found['attempt']}",
        "user-accumulators": [],
    }


def subtask_times(call: Call) -> dict[str, Any]:
    """When the subtasks of a vertex came into each state."""
    job, found = vertex_of(call)
    states = tasks_of(job, 0)
    running = 0 if job.running_since is None else job.running_since
    times = {**states, "CREATED": job.start, "SCHEDULED": job.start, "RUNNING": running}
    if job.outcome is not None:
        times[job.outcome.status] = job.outcome.at
    return {
        "id": found.id,
        "name": found.name,
        "now": job.now,
        "subtasks": [
            {"subtask": number, "endpoint": endpoint(job), "duration": duration_of(job), "timestamps": times}
            for number in range(found.parallelism)
        ],
    }


def taskmanagers(call: Call) -> dict[str, Any]:
    """The processes that run a vertex."""
    job, found = vertex_of(call)
    subtasks = [_subtask(job, found, number) for number in range(found.parallelism)]
    return {
        "id": found.id,
        "name": found.name,
        "now": job.now,
        "taskmanagers": [
            {
                "endpoint": endpoint(job),
                "status": task_state(job),
                "start-time": subtasks[0]["start-time"],
                "end-time": subtasks[0]["end-time"],
                "duration": duration_of(job),
                "metrics": io_metrics(job, found, None),
                "status-counts": tasks_of(job, found.parallelism),
                "taskmanager-id": taskmanager_id(job),
                "aggregated": _aggregated(subtasks),
            }
        ],
    }


def accumulators(call: Call) -> dict[str, Any]:
    """The accumulators of a vertex: PyFlink programs have none."""
    return {"id": vertex_of(call)[1].id, "user-accumulators": []}


def subtask_accumulators(call: Call) -> dict[str, Any]:
    """The accumulators of each subtask: PyFlink programs have none."""
    job, found = vertex_of(call)
    return {
        "id": found.id,
        "parallelism": found.parallelism,
        "subtasks": [
            {
                "subtask": number,
                "attempt": job.restarts,
                "endpoint": endpoint(job),
                "user-accumulators": [],
            }
            for number in range(found.parallelism)
        ],
    }


_VERTEX: Final = "/jobs/:jobid/vertices/:vertexid"
_SUBTASK: Final = f"{_VERTEX}/subtasks/:subtaskindex"

ROUTES: Final = (
    Route("GET", _VERTEX, vertex),
    Route("GET", f"{_VERTEX}/subtasktimes", subtask_times),
    Route("GET", f"{_VERTEX}/taskmanagers", taskmanagers),
    Route("GET", f"{_VERTEX}/accumulators", accumulators),
    Route("GET", f"{_VERTEX}/subtasks/accumulators", subtask_accumulators),
    Route("GET", _SUBTASK, subtask),
    Route("GET", f"{_SUBTASK}/attempts/:attempt", attempt),
    Route("GET", f"{_SUBTASK}/attempts/:attempt/accumulators", attempt_accumulators),
)

"""Jobs: `/jobs`, `/jobs/overview`, and what is known of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from firesteel.compiler.describe import InputDescription
from firesteel.control.views.failures import Failure
from firesteel.control.views.metrics import JobMetrics
from firesteel.control.views.plans import Vertex
from firesteel.rest.calls import Call, Refusal, Right, Route
from firesteel.rest.standing import ENDED, Standing, standing

TASK_STATES: Final = (
    "CREATED",
    "SCHEDULED",
    "DEPLOYING",
    "INITIALIZING",
    "RUNNING",
    "FINISHED",
    "CANCELING",
    "CANCELED",
    "FAILED",
    "RECONCILING",
)
_TASK_STATE: Final = {
    "RESTARTING": "SCHEDULED",
    "CANCELLING": "CANCELING",
    "FAILING": "FAILED",
    "SUSPENDED": "CANCELED",
}
_SHIPPING: Final = {"key by": "HASH", "hash": "HASH"}
SLOT_SHARING: Final = "0" * 32
"""All operators share slots: a task runs one subtask of each."""


def jobs(call: Call) -> dict[str, Any]:
    """The ids of the jobs, with their status."""
    return {"jobs": [{"id": job.record_id, "status": job.status} for job in call.jobs()]}


def jobs_overview(call: Call) -> dict[str, Any]:
    """The jobs, the newest first, with the number of their subtasks by status."""
    return {"jobs": list(map(summary, call.jobs()))}


def summary(job: Standing) -> dict[str, Any]:
    """Return a job as `/jobs/overview` lists it."""
    total = sum(vertex.parallelism for vertex in job.vertices)
    tasks = {state.lower(): number for state, number in tasks_of(job, total).items()}
    return {
        "jid": job.record_id,
        "name": job.name,
        "jobType": job.mode,
        "schedulerType": "Default",
        "start-time": job.start,
        "end-time": -1 if job.end is None else job.end,
        "duration": job.duration,
        "state": job.status,
        "last-modification": max(job.timestamps().values()),
        "tasks": {"total": total, **tasks},
        "pending-operators": 0,
    }


def task_state(job: Standing) -> str:
    """Return the state of each subtask, in Flink's words: all run, or none does."""
    return _TASK_STATE.get(job.status, job.status)


def tasks_of(job: Standing, count: int) -> dict[str, int]:
    """Return how many of so many subtasks are in each state."""
    return {state: count if state == task_state(job) else 0 for state in TASK_STATES}


def job(call: Call) -> dict[str, Any]:
    """A job, its vertices and its plan."""
    found = call.job()
    return {
        "jid": found.record_id,
        "application-id": found.record_id,
        "name": found.name,
        "isStoppable": found.status == "RUNNING",
        "state": found.status,
        "job-type": found.mode,
        "schedulerType": "Default",
        "start-time": found.start,
        "end-time": -1 if found.end is None else found.end,
        "duration": found.duration,
        "maxParallelism": -1 if found.plan is None else found.plan.max_parallelism,
        "now": found.now,
        "timestamps": found.timestamps(),
        "vertices": [_vertex(found, vertex) for vertex in found.vertices],
        "status-counts": tasks_of(found, len(found.vertices)),
        "plan": _plan(found),
        "pending-operators": 0,
        "state-directory": found.directory,
        "status-reason": found.damage or call.cluster.dispatcher.reason(found.record),
    }


def _vertex(job: Standing, vertex: Vertex) -> dict[str, Any]:
    start = job.running_since
    return {
        "id": vertex.id,
        "slotSharingGroupId": SLOT_SHARING,
        "name": vertex.name,
        "maxParallelism": vertex.max_parallelism,
        "parallelism": vertex.parallelism,
        "status": task_state(job),
        "start-time": -1 if start is None else start,
        "end-time": -1 if job.end is None else job.end,
        "duration": duration_of(job),
        "tasks": tasks_of(job, vertex.parallelism),
        "metrics": io_metrics(job, vertex, None),
    }


def duration_of(job: Standing) -> int:
    """Return how long a job's subtasks have been running (milliseconds); -1 if they never did."""
    return -1 if job.running_since is None else (job.now if job.end is None else job.end) - job.running_since


def io_metrics(job: Standing, vertex: Vertex, subtask: int | None) -> dict[str, Any]:
    """Return the records and bytes that came into a vertex and left it, and its times: all, or those of a subtask."""
    metrics = job.metrics()
    first, last = vertex.operators[0].id, vertex.operators[-1].id
    found = {
        "read-bytes": _measured(metrics, first, "numBytesIn", subtask),
        "write-bytes": _measured(metrics, last, "numBytesOut", subtask),
        "read-records": _measured(metrics, first, "numRecordsIn", subtask),
        "write-records": _measured(metrics, last, "numRecordsOut", subtask),
    }
    times = [
        _measured(metrics, operator.id, "accumulateBusyTimeMs", subtask) for operator in vertex.operators
    ]
    return {
        **{name: value or 0 for name, value in found.items()},
        **{f"{name}-complete": value is not None for name, value in found.items()},
        "accumulated-backpressured-time": _measured(metrics, last, "accumulateBackPressuredTimeMs", subtask)
        or 0,
        "accumulated-idle-time": _measured(metrics, first, "accumulateIdleTimeMs", subtask) or 0,
        "accumulated-busy-time": float(sum(time or 0 for time in times)),
    }


def _measured(measured: JobMetrics | None, operator: str, name: str, subtask: int | None) -> int | None:
    for each in () if measured is None else measured.operators:
        if each.id != operator:
            continue
        for metric in each.metrics:
            if metric.name == name:
                value = metric.value if subtask is None else dict(enumerate(metric.subtasks)).get(subtask)
                return None if value is None else int(value)
    return None


def plan(call: Call) -> dict[str, Any]:
    """A job's plan: its vertices, and what each of them reads."""
    return {"plan": _plan(call.job())}


def _plan(job: Standing) -> dict[str, Any]:
    return plan_json(job.record_id, job.name, job.mode, job.vertices)


def plan_json(job_id: str, name: str, mode: str, vertices: Sequence[Vertex]) -> dict[str, Any]:
    """Return a plan as Flink writes it, its sinks first."""
    home = {operator.number: vertex.id for vertex in vertices for operator in vertex.operators}
    return {
        "jid": job_id,
        "name": name,
        "type": mode,
        "nodes": [_node(vertex, home) for vertex in reversed(vertices)],
    }


def _node(vertex: Vertex, home: Mapping[int, str]) -> dict[str, Any]:
    edges = [edge for operator in vertex.operators for edge in operator.inputs if not edge.chained]
    node: dict[str, Any] = {
        "id": vertex.id,
        "operator": "",
        "parallelism": vertex.parallelism,
        "operator_strategy": "",
        "description": "".join(f"{_as_html(operator.contents)}<br/>" for operator in vertex.operators),
        "optimizer_properties": {},
    }
    if edges:
        node["inputs"] = [_edge(number, edge, home) for number, edge in enumerate(edges)]
    return node


def _as_html(text: str) -> str:
    """Return a text as Flink sends it to pages that show it as HTML."""
    return escape(text).replace("\\", "&#92;").replace("\n", "<br/>")


def _edge(number: int, edge: InputDescription, home: Mapping[int, str]) -> dict[str, Any]:
    return {
        "id": home[edge.source],
        "num": number,
        "exchange": "pipelined_bounded",
        "ship_strategy": edge.distribution.upper(),
    }


def status(call: Call) -> dict[str, str]:
    """The status of a job."""
    return {"status": call.job().status}


def job_config(call: Call) -> dict[str, Any]:
    """What a job was started with."""
    found = call.job()
    return {
        "jid": found.record_id,
        "name": found.name,
        "execution-config": {
            "restart-strategy": "" if found.plan is None else found.plan.restart,
            "job-parallelism": -1 if found.plan is None else found.plan.parallelism,
            "object-reuse-mode": False,
            "user-config": {} if found.plan is None else found.plan.parameters,
        },
    }


def exceptions(call: Call) -> dict[str, Any]:
    """Why a job failed or was restarted, and when its drivers died; the newest first, at most `maxExceptions`."""
    found = call.job()
    entries = [_death(death.at, death.reason) for death in found.deaths]
    entries += [_death(found.now, found.damage)] if found.damage is not None else []
    failures = found.failures()
    entries += map(_failure, failures)
    outcome = found.outcome
    if outcome is not None and outcome.error is not None and not _told(outcome.error, failures):
        entries.append(_death(outcome.at, outcome.error))
    asked = call.query.get("maxExceptions", "")
    if asked and not asked.isdecimal():
        raise Refusal(400, f'Cannot resolve query parameter (maxExceptions) from value "{asked}".')
    most = int(asked) if asked else len(entries)
    newest = sorted(entries, key=lambda entry: entry["timestamp"], reverse=True)
    return {"exceptionHistory": {"entries": newest[:most], "truncated": len(newest) > most}}


def _death(at: int, text: str) -> dict[str, Any]:
    return {
        "exceptionName": text.removeprefix("error: ").partition("\n")[0],
        "stacktrace": text,
        "timestamp": at,
        "failureLabels": {},
        "concurrentExceptions": [],
    }


def _failure(failure: Failure) -> dict[str, Any]:
    task = {} if failure.who is None else {"taskName": failure.who}
    return {
        "exceptionName": failure.kind,
        "stacktrace": failure.text,
        "timestamp": failure.at,
        "failureLabels": {},
        **task,
        "concurrentExceptions": [],
    }


def _told(error: str, failures: Sequence[Failure]) -> bool:
    """Return whether the error with which a job ended is its last failure."""
    return bool(failures) and failures[-1].text.startswith(error.removeprefix("error: "))


def accumulators(call: Call) -> dict[str, Any]:
    """The accumulators of a job: PyFlink programs have none."""
    call.job()
    return {"job-accumulators": [], "user-task-accumulators": [], "serialized-user-task-accumulators": {}}


def execution_result(call: Call) -> dict[str, Any]:
    """How a job ended, once it has."""
    found = call.job()
    if found.status not in ENDED:
        return {"status": {"id": "IN_PROGRESS"}}
    result: dict[str, Any] = {
        "id": found.record_id,
        "name": found.name,
        "application-status": "SUCCEEDED" if found.status == "FINISHED" else found.status,
        "accumulator-results": {},
        "net-runtime": found.duration,
        "application-id": found.record_id,
        "start-time": found.start,
        "end-time": found.start + found.duration,
    }
    if found.outcome is not None and found.outcome.error is not None:
        text = found.outcome.error
        result["failure-cause"] = {"class": _death(0, text)["exceptionName"], "stack-trace": text}
    return {"status": {"id": "COMPLETED"}, "job-execution-result": result}


def cancel(call: Call) -> dict[str, Any]:
    """End a job at once; its running epoch is thrown away."""
    if call.query.get("mode", "cancel") == "stop":
        raise Refusal(410, 'The termination mode "stop" has been removed. Please use stop-with-savepoint.')
    found = call.record()
    if found.outcome() is None:
        call.cluster.dispatcher.cancel(found)
        return {}
    ended = standing(found).status
    if ended == "CANCELED":
        return {}
    raise Refusal(
        409, f"Job cancellation failed because the job has already reached another terminal state ({ended})."
    )


ROUTES: Final = (
    Route("GET", "/jobs", jobs),
    Route("GET", "/jobs/overview", jobs_overview),
    Route("GET", "/jobs/:jobid", job),
    Route("PATCH", "/jobs/:jobid", cancel, Right.OPERATOR, 202, query=("mode",)),
    Route("GET", "/jobs/:jobid/yarn-cancel", cancel, Right.OPERATOR, 202),
    Route("GET", "/jobs/:jobid/plan", plan),
    Route("GET", "/jobs/:jobid/status", status),
    Route("GET", "/jobs/:jobid/config", job_config),
    Route("GET", "/jobs/:jobid/exceptions", exceptions, query=("maxExceptions",)),
    Route("GET", "/jobs/:jobid/accumulators", accumulators),
    Route("GET", "/jobs/:jobid/execution-result", execution_result),
)

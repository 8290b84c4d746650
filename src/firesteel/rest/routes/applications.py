"""Applications: Flink has one for each job of a session cluster, with the job's id."""

from __future__ import annotations

from typing import Any, Final

from firesteel.rest.calls import Call, Right, Route
from firesteel.rest.routes.jobs import cancel as cancel_job
from firesteel.rest.routes.jobs import exceptions as job_exceptions
from firesteel.rest.routes.jobs import summary
from firesteel.rest.standing import Standing

_STATES: Final = {"INITIALIZING": "CREATED", "RESTARTING": "RUNNING", "CANCELLING": "CANCELING"}
_TIMES: Final = ("CREATED", "RUNNING", "FAILING", "FAILED", "CANCELING", "CANCELED", "FINISHED")


def overview(call: Call) -> dict[str, Any]:
    """The applications, the newest first."""
    return {"applications": [{**_head(job), "jobs": {job.status: 1}} for job in call.jobs()]}


def application(call: Call) -> dict[str, Any]:
    """An application and its job."""
    job = _job_of(call).job()
    times = job.timestamps()
    flink = {name: times.get("CANCELLING" if name == "CANCELING" else name, 0) for name in _TIMES}
    return {**_head(job), "timestamps": flink, "jobs": [summary(job)]}


def _head(job: Standing) -> dict[str, Any]:
    return {
        "id": job.record_id,
        "name": f"SingleJobApplication({job.name})",
        "status": _STATES.get(job.status, job.status),
        "start-time": job.start,
        "end-time": -1 if job.end is None else job.end,
        "duration": job.duration,
    }


def exceptions(call: Call) -> dict[str, Any]:
    """Why an application failed."""
    history = job_exceptions(_job_of(call))["exceptionHistory"]
    return {"exceptionHistory": {"entries": history["entries"]}}


def cancel(call: Call) -> dict[str, Any]:
    """End an application's job at once."""
    return cancel_job(_job_of(call))


def _job_of(call: Call) -> Call:
    return Call(call.cluster, {"jobid": call.path["applicationid"]}, call.query)


ROUTES: Final = (
    Route("GET", "/applications/overview", overview),
    Route("GET", "/applications/:applicationid", application),
    Route("GET", "/applications/:applicationid/exceptions", exceptions),
    Route("POST", "/applications/:applicationid/cancel", cancel, Right.OPERATOR, 202),
)

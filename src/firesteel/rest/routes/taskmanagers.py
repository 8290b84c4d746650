"""Task managers: the processes that run jobs, which are their drivers with the Spark applications below them."""

from __future__ import annotations

import os
from typing import Any, Final

from firesteel.rest.calls import PLAIN, Call, Refusal, Route, Text
from firesteel.rest.processes import UNKNOWN, machine_memory, memory_of, metrics_of
from firesteel.rest.routes.metrics import aggregated, listed
from firesteel.rest.routes.vertices import taskmanager_id
from firesteel.rest.standing import Standing
from firesteel.runtime.processes import ProcessView


def _running(call: Call) -> list[Standing]:
    return [job for job in call.jobs() if job.listening is not None and job.outcome is None]


def taskmanagers(call: Call) -> dict[str, Any]:
    """The processes that run jobs."""
    jobs = _running(call)
    first = call.cluster.processes.first(jobs)
    return {"taskmanagers": [_manager(job, process) for job, process in zip(jobs, first, strict=True)]}


def _manager(job: Standing, process: ProcessView | None) -> dict[str, Any]:
    assert job.listening is not None
    slots = job.submission.slots
    managed, memory = _memory_of(job)[_MANAGED], memory_of(process)
    known = memory["heapMax"] != UNKNOWN
    return {
        "id": taskmanager_id(job),
        "path": f"firesteel://{job.listening.host}/{job.listening.pid}",
        "dataPort": -1,
        "jmxPort": -1,
        "timeSinceLastHeartbeat": job.listening.heartbeat_at,
        "slotsNumber": slots,
        "freeSlots": 0,
        "assignedTasks": sum(vertex.parallelism for vertex in job.vertices),
        "totalResource": _resource(float(slots), managed >> 20),
        "freeResource": _resource(0.0, 0),
        "hardware": {
            "cpuCores": os.cpu_count() or 1,
            "physicalMemory": machine_memory(),
            "freeMemory": memory["heapMax"] - memory["heapUsed"] if known else UNKNOWN,
            "managedMemory": managed,
        },
        "memoryConfiguration": {
            **dict.fromkeys(_MEMORY),
            "taskHeap": memory["heapMax"] if known else None,
            "managedMemory": managed,
        },
    }


_MEMORY: Final = (
    "frameworkHeap",
    "taskHeap",
    "frameworkOffHeap",
    "taskOffHeap",
    "networkMemory",
    "managedMemory",
    "jvmMetaspace",
    "jvmOverhead",
    "totalFlinkMemory",
    "totalProcessMemory",
)
_MANAGED: Final = "Status.Flink.Memory.Managed.Total"


def _memory_of(job: Standing) -> dict[str, int]:
    """Return the memory of the processes that ran tasks of a job in the last minute; Flink's managed one is state."""
    metrics = job.metrics()
    workers = () if metrics is None else metrics.workers
    state, limit = (sum(each.state_memory for each in workers), sum(each.state_limit for each in workers))
    return {
        "Status.Flink.Memory.Managed.Used": state,
        _MANAGED: limit,
        "workerMemoryBytes": sum(each.memory for each in workers),
        "workerStateMemoryBytes": state,
        "workerStateMemoryLimitBytes": limit,
    }


def _resource(cores: float, managed: int) -> dict[str, Any]:
    """Return what slots have; memory in megabytes."""
    return {
        "cpuCores": cores,
        "taskHeapMemory": UNKNOWN,
        "taskOffHeapMemory": UNKNOWN,
        "managedMemory": managed,
        "networkMemory": UNKNOWN,
        "extendedResources": {},
    }


def found_taskmanager(call: Call) -> Standing:
    """Return the job whose driver the address names. Raises Refusal (404) if there is none."""
    asked = call.path["taskmanagerid"]
    for job in _running(call):
        if taskmanager_id(job) == asked:
            return job
    raise Refusal(404, f"Could not find TaskExecutor {asked}.")


def taskmanager(call: Call) -> dict[str, Any]:
    """A process that runs a job."""
    job = found_taskmanager(call)
    process = call.cluster.processes.of(job)
    slots = job.submission.slots
    resource = _resource(1.0, _memory_of(job)[_MANAGED] // slots >> 20)
    return {
        **_manager(job, process),
        "allocatedSlots": [
            {"jobId": job.record_id, "resource": resource, "assignedTasks": _tasks_in(job, slot)}
            for slot in range(slots)
        ],
        "metrics": memory_of(process),
    }


def _tasks_in(job: Standing, slot: int) -> int:
    """Return the subtasks in a slot: one of each vertex."""
    return sum(vertex.parallelism > slot for vertex in job.vertices)


def all_metrics(call: Call) -> list[dict[str, Any]]:
    """The names of the metrics that processes have or, with `get`, what they are over all of `taskmanagers`."""
    wanted = set(call.chosen("taskmanagers"))
    found = [_memory_of(job) for job in _running(call) if not wanted or taskmanager_id(job) in wanted]
    names = found[0] if found else ()
    return aggregated(call, {name: [each[name] for each in found] for name in names})


def metrics(call: Call) -> list[dict[str, str]]:
    """The names of the metrics of a process or, with `get`, their values."""
    job = found_taskmanager(call)
    process = call.cluster.processes.of(job)
    resident = {} if process is None else {"driverMemoryBytes": process.resident}
    return listed(call, {**_memory_of(job), **resident, **metrics_of(process)})


def logs(call: Call) -> dict[str, Any]:
    """The files that a process has logged to."""
    path = found_taskmanager(call).record.log
    about = path.stat()
    return {"logs": [{"name": path.name, "size": about.st_size, "mtime": int(about.st_mtime * 1000)}]}


def log(call: Call) -> Text:
    """What a job's drivers have printed and logged."""
    return Text(found_taskmanager(call).record.log.read_text(errors="replace"))


def named_log(call: Call) -> Text:
    """One of the files that a process has logged to."""
    if call.path["log"] != found_taskmanager(call).record.log.name:
        raise Refusal(404, f"Could not find the log {call.path['log']}.")
    return log(call)


_ONE: Final = "/taskmanagers/:taskmanagerid"

ROUTES: Final = (
    Route("GET", "/taskmanagers", taskmanagers, waits=True),
    Route("GET", "/taskmanagers/metrics", all_metrics, query=("get", "agg", "taskmanagers")),
    Route("GET", _ONE, taskmanager, waits=True),
    Route("GET", f"{_ONE}/metrics", metrics, query=("get",), waits=True),
    Route("GET", f"{_ONE}/logs", logs),
    Route("GET", f"{_ONE}/log", log, produces=(PLAIN,)),
    Route("GET", f"{_ONE}/logs/:log", named_log, produces=(PLAIN,)),
)

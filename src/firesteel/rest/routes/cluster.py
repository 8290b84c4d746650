"""The cluster as a whole: `/overview`, `/config`, `/jobmanager`, `/datasets`."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

import firesteel
from firesteel.rest.calls import PLAIN, VERSION, Call, Refusal, Route, Text
from firesteel.rest.processes import machine_memory
from firesteel.rest.session import SessionRecord
from firesteel.runtime.usage import resident_memory

_REVISION: Final = f"firesteel-{firesteel.__version__}"
_REFRESH_MS: Final = 3_000
_LOG: Final = "server.log"


def overview(call: Call) -> dict[str, Any]:
    """The numbers of slots, and of jobs by their status."""
    dispatcher = call.cluster.dispatcher
    counts = Counter(job.status for job in call.jobs())
    ended = counts["FINISHED"] + counts["CANCELED"] + counts["FAILED"]
    return {
        "taskmanagers": counts.total() - ended - counts["CREATED"],
        "slots-total": dispatcher.slots,
        "slots-available": dispatcher.free_slots(),
        "jobs-running": counts.total() - ended,
        "jobs-finished": counts["FINISHED"],
        "jobs-cancelled": counts["CANCELED"],
        "jobs-failed": counts["FAILED"],
        "flink-version": VERSION,
        "flink-commit": _REVISION,
    }


def config(call: Call) -> dict[str, Any]:
    """What a page must know of the service."""
    here = time.localtime()
    return {
        "refresh-interval": _REFRESH_MS,
        "timezone-name": here.tm_zone,
        "timezone-offset": here.tm_gmtoff * 1000,
        "flink-version": VERSION,
        "flink-revision": _REVISION,
        "features": {
            "web-submit": call.cluster.submission,
            "web-cancel": True,
            "web-rescale": False,  # of single vertices
            "web-history": False,
        },
    }


def jobmanager_config(call: Call) -> list[dict[str, str]]:
    """The settings of the server."""
    return [{"key": key, "value": value} for key, value in sorted(call.cluster.settings.items())]


def jobmanager_config_of_job(call: Call) -> list[dict[str, str]]:
    """The settings of the server that looks after a job."""
    call.record()
    return jobmanager_config(call)


def jobmanager_metrics(call: Call) -> list[dict[str, str]]:
    """The names of the server's metrics or, with `get`, their values; its memory stands where Flink has its heap."""
    counts = overview(call)
    values = {
        "numRegisteredTaskManagers": counts["taskmanagers"],
        "numRunningJobs": counts["jobs-running"],
        "taskSlotsAvailable": counts["slots-available"],
        "taskSlotsTotal": counts["slots-total"],
        **dict.fromkeys(
            ("Status.JVM.Memory.Heap.Used", "Status.JVM.Memory.Heap.Committed"), resident_memory()
        ),
        "Status.JVM.Memory.Heap.Max": machine_memory(),
    }
    if not call.chosen():
        return [{"id": name} for name in values]
    return [{"id": name, "value": str(values[name])} for name in call.chosen() if name in values]


def datasets(_: Call) -> dict[str, Any]:
    """The data sets that are kept for other jobs: Firesteel has none."""
    return {"dataSets": []}


def jobmanager_log(call: Call) -> Text:
    """What the server has logged."""
    path = _logs(call).get(_LOG)
    return Text("" if path is None else path.read_text(errors="replace"))


def jobmanager_named_log(call: Call) -> Text:
    """What the server has logged, or a session's Spark application and the functions of its jobs."""
    path = _logs(call).get(call.path["log"])
    if path is None:
        raise Refusal(404, f"Could not find the log {call.path['log']}.")
    return Text(path.read_text(errors="replace"))


def jobmanager_logs(call: Call) -> dict[str, Any]:
    """The files that the server has logged to, and its session."""
    found = [(name, path.stat()) for name, path in _logs(call).items()]
    return {
        "logs": [
            {"name": name, "size": about.st_size, "mtime": int(about.st_mtime * 1000)}
            for name, about in found
        ]
    }


def _logs(call: Call) -> dict[str, Path]:
    """Return the files that there are, by name."""
    directory = call.cluster.dispatcher.directory
    paths = (directory / _LOG, SessionRecord(directory / "session").log)
    return {path.name: path for path in paths if path.is_file()}


ROUTES: Final = (
    Route("GET", "/overview", overview),
    Route("GET", "/config", config),
    Route("GET", "/datasets", datasets),
    Route("GET", "/jobmanager/config", jobmanager_config),
    Route("GET", "/jobs/:jobid/jobmanager/config", jobmanager_config_of_job),
    Route("GET", "/jobmanager/metrics", jobmanager_metrics, query=("get",)),
    Route("GET", "/jobmanager/log", jobmanager_log, produces=(PLAIN,)),
    Route("GET", "/jobmanager/logs", jobmanager_logs),
    Route("GET", "/jobmanager/logs/:log", jobmanager_named_log, produces=(PLAIN,)),
)

"""The processes of the cluster: their threads, what they print, and what they were started with."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable
from typing import Any, Final

from firesteel.common.errors import StateError
from firesteel.control.own_process import threads_here
from firesteel.rest.calls import PLAIN, Call, Refusal, Route
from firesteel.rest.processes import task_threads, threads_asked
from firesteel.rest.routes.cluster import jobmanager_log
from firesteel.rest.routes.taskmanagers import found_taskmanager, log
from firesteel.rest.sampling import refreshed
from firesteel.rest.standing import Standing
from firesteel.runtime.processes import ThreadView


def jobmanager_threads(_: Call) -> dict[str, Any]:
    """The threads of the server."""
    return _dump(threads_here())


def taskmanager_threads(call: Call) -> dict[str, Any]:
    """The threads of a job's driver and of its JVM, and where its tasks were when they were looked at last.

    A request looks at the tasks if that was a minute ago, and does not wait for it.
    """
    job = found_taskmanager(call)
    try:
        process = threads_asked(job)
    except StateError as error:
        raise Refusal(503, str(error)) from None
    return _dump((*process.threads, *_tasks(job), *(process.jvm.threads if process.jvm else ())))


def _tasks(job: Standing) -> Iterable[ThreadView]:
    try:
        samples = refreshed(job)
    except Refusal:  # they cannot be taken here
        return ()
    return () if samples is None else task_threads(job, samples)


def _dump(threads: Iterable[ThreadView]) -> dict[str, Any]:
    return {
        "threadInfos": [{"threadName": each.name, "stringifiedThreadInfo": each.text} for each in threads]
    }


def environment(_: Call) -> dict[str, Any]:
    """The Python that the server runs in, in the place of Flink's JVM."""
    options = [
        *(f"-W{option}" for option in sys.warnoptions),
        *(f"-X{name}" if value is True else f"-X{name}={value}" for name, value in sys._xoptions.items()),
    ]
    version = f"{platform.python_implementation()} {platform.python_version()}"
    return {
        "jvm": {"version": version, "arch": platform.machine(), "options": options},
        "classpath": [place for place in sys.path if place],
    }


def environment_of_job(call: Call) -> dict[str, Any]:
    """The Python that the server of a job runs in."""
    call.record()
    return environment(call)


_ONE: Final = "/taskmanagers/:taskmanagerid"

ROUTES: Final = (
    Route("GET", "/jobmanager/environment", environment),
    Route("GET", "/jobs/:jobid/jobmanager/environment", environment_of_job),
    Route(
        "GET",
        "/jobmanager/stdout",
        jobmanager_log,
        produces=(PLAIN,),
        about="What the server has printed, which is in its log.",
    ),
    Route("GET", "/jobmanager/thread-dump", jobmanager_threads),
    Route(
        "GET",
        f"{_ONE}/stdout",
        log,
        produces=(PLAIN,),
        about="What a job's drivers have printed, which is in their log.",
    ),
    Route("GET", f"{_ONE}/thread-dump", taskmanager_threads, waits=True),
)

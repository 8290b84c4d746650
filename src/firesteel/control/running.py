"""The jobs that this process runs, and what happens to them when its program ends.

A job of `execute_async` survives the end of its program, as on a Flink cluster: the process waits for it. (PyFlink's
local cluster ends with the process, and the job is lost.) If the program ends by an error or by a signal, or in an
interactive session, its jobs are stopped after the running epoch. At a normal end, a job whose results the program was
collecting is cancelled, because nobody can read them any more.

If a job fails after the normal end of its program, its error is reported as if the program had raised it, and the exit
code is 1. (Flink's client does not know: it has ended long before. Here nobody else can report it.)
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
from typing import Final

from firesteel.common.signals import INTERRUPTED, TERMINATED, Terminated, heed_sigterm, was_terminated
from firesteel.control.handle import JobHandle

_log = logging.getLogger("firesteel.progress")

_jobs: Final[list[JobHandle]] = []
_hooked = threading.Event()


def follow(handle: JobHandle) -> None:
    """Keep the process alive until this job ends. Call this before the job is started."""
    _jobs[:] = [job for job in _jobs if not job.concluded]
    _jobs.append(handle)
    heed_sigterm()
    if not _hooked.is_set():
        _hooked.set()
        # Python has no public hook at which threads can still be started; when those of `atexit` are called, they
        # cannot, and the pools of `concurrent.futures` are closed.
        threading._register_atexit(_at_exit)  # type: ignore[attr-defined]


def running_jobs() -> tuple[JobHandle, ...]:
    """Return the jobs that have not ended, oldest first."""
    return tuple(job for job in _jobs if not job.done())


def wait_for_jobs() -> None:
    """Wait for the jobs that still run at the end of a program.

    Raises, once all have ended, the first failure that the program has not seen.

    A first Ctrl-C or SIGTERM stops them after the running epoch, a second one cancels them; then it is raised.
    """
    _end(stopping=False)


def stop_jobs() -> None:
    """End all jobs after their running epochs, and wait for them. Raises the same errors as `wait_for_jobs`."""
    _end(stopping=True)


def _end(stopping: bool) -> None:
    failures: list[Exception] = []
    signalled: BaseException | None = None
    try:
        _wait_for_all(stopping, failures)
    except (KeyboardInterrupt, Terminated) as signal:
        signalled = signal
        _wait_for_all(True, failures)
    if failures:
        raise failures[0]
    if signalled is not None:
        raise signalled


def _wait_for_all(stopping: bool, failures: list[Exception]) -> None:
    """Wait for all jobs, and collect the failures that the program has not seen."""
    left = [job for job in _jobs if not job.concluded]
    for job in left:
        if job.done():
            continue
        if stopping:
            job.stop()
        elif job.collects:
            job.cancel()
        else:
            _log.warning(
                "the program has ended; its job %s still runs, and is waited for (Ctrl-C stops it)",
                job.job_id,
            )
    for job in left:
        try:
            job.wait()
        except Exception as error:
            failures.append(error)


def _at_exit() -> None:
    # An uncaught exception leaves its type there; an interactive session has a prompt.
    gone_wrong = was_terminated() or hasattr(sys, "last_type") or hasattr(sys, "ps1")
    try:
        _end(stopping=gone_wrong)
    except KeyboardInterrupt:
        atexit.register(_exit_with, INTERRUPTED)
    except Terminated:
        atexit.register(_exit_with, TERMINATED)
    except Exception as error:
        sys.excepthook(type(error), error, error.__traceback__)
        if not gone_wrong:
            atexit.register(_exit_with, 1)


def _exit_with(code: int) -> None:
    """End the process with an exit code, after all that others have registered for its end.

    At this point Python has fixed the exit code, so the process must be ended here.
    """
    atexit.unregister(_exit_with)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # nobody reads it any more, or the program has closed it
            continue
    os._exit(code)

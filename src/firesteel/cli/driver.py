"""`python -m firesteel.cli.driver DIRECTORY`: drives a job that was submitted to a cluster, until it ends.

It runs for as long as the job does, whatever happens to the cluster's server. It holds the job's lock, so that a job
never has two, and it writes down how the job ended. If it is killed it writes nothing, and the server starts another.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from firesteel.cli.joining import SESSION_LOST, join_session
from firesteel.cli.program import FAILURES, Program, log_on_stderr, report, run_job
from firesteel.common.decoders import json_decoder
from firesteel.common.errors import FiresteelError, StateError
from firesteel.common.log_formats import process_form
from firesteel.common.signals import INTERRUPTED, TERMINATED, Terminated
from firesteel.control.commands import now_ms, read_status
from firesteel.control.settings import JobSettings
from firesteel.datastream.ambient import Ambient
from firesteel.rest.records import DriverProcess, JobRecord, Outcome, Submission

_TRIES: Final = 20
_TRY_SECONDS: Final = 0.1
"""The server takes the lock for a moment to see whether it is free."""


def main() -> int:
    """Drive the job of the directory that is the only argument, and return the exit code."""
    record = JobRecord(Path(sys.argv[1]))
    for _ in range(_TRIES):
        with record.driving() as free:
            if free:
                return _drive(record, os.getpid())
        threading.Event().wait(_TRY_SECONDS)
    return 0


def _drive(record: JobRecord, pid: int) -> int:
    submission = record.submission()
    if submission is None:
        raise StateError("requires a job that was submitted", who="a driver", got=str(record.directory))
    if record.outcome() is not None:
        return 0
    before = record.driver()
    started = now_ms()
    process = DriverProcess(pid, started, 1 if before is None else before.attempt + 1)
    record.write("driver", process)

    def gone() -> None:
        """Note that this driver did not die by itself: nobody has asked the job to end, and the next one resumes it."""
        record.write("driver", msgspec.structs.replace(process, told_to_end=True))

    session = None
    if submission.session:
        try:
            session = join_session(record, submission, gone)
        except StateError as error:
            report(error)
            gone()
            return SESSION_LOST
    code = _run(record, submission)
    if code in (TERMINATED, INTERRUPTED):
        gone()
        return code
    if code != 0 and session is not None:
        session.confirm()  # else the job would have failed with the session
    record.write("outcome", _outcome(record, code, started))
    return code


def prepared(record: JobRecord, submission: Submission) -> tuple[Program, Ambient] | None:
    """Return the program of a submission and its surroundings; None if what it requires cannot be installed."""

    def with_id(settings: JobSettings) -> JobSettings:
        return replace(settings, job_id=record.id)

    configuration = submission.configuration
    requirements = record.program / "requirements.txt"
    if requirements.is_file():
        configuration = {"python.requirements": str(requirements), **configuration}
        if not _installed(requirements):
            return None
    surroundings = Ambient(
        submission.parallelism,
        None if submission.session else submission.master,
        record.state,
        configuration,
        restore_from=submission.restore_from,
        allow_non_restored_state=submission.allow_non_restored_state,
        adapt=with_id,
    )
    code = submission.code if submission.module else record.program / submission.code
    return Program(code, submission.arguments, [str(record.program)]), surroundings


def _run(record: JobRecord, submission: Submission) -> int:
    found = prepared(record, submission)
    if found is None:
        return 1
    program, surroundings = found
    try:
        with log_on_stderr(verbose=True, form=process_form(surroundings.configuration)):
            return run_job(program, surroundings, submission.pyflink)
    except Terminated:
        return TERMINATED
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1


def _installed(requirements: Path) -> bool:
    """Make the program find the packages that it requires, as workers do; return whether they could be installed."""
    shipping = importlib.import_module("firesteel.spark.shipping")  # programs without requirements can wait
    try:
        shipping.use_requirements(requirements)
    except FiresteelError as error:
        report(error)
        return False
    return True


def _outcome(record: JobRecord, code: int, started: int) -> Outcome:
    storage = record.state_storage()
    status = None if storage is None else read_status(storage)
    mine = status if status is not None and status.started_at >= started else None
    if mine is not None and mine.status in ("CANCELED", "CANCELLING"):
        return Outcome("CANCELED", now_ms())
    if code != 0:
        error = mine.error if mine is not None and mine.error else _last_words(record, code)
        return Outcome("FAILED", now_ms(), error)
    return Outcome("FINISHED", now_ms())


def _last_words(record: JobRecord, code: int) -> str:
    """Return the error that the program has printed last."""
    lines = record.log.read_text(errors="replace").splitlines()[-200:]
    for line in reversed(lines):
        if (message := _failure_in_json(line)) is not None:
            return message
    places = [place for place, line in enumerate(lines) if line.startswith("error:")]
    return "\n".join(lines[places[-1] :]) if places else f"the program ended with exit code {code}"


def _failure_in_json(line: str) -> str | None:
    try:
        said = json_decoder(_Said).decode(line)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None
    return said.message if said.logger == FAILURES else None


class _Said(msgspec.Struct):
    logger: str
    message: str


if __name__ == "__main__":
    sys.exit(main())

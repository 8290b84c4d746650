"""How a driver joins the session of its cluster, and what happens to it when that ends."""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import typer

from firesteel.rest.records import JobRecord, Submission
from firesteel.rest.session import Membership, SessionRecord

SESSION_LOST: Final = 75
"""The exit code of a driver without a session (EX_TEMPFAIL of sysexits.h)."""

_PROGRAM: Final = "FIRESTEEL_PROGRAM"


def join_session(record: JobRecord, submission: Submission, gone: Callable[[], None]) -> Membership:
    """Make the session's Spark application that of this process.

    When the session ends, `gone` is called, and this process ends at once: whatever it does, it does in that
    application, and its job goes on in the next one from the last epoch. Raises StateError if there is no session.
    """

    def leave() -> None:
        typer.echo("the session has ended; the job goes on in the next one", err=True)
        gone()
        os._exit(SESSION_LOST)

    spark = "firesteel.spark.shared"  # pyspark's import takes a second: only jobs of a session wait for it
    application = importlib.import_module(f"{spark}.application")
    attaching = importlib.import_module(f"{spark}.attaching")

    member = Membership(SessionRecord(record.directory.parents[1] / "session"), record.id, leave)
    attaching.attach(
        application.Gateway(member.way.port, member.way.secret),
        member,
        worker_environment(record, submission),
    )
    return member


def worker_environment(record: JobRecord, submission: Submission) -> Mapping[str, str]:
    """Return what a job's Python workers have in their environment beyond that of the session.

    Jobs with equal environments share worker processes. A job with secrets has its own, and so has a program that
    consists of several modules: two programs may give one name to two of them.
    """
    found = {name: os.environ[name] for name in submission.secrets if name in os.environ}
    modules = [path for path in sorted(record.program.rglob("*")) if _is_module(path)]
    if found:
        found[_PROGRAM] = record.id
    elif submission.module or len(modules) > 1:
        digest = hashlib.sha256()
        for path in modules:
            digest.update(f"{path.relative_to(record.program)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        found[_PROGRAM] = digest.hexdigest()[:16]
    return found


def _is_module(path: Path) -> bool:
    return path.is_file() and path.suffix in (".py", ".zip", ".so") and "__pycache__" not in path.parts

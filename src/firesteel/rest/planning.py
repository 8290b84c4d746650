"""The plan of a program's job, which a process of its own makes: it runs the program up to the job."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from firesteel.common.errors import StateError
from firesteel.control.views.plans import JobPlan, read_plan
from firesteel.rest.records import JobRecord, Submission

_COMMAND: Final = (sys.executable, "-m", "firesteel.cli.planner")
_PATIENCE_S: Final = 60.0
_LAST_WORDS: Final = 2_000


def plan_of(submission: Submission, program: Path, environment: Mapping[str, str]) -> JobPlan:
    """Return the plan of a submission, whose program is in a directory.

    Raises StateError with what the program said last if it fails, starts no job, or takes more than a minute.
    """
    with tempfile.TemporaryDirectory(prefix="firesteel-plan-") as place:
        record = JobRecord(Path(place) / submission.job_id)
        record.directory.mkdir()
        record.program.symlink_to(program.resolve())
        record.write("submission", submission)
        said = _run(record, environment)
        storage = record.state_storage()
        plan = None if storage is None else read_plan(storage)
    if plan is None:
        got = said[-_LAST_WORDS:].strip() or "no job"
        raise StateError("could not be planned", who=f"the program {submission.code}", got=got)
    return plan


def _run(record: JobRecord, environment: Mapping[str, str]) -> str:
    """Run the program up to its job, and return what it printed."""
    try:
        done = subprocess.run(
            [*_COMMAND, str(record.directory)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=record.program,
            env=dict(environment),
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no job within {_PATIENCE_S:g} s"
    return done.stdout.decode(errors="replace")

"""`python -m firesteel.cli.planner DIRECTORY`: writes down the plan of a submission's job, without running the job.

The directory is that of a job, as a driver has it; the plan is in its state directory then.
"""

from __future__ import annotations

import sys
from pathlib import Path

from firesteel.checkpoint.objects import Storage
from firesteel.cli.driver import prepared
from firesteel.cli.explain import run_up_to_job
from firesteel.common.errors import StateError
from firesteel.compiler import compile_graph
from firesteel.control.settings import JobSettings
from firesteel.control.views.plans import JobPlan, write_plan
from firesteel.graph import Graph
from firesteel.rest.records import JobRecord


def main() -> int:
    """Write the plan of the job in the directory that is the only argument, and return the exit code."""
    record = JobRecord(Path(sys.argv[1]))
    submission = record.submission()
    if submission is None:
        raise StateError("requires a submission", who="a plan", got=str(record.directory))
    found = prepared(record, submission)
    if found is None:
        return 1

    def write(graph: Graph, settings: JobSettings) -> None:
        plan = JobPlan.of(compile_graph(graph, settings), settings, record.id)
        write_plan(Storage.of(record.state), plan)

    return run_up_to_job(*found, submission.pyflink, write)


if __name__ == "__main__":
    sys.exit(main())

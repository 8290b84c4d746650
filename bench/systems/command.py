"""The common part of the systems' commands: their arguments, and the line that they print."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.workload import KINDS, Job, Outcome


@dataclass(frozen=True)
class Task:
    """One run: the job, the system's mode, and a directory that is removed afterwards."""

    job: Job
    mode: str
    scratch: Path


@dataclass(frozen=True)
class Run:
    """The time of a run, from its first record to its last result, and its counts.

    `records` were processed in those `seconds`; a system that does not know the time of its first record leaves out
    its first micro-batch altogether.
    """

    records: int
    seconds: float
    outcome: Outcome


def main(run: Callable[[Task], Run]) -> None:
    """Run the job that the command line describes and print its figures as one line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--keys", type=int, default=1000)
    parser.add_argument("--records", type=int, required=True)
    parser.add_argument("--mode", default="")
    arguments = parser.parse_args()
    job = Job(arguments.kind, arguments.keys, arguments.records).rounded()
    with tempfile.TemporaryDirectory(prefix="firesteel-bench-") as scratch:
        result = run(Task(job, arguments.mode, Path(scratch)))
    figures = {
        "records": result.records,
        "seconds": result.seconds,
        "results": result.outcome.results,
        "total": result.outcome.total,
        "expected_results": job.expected().results,
        "expected_total": job.expected().total,
    }
    print(json.dumps(figures), flush=True)

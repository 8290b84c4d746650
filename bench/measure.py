"""Runs one system's command and returns its figures, checked, with the peak memory of its Python workers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench.environments import pyflink_python, spark_python
from bench.part import Figures, RunError
from bench.process import System, sampling, started
from bench.workload import Job

SAMPLE_SECONDS: Final = 0.1
TIMEOUT_SECONDS: Final = 1800


FIRESTEEL: Final = System("Firesteel", "firesteel", "", lambda: Path(sys.executable))
PROCESS: Final = System("PyFlink, process mode", "pyflink", "process", pyflink_python)
THREAD: Final = System("PyFlink, thread mode", "pyflink", "thread", pyflink_python)
ROWS: Final = System("Spark, transformWithState", "spark_state", "rows", spark_python)
PANDAS: Final = System("Spark, transformWithStateInPandas", "spark_state", "pandas", spark_python)


def measure(system: System, job: Job) -> Figures:
    """Run `job` on `system` in its own process. Raises RunError if it fails or counts wrongly.

    The figures: `records` and `seconds` from the first record to the last result, their `rate` (records per second),
    and `worker_bytes`, the peak memory of the largest Python worker; None if the operating system does not report
    it (in /proc) or there is no worker.
    """
    arguments = [job.kind, "--keys", job.keys, "--records", job.records, "--mode", system.mode]
    command = ["-m", f"bench.systems.{system.module}", *arguments]
    with started(f"{system.title}: {job}", command, TIMEOUT_SECONDS, system.python()) as process:
        peak = PeakMemory(process.pid)
        with sampling(peak.look, SAMPLE_SECONDS):
            output = process.output.read()
    return _checked(system, job, json.loads(output.splitlines()[-1]), peak.bytes)


def _checked(system: System, job: Job, figures: dict[str, Any], worker_bytes: int | None) -> Figures:
    got = figures["results"], figures["total"]
    wanted = job.expected().results, job.expected().total
    if got != wanted:
        raise RunError(f"{system.title}: {job} gave {got[0]} results that sum up to {got[1]}, not {wanted}")
    records, seconds = figures["records"], figures["seconds"]
    rate = round(records / seconds)
    return {"records": records, "seconds": round(seconds, 3), "rate": rate, "worker_bytes": worker_bytes}


class PeakMemory:
    """Watches the Python workers below a process: the largest VmHWM (peak resident memory) any of them had."""

    def __init__(self, pid: int) -> None:
        self._root = pid
        self.bytes: int | None = None

    def look(self) -> None:
        for pid in workers(self._root):
            peak = _peak_of(pid)
            if peak is not None:
                self.bytes = max(self.bytes or 0, peak)


def workers(root: int) -> Iterator[int]:
    """Return the descendants of `root` that PySpark's daemon forked: its children, not the daemon itself."""
    parents: dict[int, int] = {}
    daemons: set[int] = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if b"pyspark" in (command := (entry / "cmdline").read_bytes()) and b"daemon" in command:
                daemons.add(int(entry.name))
        except OSError:
            continue  # it ended meanwhile
    for pid in daemons:
        if parents[pid] in daemons and _descends(pid, root, parents):
            yield pid


def _descends(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != root:
        pid = parents[pid]
    return pid == root


def _peak_of(pid: int) -> int | None:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None

"""What many idle jobs in one session cost.

python -m tests.rest.many_jobs 50        prints the table of docs/service.md
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firesteel.rest.client import ClusterClient
from harness.waiting import until
from tests.rest.served import Served

_PATIENCE: Final = 900.0


@dataclass(frozen=True)
class Costs:
    """Times in seconds of a clock and of a processor, memory in megabytes (the proportional share of each process)."""

    jobs: int
    started_in: float
    processor_per_start: float
    listed_in: float
    stopped_in: float
    driver_memory: float
    driver_load: float
    rest_memory: float
    rest_load: float

    def table(self) -> str:
        """Return the rows of a table."""
        rows = [
            (f"to start {self.jobs} jobs, each with a first epoch", f"{self.started_in:.0f} s"),
            ("of it processor time for each job", f"{self.processor_per_start:.1f} s"),
            ("to list them", f"{self.listed_in * 1000:.0f} ms"),
            ("to stop them all", f"{self.stopped_in:.0f} s"),
            ("an idle job: memory", f"{self.driver_memory:.0f} MB"),
            ("an idle job: of one core", f"{self.driver_load:.1%}"),
            ("server, session, JVM and Python workers: memory", f"{self.rest_memory:.0f} MB"),
            ("the same, of one core", f"{self.rest_load:.1%}"),
        ]
        return "\n".join(f"| {what} | {value} |" for what, value in rows)


def measured(directory: Path, jobs: int, idle_seconds: float = 20.0) -> Costs:
    """Start so many jobs in a session, look at them for a time without anything to do, and stop them."""
    served = Served(directory, "--session", "--slots", str(jobs))
    try:
        return _measured(served, jobs, idle_seconds)
    finally:
        served.firesteel("cluster", "stop", str(served.cluster))


def _measured(served: Served, jobs: int, idle_seconds: float) -> Costs:
    names = [f"job-{number}" for number in range(jobs)]
    began = time.monotonic()
    program = served.directory / "count.py"
    program.write_text(served.program)
    uploaded = served.client.upload(program)
    for name in names:
        served.feed(name, "a\nb\na\n")
        where = [str(served.taken(name)), str(served.put(name)), name]
        body = {"programArgsList": where, "parallelism": 1}
        served.jobs[name] = served.client.ask("POST", f"/programs/{uploaded}/run", body)["jobid"]
    until(lambda: all(len(served.counts(name)) == 3 for name in names), _PATIENCE)
    started = time.monotonic() - began
    cpu_of_start = sum(processor_time(pid) for pid in _drivers(served))
    listing = time.monotonic()
    listed = [job["state"] for job in served.ask("/jobs/overview")["jobs"]]
    listed_in = time.monotonic() - listing
    assert listed == ["RUNNING"] * jobs
    drivers, others = _drivers(served), _others(served)
    before = {pid: processor_time(pid) for pid in (*drivers, *others)}
    threading.Event().wait(idle_seconds)
    load = {pid: (processor_time(pid) - spent) / idle_seconds for pid, spent in before.items()}
    memory = {pid: _memory(pid) for pid in before}
    stopping = time.monotonic()
    with ThreadPoolExecutor(8) as clients:
        [*clients.map(lambda name: _stop(served.client, served.jobs[name]), names)]
    until(lambda: {job["state"] for job in served.ask("/jobs/overview")["jobs"]} == {"FINISHED"}, _PATIENCE)
    return Costs(
        jobs,
        started,
        cpu_of_start / jobs,
        listed_in,
        time.monotonic() - stopping,
        sum(memory[pid] for pid in drivers) / jobs,
        sum(load[pid] for pid in drivers) / jobs,
        sum(memory[pid] for pid in others),
        sum(load[pid] for pid in others),
    )


def _stop(client: ClusterClient, job: str) -> None:
    client.ask("POST", f"/jobs/{job}/stop", {"savepoint": False})


def _drivers(served: Served) -> list[int]:
    found = [served.record(name).driver() for name in served.jobs]
    return [driver.pid for driver in found if driver is not None]


def _others(served: Served) -> list[int]:
    """The server, the session, and all that the session has started."""
    names = ("server.json", "session/process.json")
    heads = {_pid(served.cluster / name) for name in names}
    everything = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal()]
    return [pid for pid in everything if _session_of(pid) in heads]


def _pid(file: Path) -> int:
    found: int = json.loads(file.read_text())["pid"]
    return found


def _session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0


def processor_time(pid: int) -> float:
    """The processor time of a process so far; 0 once it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> float:
    """The memory of a process, with its share of what it shares with others (megabytes)."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="firesteel-many-") as directory:
        sys.stdout.write(measured(Path(directory), int(sys.argv[1])).table() + "\n")


if __name__ == "__main__":
    main()

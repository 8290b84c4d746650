"""Kills the processes of a cluster while jobs are submitted to it, take savepoints and stop.

Each client asks again until it has its answer, as a client must. Then no job may be lost, none may be there twice, and
none may have run twice: the words of each job are numbered without a gap and without a repetition.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from chaos.cluster import kill, local_workers
from chaos.driver import ChaosError, wait_until
from firesteel.common.errors import FiresteelError
from firesteel.rest.client import ClusterClient, ClusterJob
from harness.guard import guard

Act = Literal["submit", "savepoint", "stop"]
Victim = Literal["server", "driver", "session", "jvm", "worker"]

_ACTS: Final[tuple[Act, ...]] = ("submit", "savepoint", "submit", "stop")
_MOST_JOBS: Final = 3
_WORDS: Final = ("a", "b", "c")
_AGAIN_S: Final = 0.2


class ServiceStep(NamedTuple):
    """Begin to do something, and kill a process after `delay` seconds; `pick` chooses the job, and the process."""

    act: Act
    victim: Victim
    delay: float
    pick: int


def service_steps(seed: int, count: int, *, session: bool) -> list[ServiceStep]:
    """Draw the steps of a run; each victim has its turn before one has a second."""
    rng = random.Random(seed)
    kinds: list[Victim] = ["server", "driver", "jvm", "worker", *(("session",) if session else ())]
    victims: list[Victim] = []
    while len(victims) < count:
        victims += rng.sample(kinds, len(kinds))
    return [
        ServiceStep(_ACTS[number % len(_ACTS)], victims[number], rng.uniform(0, 2.0), rng.randrange(1 << 16))
        for number in range(count)
    ]


@dataclass
class ServiceOutcome:
    """What was done in a run, and what was wrong in the end (nothing if all is well)."""

    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    jobs: int = 0
    words: int = 0
    seconds: float = 0.0
    differences: list[str] = field(default_factory=list)


class _Job:
    """A job, as the one who has submitted it knows it."""

    def __init__(self, directory: Path, job_id: str) -> None:
        self.id = job_id
        self.fed: Counter[str] = Counter()
        self.stopped = False
        self.taken, self.put = directory / job_id / "in", directory / job_id / "out"
        self.taken.mkdir(parents=True)

    def feed(self, pick: int) -> None:
        """Give it another file."""
        words = [_WORDS[(pick >> place) % len(_WORDS)] for place in range(12)]
        hidden = self.taken / f".{uuid.uuid4().hex}"
        hidden.write_text("".join(f"{word}\n" for word in words))
        hidden.rename(hidden.with_name(hidden.name[1:]))
        self.fed.update(words)

    def written(self) -> Counter[str]:
        """Return the lines that are visible."""
        files = [file for file in self.put.rglob("[!._]*") if file.is_file()]
        return Counter(line for file in files for line in file.read_text().splitlines())

    def complete(self) -> bool:
        """Return whether all that it was given is visible."""
        return self.written().total() >= self.fed.total()

    def differences(self) -> list[str]:
        """Return what is wrong: lines that are there twice, gaps, and words that are missing in a job that runs."""
        written = self.written()
        expected = Counter(
            f"{word} {number + 1}" for word, most in self.fed.items() for number in range(most)
        )
        if self.stopped:  # it need not have read everything, but what it has written has no gaps
            seen = Counter(line.partition(" ")[0] for line in written)
            expected = Counter(
                f"{word} {number + 1}" for word, most in seen.items() for number in range(most)
            )
        found = []
        for what, lines in (("lost", expected - written), ("too many", written - expected)):
            if lines:
                found.append(f"job {self.id}: {what}: {', '.join(sorted(lines.elements())[:5])}")
        return found


class ServiceRun:
    """A cluster in a directory, with a session or without, and the steps of a seed; `say` receives messages."""

    def __init__(
        self, directory: Path, seed: int, say: Callable[[str], None], *, session: bool = True
    ) -> None:
        self._directory = directory
        self._cluster = directory / "cluster"
        self._session = session
        self._say = say
        self._jobs: list[_Job] = []
        self._rng = random.Random(seed)
        self._watched: set[int] = set()
        self.outcome = ServiceOutcome(seed)

    def __call__(self, steps: int) -> ServiceOutcome:
        """Take the steps, and look at what came of it."""
        started = time.monotonic()
        self._start()
        try:
            self._program = self._insist("a program is taken", self._upload)
            for step in service_steps(self.outcome.seed, steps, session=self._session):
                self._take(step)
            for job in self._running():
                wait_until(f"the job {job.id} has written everything", job.complete)
            self._look()
            for job in self._running():
                self._insist("a job stops", partial(self._stop, job))
        finally:
            self._firesteel("cluster", "stop", str(self._cluster))
            self._watch([])
        self.outcome.seconds = time.monotonic() - started
        return self.outcome

    def _take(self, step: ServiceStep) -> None:
        running = self._running()
        act: Act = "submit" if not running else "stop" if len(running) > _MOST_JOBS else step.act
        job = self._new() if act == "submit" else running[step.pick % len(running)]
        for each in running:
            each.feed(step.pick)
        what = {"submit": self._submit, "savepoint": self._savepoint, "stop": self._stop}[act]
        with ThreadPoolExecutor(1) as client:
            doing = client.submit(self._insist, f"{act} is answered", partial(what, job))
            threading.Event().wait(step.delay)
            self._kill(step)
            doing.result()
        if act == "submit":
            job.feed(step.pick)
        for each in self._running():
            wait_until(f"the job {each.id} goes on", each.complete)
        self._pids(self._cluster.glob("*/*/driver.json"))
        self.outcome.counts[act] += 1
        self._say(f"{act}, and kill {step.victim} after {step.delay:.1f} s: {len(self._running())} jobs run")

    def _running(self) -> list[_Job]:
        return [job for job in self._jobs if not job.stopped]

    def _new(self) -> _Job:
        job = _Job(self._directory / "files", f"{self._rng.getrandbits(128):032x}")
        self._jobs.append(job)
        return job

    def _upload(self) -> str:
        return self._client.upload(Path(__file__).with_name("service_program.py"))

    def _submit(self, job: _Job) -> None:
        body = {"programArgsList": [str(job.taken), str(job.put)], "parallelism": 1, "jobId": job.id}
        self._client.ask("POST", f"/programs/{self._program}/run", body)

    def _savepoint(self, job: _Job) -> None:
        place = self._directory / "savepoints"
        taken = ClusterJob(f"{self._client.url}/jobs/{job.id}").savepoint(str(place), timeout=60)
        if not (Path(taken) / "savepoint.json").is_file():
            raise ChaosError(f"the savepoint {taken} is not there")

    def _stop(self, job: _Job) -> None:
        if not self._has_ended(job):
            with suppress(FiresteelError):  # the one that was asked may have ended the job without an answer
                served = ClusterJob(f"{self._client.url}/jobs/{job.id}")
                served.stop(with_savepoint=False, target=None, timeout=60, drain=False)
            wait_until("the outcome is known or must be asked for again", lambda: self._settled(job))
            if not self._has_ended(job):
                raise _Again
        job.stopped = True

    def _has_ended(self, job: _Job) -> bool:
        status = self._client.ask("GET", f"/jobs/{job.id}/status")["status"]
        if status in ("FAILED", "CANCELED"):
            raise ChaosError(f"the job {job.id} is {status}")
        return bool(status == "FINISHED")

    def _settled(self, job: _Job) -> bool:
        return (
            self._has_ended(job) or self._client.ask("GET", f"/jobs/{job.id}/status")["status"] == "RUNNING"
        )

    def _insist(self, what: str, act: Callable[[], Any]) -> Any:
        """Do something until it succeeds, as one does who asks a server that comes and goes."""
        found: list[Any] = []

        def done() -> bool:
            try:
                found.append(act())
            except (FiresteelError, _Again):
                threading.Event().wait(_AGAIN_S)
                return False
            return True

        wait_until(what, done)
        return found[-1]

    def _kill(self, step: ServiceStep) -> None:
        self.outcome.counts[f"kill {step.victim}"] += 1
        if step.victim == "server":
            kill(json.loads((self._cluster / "server.json").read_text())["pid"])
            self._start()
            return
        victims: list[int] = []

        def struck() -> bool:
            victims[:] = self._victims(step.victim)
            return bool(victims) and kill(victims[step.pick % len(victims)])

        wait_until(f"there is a {step.victim} to kill", struck)

    def _victims(self, victim: Victim) -> list[int]:
        drivers = self._pids(self._cluster.glob("jobs/*/driver.json"))
        keepers = self._pids(self._cluster.glob("session/process.json")) if self._session else drivers
        if victim == "driver":
            return drivers
        if victim == "session":
            return keepers
        if victim == "worker":
            return local_workers(set(keepers))
        return [child for keeper in keepers for child in _children(keeper)]

    def _pids(self, files: Any) -> list[int]:
        """Return the processes that files name, of those that are there."""
        named = [json.loads(file.read_text())["pid"] for file in sorted(files)]
        living = [pid for pid in named if _leads(pid)]
        self._watch(living)
        return living

    def _watch(self, processes: list[int]) -> None:
        """Have processes end with this one, however it ends; forget those that have ended."""
        for pid in [pid for pid in self._watched if not _leads(pid)]:
            guard().forget(pid)
            self._watched.discard(pid)
        for pid in set(processes) - self._watched:
            guard().watch(pid)
            self._watched.add(pid)

    def _start(self) -> None:
        options = ["--port", "0", "--slots", "8", *(("--session",) if self._session else ())]
        self._client = ClusterClient(
            self._firesteel("cluster", "start", str(self._cluster), *options).strip()
        )
        self._pids([self._cluster / "server.json"])

    def _firesteel(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "firesteel.cli", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ChaosError(f"{' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def _look(self) -> None:
        """Compare the jobs that there are with those that were submitted, and what they have written."""
        listed = Counter(job["jid"] for job in self._client.ask("GET", "/jobs/overview")["jobs"])
        submitted = Counter(job.id for job in self._jobs)
        for what, jobs in (("lost", submitted - listed), ("too many", listed - submitted)):
            self.outcome.differences += [f"job {job}: {what}" for job in jobs]
        for job in self._jobs:
            self.outcome.differences += job.differences()
        self.outcome.jobs = len(self._jobs)
        self.outcome.words = sum(job.written().total() for job in self._jobs)


def _leads(pid: int) -> bool:
    """Return whether a process is there, and leads a session."""
    with suppress(ProcessLookupError):
        return os.getsid(pid) == pid
    return False


class _Again(Exception):  # noqa: N818 - nothing is wrong
    """What was asked for has not happened."""


def _children(pid: int) -> list[int]:
    with suppress(FileNotFoundError, ProcessLookupError):
        threads = Path(f"/proc/{pid}/task").iterdir()
        return [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    return []

"""One run: a cluster, a database, a job, the steps of a seed, and the comparison at the end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import psycopg

from chaos.cluster import executors, kill, python_workers
from chaos.driver import ChaosError, Driver, wait_until
from chaos.job import ChaosJob, System
from chaos.plan import Step, steps
from harness.cluster import standalone_cluster
from harness.postgres import postgres_server

AHEAD = 10 * 200
"""The maximum number of unread events: fewer than the disorder that the watermarks of the job allow."""


@dataclass
class Outcome:
    """The steps of a run, and its differences from an uninterrupted run (none if it is correct)."""

    seed: int
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    events: int = 0
    results: int = 0
    epochs: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def kills(self) -> int:
        """The number of killed processes."""
        return sum(count for what, count in self.counts.items() if what.startswith("kill"))


class Visible:
    """The lines in the visible files of a file sink, read as they appear."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._read: set[Path] = set()
        self.lines: Counter[str] = Counter()
        self.seen = 0

    def update(self) -> int:
        """Read new lines; return the number of events seen so far."""
        for path in self._directory.rglob("[!.]*"):
            if path.is_file() and path not in self._read:
                self._read.add(path)
                lines = path.read_text().replace('"', "").splitlines()
                self.lines.update(lines)
                self.seen += sum(line.startswith("seen,") for line in lines)
        return self.seen


class Run:
    """A run of a job as the module describes it; `say` receives messages about the progress."""

    def __init__(self, job: ChaosJob, directory: Path, seed: int, say: Callable[[str], None]) -> None:
        self._job = job
        self._directory = directory
        self._say = say
        self.outcome = Outcome(seed)
        self._visible = Visible(directory / "output")

    def __call__(
        self, kills: int, savepoints: int, rescales: int, database_failures: int, minutes: float = inf
    ) -> Outcome:
        """Take the steps, as many of them as begin within `minutes`, and compare."""
        started = time.monotonic()
        with ExitStack() as running:
            self._server = running.enter_context(postgres_server())
            self._database = self._server.new_database()
            self._make_tables()
            others = self._job.systems(running)
            self._systems: dict[str, System] = others or {"database": self._server}
            self._feed = self._job.feed(self._directory, self.outcome.seed)
            cluster = running.enter_context(
                standalone_cluster(self._directory / "cluster", workers=2, cores=2)
            )
            self._sessions = cluster.sessions
            url = self._server.url(self._database)
            self._driver = running.enter_context(Driver(self._job, self._directory, cluster.url, url))
            self._driver.start()
            for step in steps(self.outcome.seed, kills, savepoints, rescales, database_failures):
                if time.monotonic() - started > minutes * 60:
                    break
                self._take(step)
            self._finish()
        self.outcome.seconds = time.monotonic() - started
        return self.outcome

    def _take(self, step: Step) -> None:
        self._feed.more(step.files)
        wait_until("the job keeps up", lambda: self._behind() <= AHEAD, self._driver)
        if step.awkward and self._job.sees_commit():
            self.outcome.counts["of them within a commit"] += 1
        else:
            time.sleep(step.delay)
        before = self._visible.update()
        {
            "kill": self._kill,
            "rescale": self._rescale,
            "savepoint": self._savepoint,
            "database": self._restart_system,
        }[step.act](step)
        if self._behind():
            wait_until("the job goes on", lambda: self._visible.update() > before, self._driver)

    def _kill(self, step: Step) -> None:
        what = step.strike
        if what in ("driver", "machine"):
            self._driver.kill(whole=what == "machine")
            self._driver.start()
        else:
            find = python_workers if what == "worker" else executors
            victims: list[int] = []

            def struck() -> bool:
                victims[:] = find(self._sessions)
                return bool(victims) and kill(victims[step.pick % len(victims)])

            wait_until(f"there is a {what} to kill", struck, self._driver)
        self._note(f"kill {what}")

    def _rescale(self, step: Step) -> None:
        self._driver.ask("rescale", str(step.parallelism))
        self._driver.parallelism = step.parallelism
        self._note(f"rescale to {step.parallelism}")

    def _savepoint(self, step: Step) -> None:
        """Stop with a savepoint, and resume from it in a new state directory."""
        del step
        path = self._driver.ask("stop", str(self._directory / "savepoints"))
        self._driver.wait_end()
        self.outcome.epochs += self._driver.epoch()
        self._driver.states += 1
        self._driver.restore_from = path
        self._driver.start()
        self._note("savepoint and restore")

    def _restart_system(self, step: Step) -> None:
        name = sorted(self._systems)[step.pick % len(self._systems)]
        self._systems[name].kill()
        self._systems[name].start()
        self._note(f"{name} killed")

    def _finish(self) -> None:
        wait_until("everything is seen", lambda: not self._behind(), self._driver)
        self._feed.close()
        events = self._feed.events
        expected = self._job.results(events)
        wait_until("all results are there", lambda: self._results() >= sum(expected.values()), self._driver)
        self._driver.ask("stop")
        self._driver.wait_end()
        self._visible.update()
        self.outcome.events, self.outcome.results = len(events), sum(expected.values())
        self.outcome.epochs += self._driver.epoch()
        everything = expected + Counter(f"seen,{event.id}" for event in events)
        everything["seen,-1"] += 1
        self._compare("files", everything, self._visible.lines)
        with psycopg.connect(self._server.dsn(self._database)) as connection:
            for table, rows in self._job.in_tables(events).items():
                found = connection.execute(f"SELECT * FROM {table}").fetchall()
                self._compare(f"table {table}", rows, Counter(found))
        for topic, (wanted, found_there) in self._job.in_topics(events).items():
            self._compare(f"topic {topic}", wanted, found_there)

    def _compare(self, where: str, expected: Counter[Any], found: Counter[Any]) -> None:
        for what, rows in (("lost", expected - found), ("too many", found - expected)):
            if rows:
                sample = ", ".join(map(repr, list(rows)[:5]))
                self.outcome.differences.append(f"{where}: {sum(rows.values())} {what}, e.g. {sample}")

    def _behind(self) -> int:
        """Return the number of events that arrived and were not seen."""
        return len(self._feed.events) - self._visible.update()

    def _results(self) -> int:
        self._visible.update()
        return sum(self._visible.lines.values()) - self._visible.seen

    def _make_tables(self) -> None:
        with psycopg.connect(self._server.dsn(self._database), autocommit=True) as connection:
            for statement in self._job.tables:
                connection.execute(statement)

    def _note(self, what: str) -> None:
        self.outcome.counts[what] += 1
        if self._driver.ended not in (None, 0):
            raise ChaosError(f"the driver ended ({self._driver.ended}) after: {what}\n{self._driver.log()}")
        self._say(f"{self.outcome.kills:4d} kills, {self._visible.seen:7d} events seen: {what}")

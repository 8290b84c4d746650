"""Drivers are started once for each job, as slots allow, and again when they die; dispatchers may come and go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from firesteel.common.errors import StateError
from firesteel.rest.dispatcher import MOST_DEATHS, MOST_STARTING, Dispatcher, new_job_id
from firesteel.rest.history import History
from firesteel.rest.records import JobRecord, Outcome, Submission
from firesteel.rest.standing import standing

PUPPET = (sys.executable, str(Path(__file__).with_name("puppet.py")))
CANNOT_BEGIN = (sys.executable, "-S", "-c", "raise SystemExit(1)")


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000

    def __call__(self) -> int:
        self.now += 1
        return self.now


class Cluster:
    """Dispatchers of one directory, of which none runs by itself: the test takes their turns."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.clock = Clock()
        self.dispatchers: list[Dispatcher] = []
        self.program = directory / "program"
        self.program.mkdir()
        self.dispatcher = self.another()

    def another(self, slots: int = 2, driver: tuple[str, ...] = PUPPET) -> Dispatcher:
        made = Dispatcher(self.directory, slots, secrets={"KEY": "hidden"}, driver=driver, clock=self.clock)
        self.dispatchers.append(made)
        return made

    def end(self, history: History, *ages: int) -> tuple[Dispatcher, list[JobRecord]]:
        """Return jobs that have ended so many milliseconds ago, and a dispatcher with their history."""
        dispatcher = Dispatcher(self.directory, 2, driver=PUPPET, clock=self.clock, history=history)
        self.dispatchers.append(dispatcher)
        records = [self.submit("finish") for _ in ages]
        for record, age in zip(records, ages, strict=True):
            record.write("outcome", Outcome("FINISHED", self.clock() - age))
        return dispatcher, records

    def submit(self, behaviour: str, slots: int = 1, secrets: tuple[str, ...] = ()) -> JobRecord:
        submission = Submission(
            new_job_id(), "main.py", self.clock(), arguments=(behaviour,), slots=slots, secrets=secrets
        )
        return self.dispatcher.submit(submission, self.program)

    def turns_until(self, condition: Callable[[], object], dispatcher: Dispatcher | None = None) -> None:
        deadline, moment = time.monotonic() + 20, threading.Event()
        while not condition():
            assert time.monotonic() < deadline
            (dispatcher or self.dispatcher).turn()
            moment.wait(0.02)


def drivers(record: JobRecord) -> list[int]:
    """The processes that took the job's lock."""
    file = record.directory / "drivers"
    return [int(line.split()[0]) for line in file.read_text().splitlines()] if file.exists() else []


def living(record: JobRecord) -> bool:
    return bool(drivers(record)) and record.driver_lives()


def ended(record: JobRecord) -> bool:
    return record.outcome() is not None and not record.driver_lives()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    for dispatcher in made.dispatchers:
        for process, _ in dispatcher._started.values():
            process.kill()
            process.wait()


def let_end(record: JobRecord) -> None:
    os.kill(drivers(record)[-1], signal.SIGUSR1)


def kill(record: JobRecord) -> None:
    """Kill a job's driver."""
    os.kill(drivers(record)[-1], signal.SIGKILL)


def test_a_job_is_driven_to_its_end(cluster: Cluster):
    record = cluster.submit("finish")
    assert standing(record).status == "CREATED"
    cluster.turns_until(lambda: ended(record))
    assert standing(record).status == "FINISHED"
    cluster.dispatcher.turn()
    assert len(drivers(record)) == 1


def test_a_job_that_does_not_fit_waits_and_the_oldest_comes_first(cluster: Cluster):
    first, large, small = cluster.submit("run"), cluster.submit("run", slots=2), cluster.submit("run")
    cluster.turns_until(lambda: living(first))
    for _ in range(3):
        cluster.dispatcher.turn()
    assert not drivers(large)
    assert not drivers(small)
    assert cluster.dispatcher.free_slots() == 1
    let_end(first)
    cluster.turns_until(lambda: living(large))
    assert not drivers(small)
    let_end(large)
    cluster.turns_until(lambda: living(small))


def test_a_job_that_is_rescaled_takes_slots_that_are_free_and_gives_them_back(cluster: Cluster):
    first, second = cluster.submit("run"), cluster.submit("run")
    cluster.turns_until(lambda: living(first) and living(second))
    with pytest.raises(StateError, match="a parallelism of at most 1, the slots that it has and those that"):
        cluster.dispatcher.claim(first, 2)
    let_end(second)
    cluster.turns_until(lambda: ended(second))
    assert cluster.dispatcher.claim(first, 2) == 1
    waiting = cluster.submit("run")
    cluster.dispatcher.turn()
    assert cluster.dispatcher.reason(waiting) == "requires 1 slots; of 2, 0 are free"
    assert cluster.dispatcher.claim(first, 1) == 2
    cluster.turns_until(lambda: living(waiting))


def test_only_so_many_drivers_start_at_a_time(cluster: Cluster):
    sleeping = (sys.executable, "-S", "-c", "import signal; signal.pause()")
    cluster.dispatcher = cluster.another(slots=MOST_STARTING + 2, driver=sleeping)
    records = [cluster.submit("run") for _ in range(MOST_STARTING + 2)]
    for _ in range(3):
        cluster.dispatcher.turn()
    assert set(cluster.dispatcher._started) == {record.id for record in records[:MOST_STARTING]}
    reasons = [cluster.dispatcher.reason(record) for record in records[MOST_STARTING:]]
    waiting = f"{MOST_STARTING} other drivers are starting"
    assert reasons == [waiting, f"waits for an earlier job ({records[MOST_STARTING].id})"]


def test_a_job_that_can_never_fit_is_refused(cluster: Cluster):
    with pytest.raises(StateError, match="parallelism of at most 2, the slots of this cluster; got 3"):
        cluster.submit("run", slots=3)
    assert cluster.dispatcher.jobs() == []


def test_a_driver_that_is_killed_is_replaced(cluster: Cluster):
    record = cluster.submit("run")
    cluster.turns_until(lambda: living(record))
    kill(record)
    cluster.turns_until(lambda: len(record.deaths()) == 1)
    assert standing(record).status == "RESTARTING"
    assert len(drivers(record)) == 1  # it waits a moment before it tries again
    cluster.clock.now += 500
    cluster.turns_until(lambda: len(drivers(record)) == 2 and living(record))
    assert record.driver().attempt == 2


def test_a_job_whose_drivers_die_in_vain_fails(cluster: Cluster):
    cluster.dispatcher = cluster.another(driver=CANNOT_BEGIN)
    record = cluster.submit("run")

    def later() -> bool:
        cluster.clock.now = max(cluster.clock.now, cluster.dispatcher.due(record))
        return record.outcome() is not None

    cluster.turns_until(later)
    assert standing(record).status == "FAILED"
    assert f"{MOST_DEATHS} drivers in a row died" in (record.outcome().error or "")
    assert len(record.deaths()) == MOST_DEATHS


def test_a_driver_that_cannot_begin_is_not_started_without_end(cluster: Cluster):
    cluster.dispatcher = cluster.another(driver=CANNOT_BEGIN)
    record = cluster.submit("run")
    cluster.turns_until(lambda: len(record.deaths()) == 1)
    assert "ended before it began" in record.deaths()[0].reason
    for _ in range(20):
        cluster.dispatcher.turn()
    assert len(record.deaths()) == 1


def test_another_dispatcher_adopts_the_drivers(cluster: Cluster):
    record = cluster.submit("run")
    cluster.turns_until(lambda: living(record))
    other = cluster.another()
    for _ in range(5):
        other.turn()
    assert len(drivers(record)) == 1
    assert other.free_slots() == 1
    kill(record)
    cluster.dispatcher._reap()  # a real one would be gone, and its child another's
    cluster.turns_until(lambda: len(record.deaths()) == 1, other)
    cluster.clock.now += 500
    cluster.turns_until(lambda: len(drivers(record)) == 2 and living(record), other)


def test_two_drivers_of_one_job_are_one(cluster: Cluster):
    record = cluster.submit("run")
    cluster.turns_until(lambda: living(record))
    second = subprocess.run([*PUPPET, str(record.directory)], check=False)
    assert second.returncode == 3
    assert len(drivers(record)) == 1


def test_a_job_that_waits_is_cancelled_without_a_driver(cluster: Cluster):
    first, second = cluster.submit("run", slots=2), cluster.submit("run")
    cluster.turns_until(lambda: living(first))
    cluster.dispatcher.cancel(second)
    assert standing(second).status == "CANCELED"
    let_end(first)
    cluster.turns_until(lambda: ended(first))
    assert not drivers(second)


def test_a_cancelled_job_whose_driver_dies_is_not_started_again(cluster: Cluster):
    record = cluster.submit("run")
    cluster.turns_until(lambda: living(record))
    cluster.dispatcher.cancel(record)
    assert standing(record).status == "CANCELLING"
    kill(record)
    cluster.turns_until(lambda: record.outcome() is not None, cluster.another())
    assert standing(record).status == "CANCELED"
    assert len(drivers(record)) == 1


def test_a_job_that_waits_says_why(cluster: Cluster):
    first, large, small = cluster.submit("run"), cluster.submit("run", slots=2), cluster.submit("run")
    cluster.turns_until(lambda: living(first))
    assert cluster.dispatcher.reason(first) is None
    assert cluster.dispatcher.reason(large) == "requires 2 slots; of 2, 1 are free"
    assert cluster.dispatcher.reason(small) == f"waits for an earlier job ({large.id})"


def test_a_secret_of_the_servers_environment_is_not_in_a_drivers(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("KEY", "hidden")
    cluster.dispatcher = cluster.another()
    record = cluster.submit("finish")
    cluster.turns_until(lambda: ended(record))
    assert (record.directory / "drivers").read_text().split()[1:] == []


def test_a_submission_that_was_not_written_is_none(cluster: Cluster):
    (cluster.directory / "jobs" / new_job_id()).mkdir()
    cluster.dispatcher.turn()
    assert cluster.dispatcher.jobs() == []


def test_a_job_that_has_ended_stays_for_some_time(cluster: Cluster):
    dispatcher, (old, young) = cluster.end(History(milliseconds=5_000), 6_000, 1_000)
    running = cluster.submit("run")
    cluster.turns_until(lambda: living(running), dispatcher)
    assert {record.id for record in dispatcher.jobs()} == {young.id, running.id}
    assert not old.directory.exists()
    dispatcher.turn()
    assert young.directory.exists()  # it looks once in a minute
    cluster.clock.now += 60_000
    dispatcher.turn()
    assert {record.id for record in dispatcher.jobs()} == {running.id}


def test_at_most_so_many_ended_jobs_stay(cluster: Cluster):
    dispatcher, (first, second, third) = cluster.end(History(jobs=2), 300, 100, 200)
    dispatcher.turn()
    assert {record.id for record in dispatcher.jobs()} == {second.id, third.id}
    assert not first.directory.exists()


def test_a_job_with_savepoints_stays(cluster: Cluster):
    dispatcher, (record,) = cluster.end(History(milliseconds=0), 10)
    savepoint = Path(record.state) / "savepoints" / "one"
    savepoint.mkdir(parents=True)
    dispatcher.turn()
    assert [job.id for job in dispatcher.jobs()] == [record.id]
    savepoint.rmdir()
    cluster.clock.now += 60_000
    dispatcher.turn()
    assert dispatcher.jobs() == []


def test_what_a_killed_server_has_left_is_removed(cluster: Cluster):
    jobs = cluster.directory / "jobs"
    for name in ("expired-1", "draft-1", "draft-2"):
        (jobs / name).mkdir()
    cluster.clock.now = int(time.time() * 1000)
    os.utime(jobs / "draft-1", (0, 0))
    cluster.dispatcher.turn()
    assert [folder.name for folder in jobs.iterdir()] == ["draft-2"]


def test_a_job_that_is_sent_twice_at_once_is_one(cluster: Cluster):
    submission = Submission(new_job_id(), "main.py", 1, arguments=("finish",))
    first = cluster.dispatcher.submit(submission, cluster.program)
    assert cluster.another().submit(submission, cluster.program).directory == first.directory
    assert [folder.name for folder in (cluster.directory / "jobs").iterdir()] == [first.id]


def test_a_secret_reaches_the_job_that_asks_for_it_alone(cluster: Cluster):
    asking, other = cluster.submit("finish", secrets=("KEY",)), cluster.submit("finish")
    cluster.turns_until(lambda: ended(asking) and ended(other))
    assert (asking.directory / "drivers").read_text().split()[1:] == ["hidden"]
    assert (other.directory / "drivers").read_text().split()[1:] == []
    assert "hidden" not in (asking.directory / "submission.json").read_text()
    with pytest.raises(StateError, match="requires secrets that this cluster has"):
        cluster.submit("finish", secrets=("OTHER",))

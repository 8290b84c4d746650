"""What a Python worker keeps of jobs goes when they have ended."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from firesteel.common.errors import UserFunctionError
from firesteel.functions.epoch import EpochFacts
from firesteel.runtime.plan import EpochPlan
from firesteel.spark.announcement import Announcement
from firesteel.spark.kept import IDLE_S, Kept

RunPython = Callable[..., CompletedProcess[str]]

PROGRAM = Path(__file__).parent / "programs" / "short_jobs.py"
JOBS = 24
SPARK = {"spark.driver.host": "127.0.0.1", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def told(*running: Path, driver: str = "driver") -> Announcement:
    epoch = EpochPlan("job", EpochFacts(1, "try", 0), 1, 0)
    return Announcement(epoch, driver, frozenset(map(str, running)))


def test_a_job_that_runs_keeps_what_it_has_while_others_have_tasks(tmp_path):
    kept = Kept()
    one, other = tmp_path / "one", tmp_path / "other"
    first = kept.job(str(one), told(one, other))
    kept.job(str(other), told(one, other))
    assert kept.job(str(one), told(one, other)) is first


def test_a_job_that_has_ended_is_closed_with_the_next_task_of_another(tmp_path, monkeypatch):
    kept = Kept()
    one, other = tmp_path / "one", tmp_path / "other"
    closed = []
    first = kept.job(str(one), told(one, other))
    monkeypatch.setattr(first.worker, "close", lambda: closed.append("operators"))
    monkeypatch.setattr(first.state, "close", lambda: closed.append("copies"))
    kept.job(str(other), told(other))
    assert closed == ["operators", "copies"]
    assert len(kept) == 1


def test_what_cannot_be_closed_does_not_fail_another_job(tmp_path, monkeypatch, caplog):
    def fail() -> None:
        raise UserFunctionError("raised in close()", who="map 'parse'")

    kept = Kept()
    first = kept.job(str(tmp_path / "one"), told(tmp_path / "one"))
    closed = []
    monkeypatch.setattr(first.worker, "close", fail)
    monkeypatch.setattr(first.state, "close", lambda: closed.append("copies"))
    with caplog.at_level(logging.WARNING):
        kept.job(str(tmp_path / "other"), told(tmp_path / "other"))
    assert closed == ["copies"]
    assert "map 'parse' raised in close()" in caplog.text


def test_jobs_of_a_driver_that_is_not_heard_of_go_when_they_have_been_idle(tmp_path):
    clock = Clock()
    kept = Kept(clock)
    kept.job(str(tmp_path / "one"), told(tmp_path / "one", driver="another"))
    kept.job(str(tmp_path / "two"), told(tmp_path / "two"))
    assert len(kept) == 2
    clock.now = IDLE_S + 1
    kept.job(str(tmp_path / "two"), told(tmp_path / "two"))
    assert len(kept) == 1


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark-cluster")
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_many_short_jobs_leave_nothing_in_the_workers(tmp_path: Path, run_python: RunPython) -> None:
    (tmp_path / "closed").mkdir()
    done = run_python(
        *("-m", "firesteel.cli", "run", "--master", "local[2]", "--parallelism", 1),
        *(word for name, value in SPARK.items() for word in ("--conf", f"{name}={value}")),
        *(PROGRAM, JOBS, tmp_path / "closed"),
        SPARK_LOCAL_IP="127.0.0.1",
        SPARK_LOCAL_DIRS=str(tmp_path / "local"),
    )
    assert done.returncode == 0, done.stderr
    usage = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(usage) == JOBS
    descriptors, memory, kept = zip(*usage, strict=True)
    assert set(kept) == {1}
    assert max(descriptors[4:]) <= max(descriptors[:4]) + 3
    assert max(memory) <= memory[3] + 1024 * JOBS  # KiB: a quarter of what a job is
    closed = {int(path.name.partition("-")[0]) for path in (tmp_path / "closed").iterdir()}
    assert closed >= set(range(JOBS - 1))

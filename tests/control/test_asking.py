"""Whether a driver runs that has reported not long ago: it reports again, or it was killed."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.control import asking
from firesteel.control.commands import ALIVE_MS, DriverStatus, read_status, write_status


@dataclass
class Time:
    now: int = 1_000_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def time(monkeypatch):
    found = Time()
    monkeypatch.setattr(asking, "now_ms", found)
    return found


def driver(time, status="RUNNING"):
    return DriverStatus("j", "counts", status, 3, 1, "here", 7, time.now - 5_000, time.now)


def test_one_that_reports_again_runs(tmp_path, time, replace_sleep):
    job = Storage.of(tmp_path)
    write_status(job, driver(time))

    def report(seconds):
        time.now += 2_000
        write_status(job, driver(time))

    replace_sleep(report)
    assert asking.still_runs(job)
    assert time.now == 1_002_000


def test_one_that_is_silent_for_long_enough_was_killed(tmp_path, time, replace_sleep):
    job = Storage.of(tmp_path)
    write_status(job, driver(time))

    def wait(seconds):
        time.now += round(seconds * 1000)

    replace_sleep(wait)
    assert not asking.still_runs(job)
    assert time.now == 1_000_000 + ALIVE_MS


@pytest.mark.parametrize("status", [None, "FINISHED", "CANCELED"])
def test_one_that_has_ended_is_not_waited_for(tmp_path, time, replace_sleep, status):
    job = Storage.of(tmp_path)
    if status is not None:
        write_status(job, driver(time, status))
    replace_sleep(lambda seconds: pytest.fail("it waits"))
    assert not asking.still_runs(job)


def test_one_that_ends_meanwhile_does_not_run(tmp_path, time, replace_sleep):
    job = Storage.of(tmp_path)
    write_status(job, driver(time))

    def end(seconds):
        write_status(job, msgspec.structs.replace(read_status(job), status="FINISHED"))

    replace_sleep(end)
    assert not asking.still_runs(job)

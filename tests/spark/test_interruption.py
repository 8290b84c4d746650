"""Jobs that one thread runs and another cancels; what Spark itself does is in `test_jobs`."""

from __future__ import annotations

import threading

import pytest

from firesteel.common.errors import EngineError
from firesteel.spark.interruption import Interruption


class Session:
    """Counts what it is asked to cancel; its job starts late, and ends when it is cancelled."""

    def __init__(self) -> None:
        self.tags: list[str] = []
        self.cancelled = 0
        self.job = threading.Event()

    def addTag(self, tag: str) -> None:
        self.tags.append(tag)

    def removeTag(self, tag: str) -> None:
        self.tags.remove(tag)

    def interruptTag(self, tag: str) -> None:
        self.cancelled += 1
        if self.cancelled == 3:  # the job was not there yet when the first two calls looked for it
            self.job.set()


def test_a_job_that_is_submitted_after_the_interrupt_is_cancelled_too():
    session = Session()
    interruption = Interruption(session, "tag")
    with interruption.running():
        assert session.tags == ["tag"]
        interruption.interrupt()
        assert session.job.wait(60)
    assert session.tags == []


def test_nothing_runs_after_an_interrupt():
    session = Session()
    interruption = Interruption(session, "tag")
    interruption.interrupt()
    interruption.interrupt()
    with pytest.raises(EngineError, match="interrupted"), interruption.running():
        pytest.fail("it ran")
    assert session.tags == []
    assert not session.job.is_set()

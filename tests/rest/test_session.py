"""A session is started for jobs that wait, found again, and replaced when it has ended; drivers learn of its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from firesteel.common.errors import StateError
from firesteel.rest.session import Membership, SessionRecord, SessionSettings
from firesteel.rest.session_keeping import SessionKeeping
from harness.waiting import until

PUPPET = (sys.executable, str(Path(__file__).with_name("session_puppet.py")))


class Kept:
    """The session of a directory, and those who keep it."""

    def __init__(self, directory: Path) -> None:
        self.record = SessionRecord(directory / "session")
        self.now = 1_000_000
        self.keepings: list[SessionKeeping] = []

    def another(self, master: str = "local") -> SessionKeeping:
        settings = SessionSettings(master)
        made = SessionKeeping(self.record, settings, os.environ, lambda: self.now, PUPPET)
        self.keepings.append(made)
        return made

    def starts(self) -> list[int]:
        file = self.record.directory / "starts"
        return [int(line) for line in file.read_text().split()] if file.exists() else []


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    made = Kept(tmp_path)
    yield made
    for keeping in made.keepings:
        if keeping._process is not None:
            keeping._process.kill()
            keeping._process.wait()


def test_a_session_is_started_once_and_found_again(kept: Kept):
    keeping = kept.another()
    assert not kept.record.open()
    until(keeping.ready)
    assert kept.another().ready()
    assert len(kept.starts()) == 1


def test_a_session_that_ended_is_replaced(kept: Kept):
    keeping = kept.another()
    until(keeping.ready)
    os.kill(kept.starts()[0], signal.SIGKILL)
    until(lambda: not kept.record.lives())
    assert not kept.record.open()
    kept.now += 60_000
    until(keeping.ready)
    assert len(kept.starts()) == 2


def test_a_session_that_cannot_begin_is_started_ever_more_rarely(kept: Kept):
    keeping = kept.another(master="none")
    for wait in (1_000, 2_000, 4_000):
        before = len(kept.starts())
        until(lambda before=before: keeping.ready() or len(kept.starts()) > before)
        until(lambda: keeping._process is not None and keeping._process.poll() is not None)
        kept.now += wait - 1
        for _ in range(5):
            assert not keeping.ready()
        assert len(kept.starts()) == before + 1
        kept.now += 1


def test_a_driver_learns_of_the_end_of_its_session(kept: Kept):
    until(kept.another().ready)
    lost = threading.Event()
    member = Membership(kept.record, "0" * 32, lost.set)
    assert (member.way.port, member.way.secret) == (1, "secret")
    member.confirm()
    assert member.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        member.wait(0)
    os.kill(member.pid, signal.SIGKILL)
    assert lost.wait(20)
    assert member.wait(20) == member.poll() == -1
    member.confirm()


def test_a_session_that_is_not_there_cannot_be_joined(kept: Kept):
    with pytest.raises(StateError, match="the session of the cluster cannot be joined; got none"):
        Membership(kept.record, "0" * 32, lambda: None)
    until(kept.another().ready)
    os.kill(kept.starts()[0], signal.SIGKILL)
    until(lambda: not kept.record.lives())
    with pytest.raises(StateError, match="cannot be joined"):
        Membership(kept.record, "0" * 32, lambda: None)

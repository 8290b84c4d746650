"""An epoch is published while the next one is planned and run: what dies then is neither lost nor repeated."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from firesteel.common import Types
from firesteel.common.configuration import Configuration
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.functions.sink import Committer
from firesteel.testing import ManualClock, executing
from tests.recovery import ledger
from tests.recovery.crashing import Crasher, points, publishes_beside, reach

COUNT = 40
EACH = 8
PATIENCE_S = 60
NOTED = "after noting what is published"
MANIFEST = "before the manifest"


class BesideSink(ledger.LedgerSink):
    """A ledger that is booked beside the next epoch; of its bookings the one after the first `fails` fails."""

    fails: int | None = None

    def create_committer(self) -> Committer:
        committer = super().create_committer()
        committer.beside = True
        return committer if self.fails is None else _Failing(committer, self.fails)


class _Failing(Committer):
    beside = True

    def __init__(self, committer: Committer, after: int) -> None:
        self._committer = committer
        self._left = after

    def commit(self, committables: Any) -> None:
        self._left -= 1
        if self._left == -1:
            raise OSError("the ledger is lent out")
        self._committer.commit(committables)


class Meeting(Crasher):
    """Crashes when the publishing of epoch 2 is at one point, and what goes on beside it, epoch 3, at another."""

    def __init__(self, publishing: str, running: str) -> None:
        super().__init__()
        self._awaited = {True: publishing, False: running}
        self._both = threading.Barrier(2)

    def reach(self, what: str) -> None:
        beside = publishes_beside()
        due = self.published == 2 if beside else self.epoch == 3
        if self.crashed is None and due and what == self._awaited[beside]:
            self._both.wait(PATIENCE_S)
            self.crashed = (self.epoch, what)
        super().reach(what)


BAD = 3 * EACH - 2
"""A record of epoch 3."""


def pick(number: int) -> int:
    if number == BAD:
        reach("a bad record")
    return number


def run(directory: Path, crasher: Crasher, sink: BesideSink | None = None, **options: str) -> None:
    with (
        points(crasher),
        executing(
            crasher.executor,
            epoch_records=EACH,
            parallelism=1,
            state_dir=str(directory / "state"),
            clock=ManualClock(1_000_000),
        ),
    ):
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options))
        numbers = env.from_source(
            DataGeneratorSource(int, count=COUNT, type_info=Types.LONG()), None, "numbers"
        )
        numbers.map(pick).sink_to(sink or BesideSink(str(directory)))
        try:
            env.execute()
        except Exception:
            if crasher.crashed is None:
                raise


def booked(directory: Path) -> Counter[int]:
    return Counter(ledger.rows(str(directory)))


ALL = Counter(range(COUNT))


def test_an_epoch_is_committed_when_the_one_before_it_is_published(directory):
    crasher = Crasher()
    run(directory, crasher)
    steps = [what for _, what in crasher.points if what in {MANIFEST, NOTED}]
    assert steps == [MANIFEST, NOTED] * (len(steps) // 2)
    assert len(steps) // 2 >= COUNT // EACH
    assert booked(directory) == ALL


@pytest.mark.parametrize("publishing", ["before booking", "after booking", NOTED])
@pytest.mark.parametrize("running", ["before planning", "before task 0.0", "after task 0.0"])
def test_a_crash_while_an_epoch_is_published_and_the_next_one_runs(directory, publishing, running):
    crasher = Meeting(publishing, running)
    run(directory, crasher)
    assert crasher.crashed is not None
    found = booked(directory)
    assert found == Counter(range(EACH if publishing == "before booking" else 2 * EACH))
    run(directory, Crasher())
    assert booked(directory) == ALL


@pytest.mark.parametrize("what", [MANIFEST, "after the manifest"])
def test_a_crash_at_the_commit_of_an_epoch_that_ran_beside(directory, what):
    crasher = Crasher(lambda count, point: point == (3, what))
    run(directory, crasher)
    assert crasher.crashed is not None
    assert booked(directory) == Counter(range(2 * EACH))
    run(directory, Crasher())
    assert booked(directory) == ALL


def test_a_booking_that_fails_beside_is_told_and_done_again(directory, caplog):
    sink = BesideSink(str(directory))
    sink.fails = 2
    run(directory, Crasher(), sink)
    assert booked(directory) == ALL
    assert "could not make epoch 3 visible; got OSError: the ledger is lent out" in caplog.text


def test_what_is_committed_is_booked_before_a_job_fails(directory):
    class Failing(Crasher):
        def reach(self, what: str) -> None:
            if what == "a bad record":
                raise ValueError(what)
            super().reach(what)

    with pytest.raises(Exception, match="a bad record"):
        run(directory, Failing(), **{"restart-strategy.type": "none"})
    assert booked(directory) == Counter(range(2 * EACH))

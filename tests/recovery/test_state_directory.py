"""State directories that are another program's, damaged, or cannot be written; and sinks that cannot commit."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import ConnectorError, StateCorruptedError, StateError, StateMismatchError
from firesteel.functions.sink import Committer
from tests.recovery import ledger
from tests.recovery.jobs import Count, environment, restarting

pytestmark = pytest.mark.usefixtures("machine")

EVENTS = [(f"k{number % 5}", number) for number in range(30)]
TOTAL = Counter((f"k{key}", number) for key in range(5) for number in range(1, 7))


class Stops(Exception):
    """Ends a job in the middle."""


def run(directory, *, sink=None, stop_at=None, key=lambda event: event[0], groups=None, uid=None, **more):
    """Count events by key; fail at event `stop_at`. Epochs have ten events."""

    def check(event):
        if event[1] == stop_at:
            raise Stops
        return event

    with environment(directory, **{"epoch_records": 10, **more}) as env:
        counts = env.from_collection(EVENTS).map(check).key_by(key).process(Count())
        if groups is not None:
            counts.set_max_parallelism(groups)
        written = counts.sink_to(sink or ledger.LedgerSink(str(directory)))
        if uid is not None:
            written.uid(uid)
        env.execute()


@pytest.fixture
def stopped(tmp_path):
    """A directory of a job that has committed two epochs of three."""
    with pytest.raises(Exception, match="Stops"):
        run(tmp_path, stop_at=25)
    assert Counter(ledger.rows(str(tmp_path))).total() == 20
    yield tmp_path
    ledger.forget(str(tmp_path))


def goes_on(directory, **more):
    run(directory, **more)
    assert Counter(ledger.rows(str(directory))) == TOTAL


def test_the_job_goes_on(stopped):
    goes_on(stopped)


def test_another_program_is_turned_away(stopped):
    with environment(stopped) as env:
        env.from_collection(EVENTS).filter(bool).print()
        with pytest.raises(
            StateMismatchError, match=r"belongs to another program; got state of operators"
        ) as error:
            env.execute()
    assert str(stopped / "state") in str(error.value)
    goes_on(stopped)


def test_another_max_parallelism_is_turned_away(stopped):
    with environment(stopped) as env:
        env.set_max_parallelism(64)
        env.from_collection(EVENTS).print()
        with pytest.raises(StateMismatchError, match=r"max parallelism 128.*\n.*set_max_parallelism\(128\)"):
            env.execute()
    goes_on(stopped)


def test_another_max_parallelism_of_one_operator_is_turned_away(stopped):
    with pytest.raises(
        StateMismatchError, match="requires the max parallelism its state was written with, 128; got 16"
    ):
        run(stopped, groups=16)
    goes_on(stopped)


def test_a_damaged_manifest_is_named_and_can_be_restored(stopped):
    path = stopped / "state/manifests/000000000002"
    data = path.read_bytes()
    for damaged in (data[:-1], b"", data[:100] + bytes([data[100] ^ 1]) + data[101:]):
        path.write_bytes(damaged)
        with pytest.raises(StateCorruptedError, match="000000000002"):
            run(stopped)
    path.write_bytes(data)
    goes_on(stopped)


def test_the_loss_of_the_last_manifest_is_noticed(stopped):
    path = stopped / "state/manifests/000000000002"
    kept = path.rename(stopped / "kept")
    with pytest.raises(
        StateCorruptedError, match="must have the manifest of epoch 2, whose output is visible"
    ):
        run(stopped)
    kept.rename(path)
    goes_on(stopped)


def test_a_damaged_job_file_is_named(stopped):
    path = stopped / "state/job.json"
    text = path.read_text()
    path.write_text(text.replace("128", "129"))
    with pytest.raises(StateCorruptedError, match=r"job\.json"):
        run(stopped)
    path.write_text(text)
    goes_on(stopped)


@pytest.mark.parametrize("harm", ["missing", "damaged"])
def test_a_run_that_is_lost_is_named_where_it_is_needed(stopped, machine, harm):
    [first, second] = sorted((stopped / "state/runs").rglob("*.run"))
    data = first.read_bytes()
    first.unlink() if harm == "missing" else first.write_bytes(data[: len(data) // 2] + b"\0" * 9)
    machine("second")
    with pytest.raises(StateCorruptedError, match=first.name):
        run(stopped)
    first.write_bytes(data)
    assert second.exists()
    goes_on(stopped)


def test_working_copies_can_be_lost(stopped, tmp_path):
    shutil.rmtree(tmp_path / "machines")
    goes_on(stopped)


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_the_parallelism_may_change(stopped, parallelism):
    goes_on(stopped, parallelism=parallelism)


def test_a_directory_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StateError, match="cannot be made"):
        run(tmp_path, state_dir=str(tmp_path / "file" / "state"))


@pytest.mark.parametrize("place", ["runs", "manifests", "published"])
def test_a_directory_that_cannot_be_written_any_more(stopped, place):
    path = stopped / "state" / place
    kept = path.rename(stopped / "kept")
    path.touch() if kept.is_dir() else path.mkdir()
    with pytest.raises(StateError):
        run(stopped)
    path.unlink() if kept.is_dir() else path.rmdir()
    kept.rename(path)
    goes_on(stopped)


class Unwilling(ledger.LedgerSink):
    """Refuses to commit as long as there are refusals left."""

    def __init__(self, directory: Path, refusals: int) -> None:
        super().__init__(str(directory))
        self.refusals = refusals

    def create_committer(self):
        return _Refusing(super().create_committer(), self.refusals)


class _Refusing(Committer):
    def __init__(self, inner, refusals):
        self.inner, self.refusals = inner, refusals

    def commit(self, committables):
        if self.refusals:
            self.refusals -= 1
            raise OSError("the target is away")
        self.inner.commit(committables)


def test_a_commit_that_fails_is_tried_again(tmp_path):
    run(tmp_path, sink=Unwilling(tmp_path, 3))
    assert Counter(ledger.rows(str(tmp_path))) == TOTAL


def test_a_commit_that_always_fails_fails_the_job_and_the_next_start_makes_up_for_it(tmp_path):
    with pytest.raises(ConnectorError) as error:
        run(tmp_path, sink=Unwilling(tmp_path, 99), options=restarting(5))
    assert "could not make epoch 1 visible; got OSError: the target is away" in str(error.value)
    assert "test_state_directory.py" in str(error.value)
    assert ledger.rows(str(tmp_path)) == []
    run(tmp_path)
    assert Counter(ledger.rows(str(tmp_path))) == TOTAL


def test_output_that_waits_for_a_sink_is_not_forgotten_with_the_sink(tmp_path):
    with pytest.raises(ConnectorError):
        run(tmp_path, sink=Unwilling(tmp_path, 99))
    with pytest.raises(StateMismatchError, match="committed and not yet visible, of operators"):
        run(tmp_path, uid="another sink")
    run(tmp_path)
    assert Counter(ledger.rows(str(tmp_path))) == TOTAL


def test_every_epoch_has_one_manifest(stopped):
    goes_on(stopped)
    log = ManifestLog.open(Storage.of(stopped / "state"))
    assert log is not None
    assert log.epochs() == [1, 2, 3]
    assert log.latest().finished
    run(stopped)  # a job that has finished has nothing left to do
    assert log.epochs() == [1, 2, 3]
    assert Counter(ledger.rows(str(stopped))) == TOTAL

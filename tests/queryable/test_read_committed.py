"""Read committed: whatever the job, its maintenance and its failures do, each answer is the state of one epoch."""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import StateError
from firesteel.control import EpochStats
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.queryable import reader as reader_module
from firesteel.queryable.access import contents_of
from firesteel.queryable.contents import ABSENT, Bounds, StateContents
from firesteel.queryable.copies import OperatorCopy, Snapshot
from firesteel.queryable.forms import PythonForm
from firesteel.queryable.reader import StateReader
from firesteel.saved.inspection import SavedState
from firesteel.state.disk.root import work_root
from tests.recovery import upkeep
from tests.recovery.crashing import Crasher
from tests.recovery.jobs import Count, Watch, environment, fails_once, restarting, start

EVENTS = [number * 7 % 23 for number in range(1500)]
KEYS = sorted(set(EVENTS))
RECORDS = 25
"""Records of an epoch: after epoch n, the first n times as many have been counted."""


def expected(epoch: int) -> dict[int, int]:
    return dict(Counter(EVENTS[: epoch * RECORDS]))


def read_whole(snapshot: Snapshot) -> tuple[dict[int, int], dict[int, int]]:
    """The counts, once by keys and once page by page."""
    found = contents_of(snapshot, "count", PythonForm())
    assert isinstance(found, StateContents)
    by_key = {key: count for key, count in zip(KEYS, found.of(KEYS), strict=True) if count is not ABSENT}
    in_order, after = {}, b""
    while after is not None:
        page = found.page(Bounds(), after, 5)
        in_order.update(page.items)
        after = page.next
    return by_key, in_order


class Reading:
    """Threads that read a job again and again; `seen` has the epochs of each."""

    def __init__(self, reader: StateReader, threads: int = 3) -> None:
        self.seen: list[list[int]] = []
        self.wrong: list[object] = []
        self._reader = reader
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._read) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(60)
        assert not self.wrong, self.wrong[0]
        assert all(epochs == sorted(epochs) for epochs in self.seen), "a reader went back"

    def _read(self) -> None:
        epochs: list[int] = []
        self.seen.append(epochs)
        try:
            while not self._over.is_set():
                snapshot = self._reader.snapshot("count")
                epochs.append(snapshot.epoch)
                wanted = expected(snapshot.epoch)
                for counts in read_whole(snapshot):
                    if counts != wanted:
                        self.wrong.append((snapshot.epoch, counts, wanted))
        except BaseException as error:  # told to the test, which fails
            self.wrong.append(error)


def build(env: StreamExecutionEnvironment, before: Callable[[int], None]) -> None:
    """Add a job that counts events by their number; `before` is called with each of them."""

    def counted(number: int) -> int:
        before(number)
        return number

    stream = env.from_collection(EVENTS).map(counted).set_parallelism(1)
    counts = stream.key_by(lambda number: number).process(Count()).uid("count").name("count")
    counts.filter(lambda _: False).print()


def run(
    directory: Path,
    act: Callable[[Watch, object, int], None] = lambda *_: None,
    *,
    parallelism: int = 2,
    before: Callable[[int], None] = lambda _: None,
    **more: object,
) -> Reading:
    """Run the job to its end while it is read from its first epoch on."""
    made: list[Reading] = []
    readers: list[StateReader] = []

    def on_epoch(handle: object, stats: object) -> None:
        act(watch, handle, stats.epoch)
        if stats.epoch == 2:
            readers.append(StateReader(str(directory / "state"), fresh=0.0, stale=0.0))
            made.append(Reading(readers[0]))

    watch = Watch(on_epoch)
    settings = {
        "epoch_records": RECORDS,
        "parallelism": parallelism,
        "retained": 1,
        "listener": watch,
        **more,
    }
    maintenance = MaintenancePolicy(2, 3, inline=True)

    with environment(directory, maintenance=maintenance, **settings) as env:
        build(env, before)
        start(env, watch).wait(120)
    try:
        last = readers[0].snapshot("count")
        assert read_whole(last) == (dict(Counter(EVENTS)),) * 2
    finally:
        made[0].end()
        readers[0].close()
    return made[0]


@pytest.mark.parametrize("parallelism", [1, 3])
def test_readers_see_committed_epochs_only_while_state_is_compacted(tmp_path: Path, parallelism: int):
    reading = run(tmp_path, parallelism=parallelism)
    assert len({epoch for epochs in reading.seen for epoch in epochs}) > 3


def test_readers_see_committed_epochs_only_while_the_job_is_rescaled_and_saved(tmp_path: Path):
    widths = {4: 3, 20: 1, 40: 2}

    def act(_: Watch, handle: object, epoch: int) -> None:
        if epoch in widths:
            handle.rescale(widths[epoch])
        if epoch == 30:
            handle.savepoint(str(tmp_path / "savepoints"))

    run(tmp_path, act)
    (savepoint,) = (tmp_path / "savepoints").iterdir()
    reader = StateReader(str(savepoint))
    snapshot = reader.snapshot("count")
    assert read_whole(snapshot) == (expected(snapshot.epoch),) * 2
    reader.close()


def test_readers_see_committed_epochs_only_while_the_job_fails_and_starts_again(tmp_path: Path):
    def before(number: int) -> None:
        if (tmp_path / "armed").exists():
            fails_once(tmp_path / "struck")

    def act(_: Watch, handle: object, epoch: int) -> None:
        if epoch == 10:
            (tmp_path / "armed").touch()

    run(tmp_path, act, before=before, options=restarting(3, "0 s"))
    assert (tmp_path / "struck").exists()


@pytest.mark.long
@pytest.mark.parametrize("parallelism", [1, 3])
def test_readers_see_committed_epochs_only_while_drivers_die(tmp_path: Path, parallelism: int):
    made: list[tuple[StateReader, Reading]] = []

    def act(handle: object, stats: EpochStats) -> None:
        if stats.epoch >= 2 and not made:
            reader = StateReader(str(tmp_path / "state"))
            made.append((reader, Reading(reader)))

    def go(crasher: Crasher) -> Crasher:
        options = {"epoch_records": RECORDS, "build": lambda env, _: build(env, lambda _: None)}
        return upkeep.run(tmp_path, parallelism, crasher, act, **options)

    dying = ["before the manifest", "after the manifest", "after a merge", "before the removal of a run"]
    assert upkeep.until_it_ends(dying, go, most=30) > 10
    reader, reading = made[0]
    try:
        assert read_whole(reader.snapshot("count")) == (dict(Counter(EVENTS)),) * 2
    finally:
        reading.end()
        reader.close()


def test_a_snapshot_stays_what_it_is_when_the_reader_goes_on(tmp_path: Path):
    held: list[Snapshot] = []
    readers: list[StateReader] = []

    def act(_: Watch, handle: object, epoch: int) -> None:
        if epoch == 3:
            readers.append(StateReader(str(tmp_path / "state")))
        if epoch >= 3:
            held.append(readers[0].snapshot("count"))

    run(tmp_path, act)
    assert [snapshot.epoch for snapshot in held] == list(range(3, len(EVENTS) // RECORDS + 1))
    for snapshot in held:
        assert read_whole(snapshot) == (expected(snapshot.epoch),) * 2
    readers[0].close()


def test_who_waits_for_a_copy_waits_for_the_epochs_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run(tmp_path)
    clock = SimpleNamespace(monotonic=lambda: sum(taken))
    taken: list[float] = []
    copied = OperatorCopy.at

    def slow(self: OperatorCopy, *arguments: object) -> Snapshot:
        taken.append(10.0)
        return copied(self, *arguments)

    monkeypatch.setattr(reader_module, "time", clock)
    monkeypatch.setattr(OperatorCopy, "at", slow)
    reader = StateReader(str(tmp_path / "state"), fresh=0.05, stale=1.0)
    made = reader.snapshot("count")
    assert taken == [10.0]
    assert reader.at_hand("count") is made
    reader.close()


def test_an_epoch_that_is_no_longer_kept_is_refused(tmp_path: Path):
    run(tmp_path)
    reader = StateReader(str(tmp_path / "state"))
    with pytest.raises(StateError, match="requires epoch 1; got the epochs"):
        reader.snapshot("count", 1)
    reader.close()


def test_copies_go_with_their_reader_and_those_of_killed_readers_with_the_next(tmp_path: Path):
    run(tmp_path)
    reader = StateReader(str(tmp_path / "state"))
    reader.snapshot("count")
    (place,) = work_root().glob("reads-*")
    killed = place.with_name("reads-killed")
    shutil.copytree(place, killed)
    reader.close()
    assert killed.exists()
    assert not place.exists()
    StateReader(str(tmp_path / "state")).close()
    assert not killed.exists()


def test_a_directory_that_is_another_one_is_read_anew(tmp_path: Path):
    run(tmp_path)
    reader = StateReader(str(tmp_path / "state"))
    assert reader.snapshot("count").epoch > 5
    shutil.rmtree(tmp_path / "state")
    with pytest.raises(StateError, match="requires a savepoint, or the state directory"):
        reader.snapshot("count")
    reader.close()


def test_nothing_in_the_state_directory_is_written(tmp_path: Path):
    run(tmp_path)
    before = {entry.path for entry in Storage.of(str(tmp_path / "state")).entries("")}
    reader = StateReader(str(tmp_path / "state"))
    epochs = SavedState.open(str(tmp_path / "state")).manifest.epoch
    assert reader.snapshot("count").epoch == epochs
    reader.close()
    assert {entry.path for entry in Storage.of(str(tmp_path / "state")).entries("")} == before

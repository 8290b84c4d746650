"""Going back to an earlier epoch, and what is offered when the last one is damaged."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from firesteel.checkpoint.integrity import damage_of
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import manifest_path
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.retention import collect_garbage, kept_epochs
from firesteel.common import Types, WatermarkStrategy
from firesteel.common.errors import StateCorruptedError, StateError
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.testing import ScriptedSource
from tests.recovery import ledger
from tests.recovery.jobs import Watch, environment, lines, start

pytestmark = pytest.mark.usefixtures("machine")

EVENTS = [(f"k{number % 7}", number) for number in range(120)]
PER_EPOCH = 4
EPOCHS = 30
OFTEN = MaintenancePolicy(3, 3, inline=True)


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield f"{ctx.get_current_key()} {value[1]} {self.count.value()}"


def row(number: int) -> str:
    """What event `number` must give."""
    return f"k{number % 7} {number} {number // 7 + 1}"


def rows(first_epoch: int, last_epoch: int) -> Counter[str]:
    """What these epochs, both included, must give."""
    return Counter(map(row, range((first_epoch - 1) * PER_EPOCH, last_epoch * PER_EPOCH)))


ROLLED = RollingPolicy.on_epoch()
LONG = RollingPolicy(part_size=100_000)


@pytest.fixture
def name(tmp_path):
    yield str(tmp_path)
    ledger.forget(str(tmp_path))


def run(
    directory, restore_from=None, stop_after=None, parallelism=1, retained=10, policy=OFTEN, sink=True, **more
):
    """Run the job, at most until `stop_after` epochs have been committed by this driver; answer its last epoch."""
    watch = Watch(lambda handle, stats: handle.stop() if len(watch.epochs) == stop_after else None)
    with environment(
        directory,
        parallelism=parallelism,
        epoch_records=PER_EPOCH,
        listener=watch,
        restore_from=restore_from,
        retained=retained,
        maintenance=policy,
        **more,
    ) as env:
        events = env.from_source(ScriptedSource(EVENTS), WatermarkStrategy.no_watermarks(), "events").uid(
            "events"
        )
        counted = events.key_by(lambda event: event[0]).process(Count(), Types.STRING()).uid("count")
        counted.sink_to(ledger.LedgerSink(str(directory))).uid("ledger")
        if sink:
            for name, policy in (("rolled", ROLLED), ("long", LONG)):
                counted.sink_to(FileSink(directory / name, TextLines(), BasePathBuckets(), policy)).uid(name)
        return start(env, watch).wait(60).epochs


def storage(directory):
    return Storage.of(directory / "state")


def written(directory, name):
    return Counter(lines(directory / name))


@pytest.mark.parametrize("parallelism", [1, 2, 3])
@pytest.mark.parametrize("back", [9, 6, 3, 1])
def test_what_came_after_is_put_out_again_and_nothing_is_lost(tmp_path, name, back, parallelism):
    assert run(tmp_path, stop_after=12) == 12
    before = {path.name: path.read_bytes() for path in (tmp_path / "rolled").iterdir() if path.name[0] != "."}
    target = 12 - back
    assert run(tmp_path, str(target), parallelism=parallelism) == 13 + EPOCHS - target
    again = rows(target + 1, 12)
    assert Counter(ledger.rows(name)) == rows(1, EPOCHS) + again
    assert written(tmp_path, "rolled") == rows(1, EPOCHS) + again
    after = {path.name: path.read_bytes() for path in (tmp_path / "rolled").iterdir() if path.name[0] != "."}
    assert before.items() <= after.items()  # nothing that was to be seen has changed or has another name
    assert written(tmp_path, "long") == rows(1, EPOCHS)  # nothing of its part was to be seen before


@pytest.mark.parametrize(
    ("stop_after", "target"), [(17, 1), (17, 15), (17, 16), (21, 8), (21, 17), (30, 8), (30, 20)]
)
def test_parts_that_were_open_for_long_are_not_lost(tmp_path, name, stop_after, target):
    """Segments of one part are joined after 16 epochs, in the history that is left."""
    run(tmp_path, stop_after=stop_after, retained=40)
    run(tmp_path, str(target), retained=40)
    shown = written(tmp_path, "long")
    again = rows(target + 1, stop_after)
    assert shown >= rows(1, EPOCHS)
    assert shown <= rows(1, EPOCHS) + again


def test_back_and_forth_and_back(tmp_path, name):
    epoch = run(tmp_path, stop_after=6, retained=40)
    expected, position = rows(1, 6), {6: 6}
    for target in (4, 2, 5, 8, 7):
        if target not in position:
            position[target] = target
        epoch = run(tmp_path, str(target), stop_after=3, retained=40)
        base = position[target]
        position |= {epoch - 3: base, epoch - 2: base + 1, epoch - 1: base + 2, epoch: base + 3}
        expected += rows(base + 1, base + 3)
        assert Counter(ledger.rows(name)) == expected
        assert written(tmp_path, "rolled") == expected
    run(tmp_path)
    assert Counter(ledger.rows(name)) == expected + rows(position[epoch] + 1, EPOCHS)


@pytest.mark.parametrize("retained", [3, 5])
@pytest.mark.parametrize("step", range(5))
def test_everything_that_is_kept_can_still_be_read_after_going_back(tmp_path, name, retained, step):
    policy = MaintenancePolicy(4, 1, inline=True)
    epoch = run(tmp_path, stop_after=9 + step, retained=retained, policy=policy)
    first = run(tmp_path, str(epoch - retained + 1), stop_after=1, retained=retained, policy=policy)
    for stop_after in (1, 2, 3):
        kept = kept_epochs(ManifestReader(storage(tmp_path)))
        assert [damage_of(storage(tmp_path), found) for found in kept] == [None] * len(kept)
        assert len(kept) >= min(retained, first)
        run(tmp_path, stop_after=stop_after, retained=retained, policy=policy)


def test_going_back_needs_an_epoch_that_is_kept(tmp_path, name):
    epoch = run(tmp_path, stop_after=9, retained=3)
    for wrong in ("1", str(epoch - 3), str(epoch + 1), "0"):
        with pytest.raises(StateError, match=rf"requires epoch {wrong}; got the epochs 7, 8, 9"):
            run(tmp_path, wrong)
    assert run(tmp_path, "9") == EPOCHS
    assert Counter(ledger.rows(name)) == rows(1, EPOCHS)


def test_going_back_in_an_empty_directory(tmp_path):
    with pytest.raises(StateError, match="requires epoch 3; got no epoch"):
        run(tmp_path, "3")


def offered(error: StateCorruptedError) -> str:
    found = re.search(r"start from epoch (\d+), which is intact, with --from \1\b", str(error))
    assert found, error
    return found[1]


def harm(directory, what):
    """Damage the newest epoch in some way; the newest epoch that is intact afterwards."""
    state = storage(directory)
    newest = ManifestReader(state).epochs()[-1]
    path = manifest_path(newest)
    run_path = ManifestReader(state).all_layers(newest - 1, newest)[operator(state, newest)][-1].runs[0].path
    if what == "manifest cut":
        state.put(path, state.get(path)[:-9])
    elif what == "manifest empty":
        state.put(path, b"")
    elif what == "manifest gone":
        state.delete(path)
    elif what == "run gone":
        state.delete(run_path)
    elif what == "run altered":
        data = state.get(run_path)
        state.put(run_path, data[:50] + bytes([data[50] ^ 1]) + data[51:])
    else:
        state.put("published", b"what")
        return newest
    return newest - 1


def operator(state, epoch):
    snapshots = ManifestReader(state).read(epoch).operators
    return next(found for found, snapshot in snapshots.items() if snapshot.states)


HARMS = ["manifest cut", "manifest empty", "manifest gone", "run gone", "run altered", "marker"]


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("what", HARMS)
def test_the_epoch_offered_when_the_last_is_damaged_can_be_started_from(
    tmp_path, name, machine, what, parallelism
):
    epoch = run(tmp_path, stop_after=8)
    intact = harm(tmp_path, what)
    machine("second")
    with pytest.raises(StateCorruptedError) as error:
        run(tmp_path)
    assert offered(error.value) == str(intact)
    assert run(tmp_path, str(intact), parallelism=parallelism, stop_after=4) >= epoch + 4
    kept = kept_epochs(ManifestReader(storage(tmp_path)))
    assert intact in kept
    run(tmp_path)
    assert Counter(ledger.rows(name)) == rows(1, EPOCHS) + rows(intact + 1, 8)
    assert written(tmp_path, "rolled") == rows(1, EPOCHS) + rows(intact + 1, 8)


def test_collection_goes_on_once_a_damaged_manifest_is_kept_no_more(tmp_path, name):
    run(tmp_path, stop_after=8)
    intact = harm(tmp_path, "manifest cut")
    run(tmp_path, str(intact), stop_after=4)
    with pytest.raises(StateCorruptedError, match="000000000008"):
        collect_garbage(storage(tmp_path), ManifestReader(storage(tmp_path)).epochs()[-1])
    epoch = run(tmp_path, stop_after=12)
    kept = kept_epochs(ManifestReader(storage(tmp_path)))
    assert kept == [*range(epoch - 9, epoch + 1)]
    collect_garbage(storage(tmp_path), epoch)
    assert not storage(tmp_path).exists(manifest_path(8))
    assert [damage_of(storage(tmp_path), found) for found in kept] == [None] * len(kept)


def test_an_older_epoch_is_offered_when_what_is_asked_for_is_damaged(tmp_path, name):
    run(tmp_path, stop_after=8, policy=MaintenancePolicy(100, 100, inline=True))
    state = storage(tmp_path)
    [found] = [path for path in state.list("runs") if "/000000000005-" in path]
    data = state.get(found)
    state.delete(found)
    with pytest.raises(StateCorruptedError, match=found) as error:
        run(tmp_path, "6")
    assert offered(error.value) == "4"
    run(tmp_path, "4", stop_after=2)
    state.put(found, data)
    assert Counter(ledger.rows(name)) == rows(1, 8) + rows(5, 6)


def test_working_copies_of_the_history_that_was_left_are_not_used(tmp_path, name, machine):
    machine("first")
    run(tmp_path, stop_after=9)
    machine("second")  # here the job goes back, and gets further than it was
    run(tmp_path, "3", stop_after=9)
    machine("first")
    run(tmp_path)
    assert Counter(ledger.rows(name)) == rows(1, EPOCHS) + rows(4, 9)

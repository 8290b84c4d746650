"""Jobs that go back to an earlier epoch, or begin with a savepoint: what they go on from, and what they put out."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.retention import kept_epochs
from firesteel.common import Types
from firesteel.common.errors import StateCorruptedError, StateError, StateMismatchError
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.testing import ManualClock, executing
from tests.recovery.jobs import Watch, lines, start

pytestmark = pytest.mark.usefixtures("machine")

VALUES = list(range(40))
PER_EPOCH = 4


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield f"{value} {self.count.value()}"


EVERY_EPOCH = RollingPolicy.on_epoch()
LONG = RollingPolicy(part_size=1_000_000)


def run(
    directory,
    *,
    state="state",
    stop_after=None,
    savepoint=None,
    rolling=EVERY_EPOCH,
    keyed=True,
    also=lambda handle, stats: None,
    **more,
):
    """Run the job; answer the savepoint it was stopped with, if one was asked for."""
    answers = []

    def act(handle, stats):
        also(handle, stats)
        if stats.epoch == stop_after:
            answers.append(handle.stop(savepoint))

    watch = Watch(act)

    settings = {
        "state_dir": str(directory / state),
        "parallelism": 2,
        "epoch_records": PER_EPOCH,
        "retained": 100,
        "maintenance": MaintenancePolicy(3, 3, inline=True),
        "listeners": (watch,),
    }

    with executing(clock=ManualClock(1_000_000), **{**settings, **more}):
        env = StreamExecutionEnvironment.get_execution_environment()
        out = env.from_collection(VALUES, Types.INT()).uid("numbers")
        if keyed:
            out = out.key_by(lambda value: value % 3).process(Count(), Types.STRING()).uid("count")
        out.sink_to(FileSink(directory / "out", TextLines(), BasePathBuckets(), rolling)).uid("out")
        start(env, watch).wait(60)
    return answers[0].result() if savepoint is not None else None


def counted(since=0):
    """What the job says of the values from this place on."""
    return [f"{value} {value // 3 + 1}" for value in VALUES[since:]]


def upto(epoch):
    return epoch * PER_EPOCH


def newest(directory, state="state"):
    return ManifestReader(Storage.of(directory / state)).epochs()[-1]


@pytest.mark.parametrize("epoch", [1, 3, 4, 6])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_job_goes_back_and_puts_out_again_what_came_after(tmp_path, epoch, parallelism):
    run(tmp_path, stop_after=7)
    assert Counter(lines(tmp_path / "out")) == Counter(counted()[: upto(7)])
    run(tmp_path, restore_from=str(epoch), parallelism=parallelism)
    again = counted()[upto(epoch) : upto(7)]
    assert Counter(lines(tmp_path / "out")) == Counter(counted()) + Counter(again)
    reset = ManifestReader(Storage.of(tmp_path / "state")).read(8)
    assert reset.restored_from == f"epoch {epoch}"
    assert reset.lineage not in ("", reset.job_id)


def test_going_back_to_the_last_epoch_is_going_on(tmp_path):
    run(tmp_path, stop_after=5)
    run(tmp_path, restore_from="5")
    assert lines(tmp_path / "out") == sorted(counted())
    assert ManifestReader(Storage.of(tmp_path / "state")).read(6).restored_from == ""


def test_parts_that_were_open_then_are_neither_lost_nor_taken_for_what_they_became(tmp_path):
    run(tmp_path, stop_after=3, rolling=LONG)
    assert lines(tmp_path / "out") == []
    run(tmp_path, rolling=LONG)
    assert lines(tmp_path / "out") == sorted(counted())
    run(tmp_path, rolling=LONG, restore_from="3")
    again = counted()[upto(3) :]
    assert Counter(lines(tmp_path / "out")) == Counter(counted()) + Counter(again)


def test_one_may_go_back_again_and_again(tmp_path):
    run(tmp_path, stop_after=4)
    target = 2
    for _ in range(3):
        last = newest(tmp_path)
        run(tmp_path, restore_from=str(target), stop_after=last + 2)
        target = last + 1  # epoch 2, taken over
    run(tmp_path)
    again = Counter(counted()[upto(2) : upto(4)]) + Counter(counted()[upto(2) : upto(3)] * 2)
    assert Counter(lines(tmp_path / "out")) == Counter(counted()) + again


@pytest.mark.parametrize("rolling", [LONG, RollingPolicy.on_epoch()], ids=["long", "each epoch"])
def test_a_savepoint_of_a_running_job_names_the_sinks_whose_parts_it_needs(tmp_path, caplog, rolling):
    answers = []

    def save(handle, stats):
        if stats.epoch == 2:
            answers.append(handle.savepoint())

    run(tmp_path, rolling=rolling, also=save)
    assert answers[0].result(30)
    said = [
        message
        for message in caplog.messages
        if "needs the hidden files of parts that are still open" in message
    ]
    assert len(said) == (1 if rolling is LONG else 0)
    assert all("test_starting_from.py:" in message for message in said)


def test_the_same_command_goes_back_once(tmp_path, caplog):
    run(tmp_path, stop_after=4)
    run(tmp_path, restore_from="2", stop_after=6)
    assert caplog.messages == []
    run(tmp_path, restore_from="2", stop_after=7)
    assert caplog.messages == [
        "the job has gone back to epoch 2 before, as epoch 5, and resumes from epoch 6; --from 5 goes back again"
    ]
    run(tmp_path, restore_from="2")
    again = Counter(counted()[upto(2) : upto(4)])
    assert Counter(lines(tmp_path / "out")) == Counter(counted()) + again


def test_a_start_at_the_last_epoch_that_is_repeated_later_resumes(tmp_path):
    run(tmp_path, stop_after=5)
    run(tmp_path, restore_from="5", stop_after=7)
    run(tmp_path, restore_from="5")
    assert lines(tmp_path / "out") == sorted(counted())


@pytest.mark.parametrize("between", [None, "latest"])
def test_another_command_in_between_makes_the_same_one_count_anew(tmp_path, between):
    run(tmp_path, stop_after=3)
    run(tmp_path, restore_from="2", stop_after=5)
    run(tmp_path, restore_from=between, stop_after=6)
    run(tmp_path, restore_from="2")
    again = Counter(counted()[upto(2) : upto(3)]) + Counter(counted()[upto(2) : upto(4)])
    assert Counter(lines(tmp_path / "out")) == Counter(counted()) + again


@pytest.mark.parametrize("wanted", ["99", "0"])
def test_an_epoch_that_is_not_kept_cannot_be_gone_back_to(tmp_path, wanted):
    run(tmp_path, stop_after=3)
    with pytest.raises(StateError, match=f"requires epoch {wanted}; got the epochs 1, 2, 3"):
        run(tmp_path, restore_from=wanted)


def test_latest_needs_a_job(tmp_path):
    with pytest.raises(StateError, match="got no epoch that was committed"):
        run(tmp_path, restore_from="latest")
    run(tmp_path, stop_after=3)
    run(tmp_path, restore_from="latest")
    assert lines(tmp_path / "out") == sorted(counted())


def damage(directory, what):
    """Cut off the newest manifest, or a run that the newest epoch alone has added."""
    reader = ManifestReader(Storage.of(directory / "state"))
    last = reader.epochs()[-1]
    path = directory / "state" / f"manifests/{last:012d}"
    if what == "run":
        [run, *_] = [run for found in reader.read(last).operators.values() for run in found.runs]
        path = directory / "state" / run.path
    path.write_bytes(path.read_bytes()[:-3])
    return path.name


@pytest.mark.parametrize("what", ["manifest", "run"])
def test_of_a_damaged_job_the_newest_intact_epoch_is_offered(tmp_path, machine, what):
    run(tmp_path, stop_after=5)
    name = damage(tmp_path, what)
    machine("another")
    with pytest.raises(StateCorruptedError, match=name) as failed:
        run(tmp_path)
    assert "--from 4" in failed.value.hint
    run(tmp_path, restore_from="4")
    again = counted()[upto(4) : upto(5)]
    assert Counter(lines(tmp_path / "out")) == Counter(counted()) + Counter(again)


def test_a_savepoint_moves_and_needs_nothing_else(tmp_path, machine):
    made = run(tmp_path, stop_after=5, savepoint=str(tmp_path / "savepoints"))
    moved = shutil.move(made, tmp_path / "elsewhere")
    shutil.rmtree(tmp_path / "state")
    machine("another")
    for parallelism in (1, 2, 3, 5):
        shutil.rmtree(tmp_path / "out")
        run(tmp_path, state=f"state-{parallelism}", restore_from=str(moved), parallelism=parallelism)
        assert lines(tmp_path / "out") == sorted(counted()[upto(5) :])


def test_the_command_that_begins_with_a_savepoint_may_be_repeated(tmp_path):
    made = run(tmp_path, stop_after=5, savepoint="")
    run(tmp_path, state="second", restore_from=made, stop_after=8)
    run(tmp_path, state="second", restore_from=made)
    assert lines(tmp_path / "out") == sorted(counted())
    other = run(tmp_path, state="third", stop_after=2, savepoint="")
    with pytest.raises(StateMismatchError, match="requires a separate state directory"):
        run(tmp_path, state="second", restore_from=other)


def test_parts_that_are_open_at_a_savepoint_are_finished_by_the_job_that_begins_with_it(tmp_path):
    made = run(tmp_path, stop_after=5, savepoint="", rolling=LONG)
    run(tmp_path, state="second", restore_from=made, rolling=LONG)
    assert lines(tmp_path / "out") == sorted(counted())


def test_state_that_no_operator_has_is_left_out_only_on_request(tmp_path):
    made = run(tmp_path, stop_after=5, savepoint="")
    with pytest.raises(StateMismatchError, match=r"does not have: KEYED PROCESS|does not have: .*count"):
        run(tmp_path, state="second", restore_from=made, keyed=False)
    run(tmp_path, state="third", restore_from=made, keyed=False, allow_non_restored_state=True)
    assert sorted(lines(tmp_path / "out")) == sorted(counted()[: upto(5)] + list(map(str, VALUES[upto(5) :])))


def test_a_savepoint_is_of_a_max_parallelism(tmp_path):
    made = run(tmp_path, stop_after=5, savepoint="")
    with pytest.raises(StateMismatchError, match="requires the max parallelism 128"):
        run(tmp_path, state="second", restore_from=made, max_parallelism=64)


@pytest.mark.parametrize("file", ["savepoint.json", "manifests", "runs"])
@pytest.mark.parametrize("harm", ["cut", "changed", "gone"])
def test_harm_to_a_savepoint_is_named(tmp_path, file, harm):
    made = run(tmp_path, stop_after=5, savepoint=str(tmp_path / "savepoints"))
    [place] = (tmp_path / "savepoints").iterdir()
    path = (
        place / file if file.endswith("json") else next(p for p in (place / file).rglob("*") if p.is_file())
    )
    data = path.read_bytes()
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(data[:-2] if harm == "cut" else data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
    with pytest.raises(StateError, match="savepoint.json" if file.endswith("json") else path.name):
        run(tmp_path, state="second", restore_from=made)
    assert ManifestReader(Storage.of(tmp_path / "second")).epochs() == []


def test_a_restore_that_broke_off_is_not_mistaken_for_a_new_job(tmp_path, monkeypatch):
    made = run(tmp_path, stop_after=5, savepoint=str(tmp_path / "savepoints"))
    with monkeypatch.context() as patch:
        patch.setattr("firesteel.control.restoring.copy_runs", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(tmp_path, state="second", restore_from=made)
    with pytest.raises(StateError, match="start the job with the same --from again"):
        run(tmp_path, state="second")
    run(tmp_path, state="second", restore_from=made)
    assert lines(tmp_path / "out") == sorted(counted())


def test_epochs_that_are_kept_are_those_that_were_asked_for(tmp_path):
    run(tmp_path, retained=3)
    reader = ManifestReader(Storage.of(tmp_path / "state"))
    assert kept_epochs(reader) == [8, 9, 10]

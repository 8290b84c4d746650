"""List state of functions through crashes, moves from worker to worker, and changes of parallelism."""

from __future__ import annotations

import pickle
import re
from collections import defaultdict
from itertools import count

import pytest

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.common import Types, WatermarkStrategy
from firesteel.common.errors import StateMismatchError, UserFunctionError
from firesteel.control.redistribution import deal
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import CheckpointedFunction, FlatMapFunction, MapFunction
from firesteel.datastream.state import ListStateDescriptor, ValueStateDescriptor
from firesteel.runtime.task import Worker
from firesteel.state.values.codecs import decode_untyped
from firesteel.testing import LocalExecutor, ManualClock, ScriptedSource, executing
from tests.recovery import ledger
from tests.recovery.crashing import Crasher, points
from tests.recovery.jobs import Watch, environment, fails_once, restarting, start
from tests.recovery.tokens import Tokens, assert_shared_out

pytestmark = pytest.mark.usefixtures("machine")

NO_WATERMARKS = WatermarkStrategy.no_watermarks()
VALUES = list(range(48))
CHANGES = [(1, 3), (3, 1), (2, 3), (3, 2), (2, 2)]


@pytest.fixture
def name(tmp_path):
    yield str(tmp_path)
    ledger.forget(str(tmp_path))


def run(directory, function, parallelism, stop_after=None, rescales=None, on="process", options=None):
    """Have `function` see the values, at most to the end of an epoch; what it makes of them is in the ledger.

    `rescales` says after which epochs the parallelism changes, and to what.
    """

    def act(handle, stats):
        if stats.epoch == stop_after:
            handle.stop()
        elif stats.epoch in (rescales or {}):
            handle.rescale(rescales[stats.epoch])

    watch = Watch(act)
    settings = {"parallelism": parallelism, "epoch_records": 6, "listener": watch}
    with environment(directory, on=on, options=options, **settings) as env:
        build(env, function, str(directory))
        start(env, watch).wait(60)


def build(env, function, name):
    source = env.from_source(ScriptedSource(VALUES), NO_WATERMARKS, "values").rebalance()
    source.flat_map(function).uid("stateful").sink_to(ledger.LedgerSink(name))


def saved(directory, name):
    """The elements of a list that each subtask saved last."""
    states = ManifestReader(Storage.of(directory / "state")).latest().operators
    [snapshot] = [snapshot for snapshot in states.values() if any(snapshot.operator_state)]
    lists = [pickle.loads(blob).lists for blob in snapshot.operator_state]
    return [list(map(decode_untyped, subtask[name].elements)) if name in subtask else [] for subtask in lists]


class InFours(FlatMapFunction, CheckpointedFunction):
    """Emits values by fours, with what the instance began with."""

    descriptor = ListStateDescriptor("waiting")

    def initialize_state(self, context):
        self.list = context.get_operator_state_store().get_list_state(self.descriptor)
        self.began = (context.get_restored_checkpoint_id(), self.list.get())
        self.waiting = self.list.get()

    def snapshot_state(self, context):
        self.list.update(self.waiting)

    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def flat_map(self, value):
        self.waiting.append(value)
        if len(self.waiting) >= 4:
            yield self.subtask, self.began, self.waiting[:4]
            del self.waiting[:4]


def assert_all_are_there(directory):
    put_out = [value for _, _, values in ledger.rows(str(directory)) for value in values]
    waiting = [value for values in saved(directory, "waiting") for value in values]
    assert sorted(put_out + waiting) == VALUES


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_a_list_is_dealt_out_as_in_flink(tmp_path, name, before, after):
    run(tmp_path, InFours(), before, stop_after=4)
    waiting = saved(tmp_path, "waiting")
    put_out = len(ledger.rows(name))
    run(tmp_path, InFours(), after)
    everything = [value for values in waiting for value in values]
    expected = waiting if before == after else deal(everything, after, 0)[0]
    began = {subtask: began for subtask, began, _ in ledger.rows(name)[put_out:]}
    assert began == {subtask: (4, values) for subtask, values in enumerate(expected)}
    assert_all_are_there(tmp_path)


class Everywhere(FlatMapFunction, CheckpointedFunction):
    """Emits what the instance began with; adds what it sees, and leaves it to the engine what is whose to save."""

    def initialize_state(self, context):
        self.list = context.get_operator_state_store().get_union_list_state(ListStateDescriptor("seen"))
        self.began = (context.get_restored_checkpoint_id(), self.list.get())

    def snapshot_state(self, context): ...

    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def flat_map(self, value):
        self.list.add(value)
        yield self.subtask, self.began


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_every_subtask_gets_all_of_a_union_list(tmp_path, name, before, after):
    run(tmp_path, Everywhere(), before, stop_after=4)
    everything = [value for values in saved(tmp_path, "seen") for value in values]
    assert sorted(everything) == VALUES[:24]
    put_out = len(ledger.rows(name))
    run(tmp_path, Everywhere(), after)
    began = {(subtask, *began[1]) for subtask, began in ledger.rows(name)[put_out:] if began[0] == 4}
    assert began == {(subtask, *everything) for subtask in range(after)}
    assert sorted(value for values in saved(tmp_path, "seen") for value in values) == VALUES


@pytest.mark.parametrize(("before", "after"), CHANGES[:4])
def test_a_rescale_of_the_running_job_deals_lists_out(tmp_path, name, before, after):
    run(tmp_path, InFours(), before, rescales={2: after, 5: before})
    assert {began for _, (began, _), _ in ledger.rows(name)} >= {2, 5}
    assert_all_are_there(tmp_path)


def test_a_rescale_of_the_running_job_hands_union_lists_to_all(tmp_path, name):
    run(tmp_path, Everywhere(), 1, rescales={3: 3})
    began = [(subtask, began) for subtask, began in ledger.rows(name) if began[0] == 3]
    assert sorted(began) == [(subtask, (3, VALUES[:18])) for subtask in (0, 0, 1, 1, 2, 2)]


class Wandering:
    """Several workers; a subtask is sent from one to another, and comes back to where it was before."""

    def __init__(self, workers):
        self._workers = [Worker() for _ in range(workers)]

    def take(self, plan, spec, subtask, epoch):
        return self._at(epoch, subtask).take(plan, spec, subtask, epoch)

    def keep(self, epoch, live):
        self._at(epoch, live.subtask).keep(epoch, live)

    def close(self):
        for worker in self._workers:
            worker.close()

    def _at(self, epoch, subtask):
        return self._workers[epoch.facts.number // (subtask + 1) % len(self._workers)]


def wander(job_id, state_url, settings):
    """An executor whose subtasks move."""
    local = LocalExecutor(job_id, state_url, settings)
    local._worker = Wandering(3)
    return local


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_list_goes_with_a_subtask_from_worker_to_worker(tmp_path, name, parallelism):
    run(tmp_path, InFours(), parallelism, on=wander)
    assert_all_are_there(tmp_path)
    assert len({began for _, (began, _), _ in ledger.rows(name)}) > 2


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_all_subtasks_get_a_union_list_at_the_same_instant(tmp_path, name, parallelism):
    with environment(tmp_path, on=wander, parallelism=parallelism, epoch_records=6) as env:
        source = env.from_source(ScriptedSource(VALUES), NO_WATERMARKS, "values").rebalance()
        source.map(Tokens()).sink_to(ledger.LedgerSink(name))
        start(env).wait(60)
    assert_shared_out(ledger.rows(name), parallelism)
    assert len(ledger.rows(name)) == len(VALUES)


def test_an_instance_that_stays_is_not_opened_again(tmp_path, name):
    run(tmp_path, InFours(), 2)
    assert {began for _, (began, _), _ in ledger.rows(name)} == {None}


class Unchanging(InFours):
    """Keeps one list for good; emits values one by one."""

    def snapshot_state(self, context):
        self.list.update(["for good"])

    def flat_map(self, value):
        yield self.subtask, self.began[0], value


def test_an_instance_whose_list_is_still_the_same_goes_on_after_others_had_its_subtask(tmp_path, name):
    run(tmp_path, Unchanging(), 1, on=wander)
    assert sorted(value for *_, value in ledger.rows(name)) == VALUES
    assert len(VALUES) > 3 * 6
    assert len({began for _, began, _ in ledger.rows(name)}) == 3  # each of the workers has opened it once


class Struck(InFours):
    """Fails once, in the middle of the second or third epoch, or at the end of the second."""

    def __init__(self, marker, method):
        self.marker, self.method, self.calls = marker, method, count(1)

    def _reach(self, method):
        if method == self.method and next(self.calls) == {"flat_map": 8, "snapshot_state": 2}[method]:
            fails_once(self.marker)

    def initialize_state(self, context):
        super().initialize_state(context)
        if self.method == "initialize_state" and context.is_restored():
            fails_once(self.marker)

    def snapshot_state(self, context):
        self._reach("snapshot_state")
        super().snapshot_state(context)

    def flat_map(self, value):
        self._reach("flat_map")
        yield from super().flat_map(value)


@pytest.mark.parametrize("method", ["flat_map", "snapshot_state"])
@pytest.mark.parametrize("parallelism", [1, 2])
def test_an_epoch_that_failed_is_forgotten(tmp_path, name, method, parallelism):
    run(tmp_path, Struck(tmp_path / "struck", method), parallelism, options=restarting(1, "0 s"))
    assert (tmp_path / "struck").exists()
    assert_all_are_there(tmp_path)
    assert any(began is not None for _, (began, _), _ in ledger.rows(name))


def test_a_failure_to_restore_is_tried_again(tmp_path, name):
    run(tmp_path, Struck(tmp_path / "struck", "initialize_state"), 2, stop_after=3)
    assert not (tmp_path / "struck").exists()
    run(tmp_path, Struck(tmp_path / "struck", "initialize_state"), 2, options=restarting(1, "0 s"))
    assert (tmp_path / "struck").exists()
    assert_all_are_there(tmp_path)


def test_an_error_names_the_operator(tmp_path, name):
    with pytest.raises(UserFunctionError, match=r"flat_map .*test_operator_state.py:\d+\).*struck"):
        run(tmp_path, Struck(tmp_path / "struck", "snapshot_state"), 1)


@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_crash_of_the_driver_at_any_point(tmp_path, parallelism):
    for at in count(1):
        directory = tmp_path / str(at)
        directory.mkdir()
        crasher = crash(directory, parallelism, Crasher(lambda passed, point, at=at: passed == at))
        if crasher.crashed is None:
            break
        crash(directory, 3 - parallelism, Crasher())
        assert_all_are_there(directory)
        ledger.forget(str(directory))
    assert at > 20
    ledger.forget(str(directory))


def crash(directory, parallelism, crasher):
    settings = {"epoch_records": 20, "parallelism": parallelism, "state_dir": str(directory / "state")}
    with points(crasher), executing(crasher.executor, clock=ManualClock(1_000_000), **settings):
        env = StreamExecutionEnvironment.get_execution_environment()
        build(env, InFours(), str(directory))
        try:
            env.execute()
        except Exception:
            assert crasher.crashed is not None
    return crasher


class Idle(FlatMapFunction):
    def flat_map(self, value):
        yield "idle", value


class Both(InFours):
    def initialize_state(self, context):
        super().initialize_state(context)
        self.union = context.get_operator_state_store().get_union_list_state(ListStateDescriptor("seen"))
        self.began = (context.get_restored_checkpoint_id(), self.union.get())

    def flat_map(self, value):
        self.union.add(value)
        yield from super().flat_map(value)


@pytest.mark.parametrize(("before", "after"), CHANGES)
@pytest.mark.parametrize("between", [Idle, InFours])
def test_lists_that_a_program_has_no_use_for_are_kept(tmp_path, name, before, after, between):
    run(tmp_path, Both(), before, stop_after=3)
    seen = [value for values in saved(tmp_path, "seen") for value in values]
    assert sorted(seen) == VALUES[:18]
    run(tmp_path, between(), after, stop_after=6)
    assert [value for values in saved(tmp_path, "seen") for value in values] == seen
    run(tmp_path, Both(), before)
    began = [began for _, began, _ in ledger.rows(name)[-before:]]
    assert {began[0] for began in began} != {None}
    assert sorted(value for values in saved(tmp_path, "seen") for value in values) == [
        *VALUES[:18],
        *VALUES[36:],
    ]


def test_another_type_is_refused_and_nothing_lost(tmp_path, name):
    class AsText(InFours):
        descriptor = ListStateDescriptor("waiting", Types.STRING())

    run(tmp_path, InFours(), 2, stop_after=3)
    with pytest.raises(StateMismatchError) as refused:
        run(tmp_path, AsText(), 2)
    assert re.fullmatch(
        r"flat_map '.*' \(\S*test_operator_state.py:\d+\): list state 'waiting' was saved as a list of PICKLED; "
        r"got a list of STRING",
        str(refused.value).splitlines()[0],
    )
    assert str(refused.value).count("flat_map") == 1
    run(tmp_path, InFours(), 3)
    assert_all_are_there(tmp_path)


def test_the_keyed_state_store_is_for_keyed_streams(tmp_path, name):
    class Counted(MapFunction, CheckpointedFunction):
        def initialize_state(self, context):
            self.count = context.get_keyed_state_store().get_state(ValueStateDescriptor("n"))

        def snapshot_state(self, context):
            seen[context.get_checkpoint_id()] += 1
            assert context.get_checkpoint_timestamp() == 1_000_000

        def map(self, value):
            self.count.update((self.count.value() or 0) + 1)
            return value % 4, self.count.value()

    seen = defaultdict(int)
    with environment(tmp_path, on="process", parallelism=2, epoch_records=6) as env:
        keyed = env.from_source(ScriptedSource(VALUES), NO_WATERMARKS, "values").key_by(
            lambda value: value % 4
        )
        keyed.map(Counted()).sink_to(ledger.LedgerSink(name))
        start(env).wait(60)
    assert sorted(ledger.rows(name)) == [(key, number) for key in range(4) for number in range(1, 13)]

"""A job started again at another parallelism: state follows its keys, and what subtasks had begun is finished."""

from __future__ import annotations

import pytest

from firesteel.common import Types, WatermarkStrategy
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.datastream import RuntimeExecutionMode
from firesteel.datastream.functions import (
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
    MapFunction,
)
from firesteel.datastream.state import ListStateDescriptor, MapStateDescriptor
from firesteel.runtime.task import Worker
from firesteel.testing import LocalExecutor, ScriptedSource
from tests.recovery import ledger
from tests.recovery.jobs import Watch, environment, fails_once, lines, restarting, start

pytestmark = pytest.mark.usefixtures("machine")

NO_WATERMARKS = WatermarkStrategy.no_watermarks()
RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
EVENTS = [(f"k{number % 6}", number) for number in range(60)]
CHANGES = [(1, 3), (3, 1), (2, 3), (3, 2), (2, 2)]


@pytest.fixture
def name(tmp_path):
    yield str(tmp_path)
    ledger.forget(str(tmp_path))


def run(directory, program, parallelism, stop_after=None, on="process", **more):
    """Run a program, at most to the end of an epoch; answer how many epochs the job has had."""
    watch = Watch(lambda handle, stats: handle.stop() if stats.epoch == stop_after else None)
    with environment(
        directory, on=on, parallelism=parallelism, epoch_records=6, listener=watch, **more
    ) as env:
        program(env)
        return start(env, watch).wait(60).epochs


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_parts_that_are_open_are_finished(tmp_path, before, after):
    def program(env):
        events = env.from_collection(EVENTS).rebalance().map(str)
        long = RollingPolicy(part_size=100_000)
        events.sink_to(FileSink(tmp_path / "out", TextLines(), BasePathBuckets(), long))

    assert run(tmp_path, program, before, stop_after=4) == 4
    assert lines(tmp_path / "out") == []
    run(tmp_path, program, after)
    assert lines(tmp_path / "out") == sorted(map(str, EVENTS))


class Apply(KeyedBroadcastProcessFunction):
    """When all input has been read, says what each key has seen, and the rule for it."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))

    def process_element(self, value, ctx):
        self.seen.add(value[1])
        ctx.timer_service().register_event_time_timer(1_000)
        yield from ()

    def on_timer(self, timestamp, ctx):
        rule = ctx.get_broadcast_state(RULES).get(ctx.get_current_key())
        yield ctx.get_current_key(), rule, sorted(self.seen.get())

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)
        yield from ()


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_keyed_and_broadcast_state_and_timers_move_together(tmp_path, name, before, after):
    def program(env):
        rules = env.from_collection([(f"k{key}", key * 10) for key in range(6)]).broadcast(RULES)
        events = env.from_source(ScriptedSource(EVENTS), NO_WATERMARKS, "events")
        keyed = events.key_by(lambda event: event[0])
        keyed.connect(rules).process(Apply()).sink_to(ledger.LedgerSink(name))

    assert run(tmp_path, program, before, stop_after=5) == 5
    assert ledger.rows(name) == []
    run(tmp_path, program, after)
    expected = [(f"k{key}", key * 10, [number for _, number in EVENTS[key::6]]) for key in range(6)]
    assert sorted(ledger.rows(name)) == expected


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_every_subtask_has_the_whole_broadcast_state(tmp_path, name, before, after):
    class Show(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            yield value, dict(ctx.get_broadcast_state(RULES).items())

        def process_broadcast_element(self, value, ctx):
            ctx.get_broadcast_state(RULES).put(*value)
            yield from ()

    def program(env):
        rules = env.from_collection([("a", 1), ("b", 2), ("a", 3)]).broadcast(RULES)
        events = env.from_collection(range(30)).rebalance().map(lambda value: value)
        events.connect(rules).process(Show()).sink_to(ledger.LedgerSink(name))

    run(tmp_path, program, before, stop_after=2)
    first = len(ledger.rows(name))
    run(tmp_path, program, after)
    assert {value for value, _ in ledger.rows(name)} == set(range(30))
    assert all(rules == {"a": 3, "b": 2} for _, rules in ledger.rows(name)[first:])
    assert 0 < first < 30


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_records_that_wait_for_the_broadcast_side_of_a_batch_job(tmp_path, name, before, after):
    class Show(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            if value == 17:
                fails_once(tmp_path / "struck")
            yield value, dict(ctx.get_broadcast_state(RULES).items())

        def process_broadcast_element(self, value, ctx):
            ctx.get_broadcast_state(RULES).put(*value)
            yield from ()

    def program(env):
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        rules = env.from_collection([(f"r{number}", number) for number in range(12)]).broadcast(RULES)
        events = env.from_collection(range(30)).rebalance().map(lambda value: value)
        events.connect(rules).process(Show()).sink_to(ledger.LedgerSink(name))

    assert run(tmp_path, program, before, stop_after=4) == 4
    assert ledger.rows(name) == []
    run(tmp_path, program, after, options=restarting(1))
    assert (tmp_path / "struck").exists()
    every = {f"r{number}": number for number in range(12)}
    assert sorted(ledger.rows(name), key=lambda row: row[0]) == [(value, every) for value in range(30)]


class Seen(MapFunction):
    """Counts what this instance has seen."""

    def open(self, runtime_context):
        self.count = 0

    def map(self, value):
        self.count += 1
        return value, self.count


def test_a_new_driver_does_not_find_the_instances_of_another(tmp_path, name):
    worker = Worker()

    def reusing(job_id, state_url, settings):
        executor = LocalExecutor(job_id, state_url, settings)
        executor._worker = worker  # as a Python worker of Spark, which outlives the driver
        executor.close = lambda: None
        return executor

    def program(env):
        env.from_collection(range(24)).map(Seen()).sink_to(ledger.LedgerSink(name))

    run(tmp_path, program, 1, stop_after=2, on=reusing)
    run(tmp_path, program, 1, on=reusing)
    assert ledger.rows(name) == [(value, value % 12 + 1) for value in range(24)]

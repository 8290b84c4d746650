"""Restart strategies: a failed epoch is run again from the last commit, by new instances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from firesteel.common import WatermarkStrategy
from firesteel.common.errors import ConnectorError, StateMismatchError, UserFunctionError
from firesteel.datastream.functions import KeyedProcessFunction, MapFunction
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.testing import Fail, ManualClock, ScriptedSource
from tests.recovery.jobs import environment, fails_once, restarting

pytestmark = pytest.mark.usefixtures("machine")


class Fragile(MapFunction):
    """Fails at a value, so many times; says which attempt it is, and how many values the instance has seen."""

    def __init__(self, marker: Path, at: int, times: int = 1) -> None:
        self.marker, self.at, self.times = marker, at, times

    def open(self, runtime_context):
        self.attempt = runtime_context.get_attempt_number()
        self.seen = 0

    def map(self, value):
        if value == self.at:
            for time in range(self.times):
                fails_once(self.marker.with_suffix(f".{time}"))
        self.seen += 1
        return value, self.attempt, self.seen


def test_a_failed_epoch_is_run_again_by_new_instances(tmp_path):
    clock = ManualClock(1_000_000)
    with environment(tmp_path, options=restarting(1), clock=clock, epoch_records=2) as env:
        results = list(
            env.from_collection(range(6)).map(Fragile(tmp_path / "struck", 3)).execute_and_collect()
        )
    assert results == [(0, 0, 1), (1, 0, 2), (2, 1, 1), (3, 1, 2), (4, 1, 3), (5, 1, 4)]
    assert clock.now() >= 1_010_000


def test_each_restart_is_an_attempt_of_its_own(tmp_path):
    with environment(tmp_path, options=restarting(3), epoch_records=3) as env:
        stream = env.from_collection(range(3)).map(Fragile(tmp_path / "struck", 1, times=3))
        assert list(stream.execute_and_collect()) == [(0, 3, 1), (1, 3, 2), (2, 3, 3)]


def test_more_failures_than_restarts_fail_the_job_and_a_new_start_goes_on(tmp_path):
    def run():
        with environment(tmp_path, options=restarting(1), epoch_records=2) as env:
            stream = env.from_collection(range(6)).map(Fragile(tmp_path / "struck", 3, times=2))
            for value, *_ in stream.execute_and_collect():
                results.append(value)

    results: list[int] = []
    with pytest.raises(UserFunctionError, match="struck"):
        run()
    assert results == [0, 1]
    run()
    assert results == [0, 1, 2, 3, 4, 5]


def test_keyed_state_is_what_it_was_at_the_last_commit(tmp_path):
    class Number(KeyedProcessFunction):
        def open(self, runtime_context):
            self.count = runtime_context.get_state(ValueStateDescriptor("count"))

        def process_element(self, value, ctx):
            self.count.update((self.count.value() or 0) + 1)
            if value == 17:
                fails_once(tmp_path / "struck")
            yield ctx.get_current_key(), self.count.value()

    with environment(tmp_path, options=restarting(1), epoch_records=4, parallelism=2) as env:
        keyed = env.from_collection(range(24)).key_by(lambda value: value % 3)
        results = list(keyed.process(Number()).execute_and_collect())
    assert Counter(results) == Counter((key, number) for key in range(3) for number in range(1, 9))


@pytest.mark.parametrize("epoch_records", [1, 3, 100])
def test_a_source_that_fails_is_read_again(tmp_path, epoch_records):
    def script(name):
        fail = Fail(OSError("the disk is gone"), str(tmp_path / f"marks-{name}"))
        return [f"{name}0", f"{name}1", fail, f"{name}2"]

    source = ScriptedSource(script("a"), script("b"))
    with environment(tmp_path, options=restarting(2), epoch_records=epoch_records) as env:
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "scripted")
        results = list(stream.execute_and_collect())
    assert sorted(results) == ["a0", "a1", "a2", "b0", "b1", "b2"]


def test_a_source_that_cannot_say_what_there_is_fails_by_name(tmp_path):
    class Broken(ScriptedSource):
        def splits(self, known):
            fails_once(tmp_path / "struck", KeyError("partition 7"))
            return super().splits(known)

    def run(options):
        with environment(tmp_path, options=options) as env:
            stream = env.from_source(Broken([1, 2]), WatermarkStrategy.no_watermarks(), "ledger")
            return list(stream.execute_and_collect())

    with pytest.raises(
        ConnectorError, match=r"'ledger' \(.*test_restarts.py:\d+\) .*KeyError: 'partition 7'"
    ):
        run({})
    (tmp_path / "struck").unlink()
    assert run(restarting(1)) == [1, 2]


def test_what_no_retry_can_mend_is_not_tried_again(tmp_path, machine: Callable[[str], None]):
    with environment(tmp_path) as env:
        env.from_collection([1]).map(str).print()
        env.execute()
    endless = {"restart-strategy.type": "exponential-delay"}
    with environment(tmp_path, options=endless) as env:
        source = ScriptedSource([1])
        env.from_source(source, WatermarkStrategy.no_watermarks(), "other").set_parallelism(1).uid(
            "o"
        ).print()
        with pytest.raises(StateMismatchError, match="belongs to another program"):
            env.execute()

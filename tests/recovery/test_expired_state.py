"""State that expires leaves the disks of the workers, not only the checkpoints."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

import pytest

from firesteel.common import Time, Types, WatermarkStrategy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import StateTtlConfig, ValueStateDescriptor
from firesteel.state.disk.copy import close_working_stores, open_working_store
from firesteel.state.live import sweeping
from firesteel.testing import LocalExecutor, ManualClock, ScriptedSource, executing

TTL_S = 10
NEW_KEYS = 50
EPOCHS = 60


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "local"))
    yield tmp_path / "local" / f"firesteel-work-{os.geteuid()}"
    close_working_stores(tmp_path)


class Seen(KeyedProcessFunction):
    def open(self, runtime_context):
        descriptor = ValueStateDescriptor("seen", Types.BOOLEAN())
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(TTL_S)).build())
        self.seen = runtime_context.get_state(descriptor)

    def process_element(self, value, ctx):
        if not self.seen.value():
            self.seen.update(True)
            yield value


class Watched(LocalExecutor):
    """A second passes before each epoch; after each it is noted how many entries the working copies hold."""

    clock = ManualClock(1_000_000)
    root = Path()
    stored: ClassVar[list[int]] = []

    def run(self, plan, epoch):
        self.clock.advance(1000)
        reports = super().run(plan, epoch)
        self.stored.append(stored_in(self.root))
        return reports


def stored_in(root: Path) -> int:
    """How many entries the working copies hold."""
    total = 0
    for copy in root.glob("*/*-*"):
        *_, first, last = copy.name.split("-")
        with open_working_store(copy, copy.parent.name, int(first), int(last)).read() as reader:
            total += sum(1 for _ in reader.scan(b""))
    return total


def test_a_job_of_ever_new_keys_keeps_those_that_live(tmp_path, root, monkeypatch):
    monkeypatch.setattr(sweeping, "LEAST", 10)
    monkeypatch.setattr(Watched, "root", root)
    source = ScriptedSource(range(EPOCHS * NEW_KEYS))
    with executing(
        Watched, clock=Watched.clock, epoch_records=NEW_KEYS, parallelism=2, state_dir=str(tmp_path / "state")
    ):
        env = StreamExecutionEnvironment.get_execution_environment()
        numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
        first = numbers.key_by(lambda value: value).process(Seen(), Types.LONG())
        assert len(list(first.execute_and_collect())) == EPOCHS * NEW_KEYS
    assert len(Watched.stored) >= EPOCHS
    assert TTL_S * NEW_KEYS / 2 < max(Watched.stored) < 2 * TTL_S * NEW_KEYS

"""A relative state directory is the driver's, whatever directory the workers of a shared session are in."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.common import Configuration, Types
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.testing import executing

pytestmark = pytest.mark.spark


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield self.count.value()


def counts(directory: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    monkeypatch.chdir(directory)
    with executing("spark"):
        configuration = Configuration.from_dict({"firesteel.state-dir": "state"})
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        keyed = env.from_collection([1, 1, 1]).key_by(lambda value: value)
        return list(keyed.process(Count(), Types.INT()).execute_and_collect())


def test_jobs_of_one_session_have_state_in_the_directories_of_their_driver(tmp_path, monkeypatch):
    places = [tmp_path / "one", tmp_path / "other"]
    for place in places:
        place.mkdir()
        assert counts(place, monkeypatch) == [1, 2, 3]
    assert all(list((place / "state" / "runs").rglob("*.run")) for place in places)

"""`firesteel flamegraph`: where a running job's operators are."""

from __future__ import annotations

import json
import threading
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from firesteel.common import WatermarkStrategy
from firesteel.common.typeinfo import Types
from firesteel.connectors.discard import DiscardingSink
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import MapFunction
from firesteel.functions.source import Source, Split
from firesteel.testing import executing

WAIT_S = 60


class Endless(Source[int]):
    """The numbers from 0 on, fifty at a time."""

    def splits(self, known):
        return [Split("all", 0, None)]

    def available(self, split, position, now):
        return position + 50

    def read(self, split, start, end):
        yield list(range(start, end))


class Burning(MapFunction):
    """Works for 2 ms on each number; the test ends the job."""

    def map(self, value: int) -> int:
        return self.burn(value)

    def burn(self, value: int) -> int:
        until = time.perf_counter() + 0.002
        while time.perf_counter() < until:
            continue
        return value


@pytest.fixture
def burning(tmp_path: Path):
    """A job that works until the test is over; the directory of its state."""
    begun = threading.Event()

    class Listening:
        def on_epoch(self, stats: object) -> None:
            begun.set()

    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_source(Endless(), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.map(Burning(), Types.LONG()).name("burn").sink_to(DiscardingSink()).name("out")
    state = tmp_path / "state"
    with executing(epoch_records=50, parallelism=1, state_dir=str(state), listener=Listening()):
        handle = env.execute_async("burning")._handle
        assert begun.wait(WAIT_S)
        yield state
        handle.cancel()
        handle.wait(WAIT_S)


def times_of(node: dict, name: str) -> int:
    here = node["value"] if f".{name}:" in node["name"] else 0
    return here or sum(times_of(child, name) for child in node["children"])


def test_samples_lie_where_the_time_goes(firesteel, burning, tmp_path):
    done = firesteel("flamegraph", "--operator", "burn", "--seconds", "1", burning)
    assert done.exit_code == 0, done.output
    tree = json.loads(done.stdout)
    assert tree["name"] == "root"
    assert tree["value"] > 10
    assert times_of(tree, "burn") >= tree["value"] * 0.8
    picture = tmp_path / "burn.svg"
    done = firesteel(
        "flamegraph", "--operator", "burn", "--type", "on_cpu", "--seconds", "0.5", "--svg", picture, burning
    )
    assert done.exit_code == 0, done.output
    titles = [title.text or "" for title in ET.parse(picture).iter("{http://www.w3.org/2000/svg}title")]
    assert any("Burning.burn:" in title for title in titles)


def test_an_operator_that_is_not_there_is_named(firesteel, burning):
    done = firesteel("flamegraph", "--operator", "bern", burning)
    assert done.exit_code == 1
    assert "did you mean burn?" in done.output

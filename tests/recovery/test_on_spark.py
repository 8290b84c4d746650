"""On Spark: workers and drivers that are killed, and Ctrl-C."""

from __future__ import annotations

import os
import signal

import pytest

from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.datastream.functions import MapFunction
from tests.recovery.jobs import Count, environment, lines, records_read

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


class KillsItself(MapFunction):
    """Kills the Python worker it runs in, once."""

    def __init__(self, marker, at):
        self.marker, self.at = marker, at

    def map(self, value):
        if value[1] == self.at and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return value


def test_a_worker_that_is_killed_in_the_middle_of_an_epoch_is_replaced(tmp_path):
    def sink(name):
        return FileSink(tmp_path / name, TextLines(), BasePathBuckets(), RollingPolicy.on_epoch())

    with environment(tmp_path, on="spark", parallelism=2, epoch_records=20, clock=None) as env:
        counts = env.from_collection(range(40)).key_by(lambda value: value % 4).process(Count())
        counts.map(str).sink_to(sink("before"))  # has a file open when the worker dies
        counts.map(KillsItself(tmp_path / "struck", 7)).map(str).sink_to(sink("after"))
        env.execute()
    assert (tmp_path / "struck").exists()
    expected = sorted(str((key, count)) for key in range(4) for count in range(1, 11))
    assert lines(tmp_path / "before") == expected
    assert lines(tmp_path / "after") == expected


PROGRAM = """
import os, signal, sys
from pathlib import Path

from firesteel.common import WatermarkStrategy
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ValueStateDescriptor

DRIVER = os.getpid()
SIGNAL, COUNT = getattr(signal, sys.argv[1]), int(sys.argv[2]) or None
MARKER = Path("struck")


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        if value == 1500 and not MARKER.exists():
            MARKER.touch()
            os.kill(DRIVER, SIGNAL)
        yield f"{ctx.get_current_key()} {self.count.value()}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
numbers = env.from_source(DataGeneratorSource(int, COUNT), WatermarkStrategy.no_watermarks(), "numbers")
counts = numbers.key_by(lambda value: value % 10).process(Count())
counts.sink_to(FileSink("out", TextLines(), BasePathBuckets(), RollingPolicy.on_epoch()))
env.execute()
print("the end")
"""

SETTINGS = {"FIRESTEEL_STATE_DIR": "state", "FIRESTEEL_CONF": "firesteel.epoch.max-records=1000"}


def counted(records):
    numbered = (f"{number % 10} {number // 10 + 1}" for number in range(records))
    return sorted(numbered)


def test_a_driver_that_is_killed_is_followed_by_one_that_goes_on(tmp_path, run_python):
    (tmp_path / "program.py").write_text(PROGRAM)
    first = run_python("program.py", "SIGKILL", 3000, **SETTINGS)
    assert first.returncode == -signal.SIGKILL, first.stderr
    committed = records_read(tmp_path / "state")
    assert 0 < committed <= 1500
    assert lines(tmp_path / "out") == counted(committed)
    second = run_python("program.py", "SIGKILL", 3000, **SETTINGS)
    assert second.stdout.splitlines()[-1:] == ["the end"], second.stderr
    assert lines(tmp_path / "out") == counted(3000)


def test_ctrl_c_stops_a_program_at_the_end_of_an_epoch(tmp_path, run_python):
    (tmp_path / "program.py").write_text(PROGRAM)
    ended = run_python("program.py", "SIGINT", 0, **SETTINGS)
    assert ended.returncode in (-signal.SIGINT, 130), ended.stderr
    assert "the end" not in ended.stdout
    records = records_read(tmp_path / "state")
    assert records > 1500
    assert lines(tmp_path / "out") == counted(records)

"""Kills the driver process of Spark in the middle of an epoch, and between two; prints what the job puts out.

Usage: loses_its_jvm.py FIFO
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from pyspark import SparkContext

from firesteel.common import WatermarkStrategy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.testing import ScriptedSource, executing

FIFO = Path(sys.argv[1])
STRUCK = FIFO.with_name("struck")


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value, ctx):
        if value == 11 and not STRUCK.exists():
            STRUCK.touch()
            FIFO.write_text("now")
            threading.Event().wait()
        self.count.update((self.count.value() or 0) + 1)
        yield ctx.get_current_key(), self.count.value()


def kill_jvm():
    SparkContext._gateway.proc.kill()


class Listener:
    def on_epoch(self, stats):
        if stats.epoch == 2:
            kill_jvm()


os.mkfifo(FIFO)
with executing(
    "spark", parallelism=2, epoch_records=4, state_dir=str(FIFO.parent / "state"), listener=Listener()
):
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_source(ScriptedSource(list(range(20))), WatermarkStrategy.no_watermarks(), "numbers")
    results = numbers.key_by(lambda value: value % 3).process(Count()).execute_and_collect()
    assert FIFO.read_text() == "now"
    kill_jvm()
    print(sorted(results))
with executing("spark"):  # the next job of the program runs in the new process, too
    print(sorted(env.from_collection([1, 2]).map(lambda value: value + 1).execute_and_collect()))

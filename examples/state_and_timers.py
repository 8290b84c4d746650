"""Keyed state and timers: reports when a sensor has been silent for a minute, and when it sends again.

    python examples/state_and_timers.py

Each sensor has its own state and its own timers. A timer finds in the state whether a later reading has come.
Time is the time of the readings: a watermark advances it with each of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from firesteel.common import Types, WatermarkStrategy
from firesteel.common.watermark_strategy import (
    TimestampAssigner,
    WatermarkGenerator,
    WatermarkOutput,
)
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction, RuntimeContext
from firesteel.datastream.state import ValueStateDescriptor

MINUTE = 60_000
Reading = tuple[str, int]
READINGS: list[Reading] = [
    ("door", 0),
    ("roof", 10_000),
    ("door", 30_000),
    ("roof", 150_000),
    ("door", 160_000),
]


class ReadingTime(TimestampAssigner):
    def extract_timestamp(self, value: Reading, record_timestamp: int) -> int:
        return value[1]


class AfterEachReading(WatermarkGenerator):
    def on_event(self, event: Reading, event_timestamp: int, output: WatermarkOutput) -> None:
        output.emit_watermark(event_timestamp)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        pass


class Silence(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last reading", Types.LONG()))
        self.silent = runtime_context.get_state(ValueStateDescriptor("silent", Types.BOOLEAN()))

    def process_element(self, value: Reading, ctx: KeyedProcessFunction.Context) -> Iterator[str]:
        sensor, time = value
        if self.silent.value():
            self.silent.clear()
            yield f"{sensor} is back at {time // 1000} s"
        self.last.update(time)
        ctx.timer_service().register_event_time_timer(time + MINUTE)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[str]:
        if self.last.value() == timestamp - MINUTE:
            self.silent.update(True)
            yield f"{ctx.get_current_key()} has been silent since {self.last.value() // 1000} s"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
times = WatermarkStrategy.for_generator(AfterEachReading).with_timestamp_assigner(ReadingTime())
readings = env.from_collection(READINGS).assign_timestamps_and_watermarks(times)
readings.key_by(lambda reading: reading[0]).process(Silence()).print()
env.execute("silent sensors")

"""Late data: a window waits for stragglers, fires again for allowed ones, and sends later ones to a side output.

    python examples/late_data.py

A bounded list has no watermark except the last one, so the program generates one after each event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from firesteel.common import Time, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import (
    TimestampAssigner,
    WatermarkGenerator,
    WatermarkOutput,
)
from firesteel.datastream import OutputTag, StreamExecutionEnvironment
from firesteel.datastream.functions import ProcessWindowFunction
from firesteel.datastream.window import TumblingEventTimeWindows

TOO_LATE = OutputTag("too late", Types.LONG())
SECONDS = [1, 4, 11, 7, 16, 3, 26, 8, 30]


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value: int, record_timestamp: int) -> int:
        return value * 1000


class AfterEachEvent(WatermarkGenerator):
    def on_event(self, event: int, event_timestamp: int, output: WatermarkOutput) -> None:
        output.emit_watermark(event_timestamp)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        pass


class Contents(ProcessWindowFunction):
    def process(
        self, key: str, context: ProcessWindowFunction.Context, elements: Iterable[int]
    ) -> Iterator[str]:
        yield f"from {context.window().start // 1000} s: {sorted(elements)}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
times = WatermarkStrategy.for_generator(AfterEachEvent).with_timestamp_assigner(EventTime())
events = env.from_collection(SECONDS, Types.LONG()).assign_timestamps_and_watermarks(times)
windows = events.key_by(lambda second: "all").window(TumblingEventTimeWindows.of(Time.seconds(10)))
result = windows.allowed_lateness(5_000).side_output_late_data(TOO_LATE).process(Contents(), Types.STRING())
result.print("window")
result.get_side_output(TOO_LATE).print("too late")
env.execute("windows with stragglers")

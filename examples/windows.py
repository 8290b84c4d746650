"""Event-time windows: the number of strong earthquakes in each week of 2016, and the strongest one.

    python examples/windows.py

Windows use the time in the records, not the clock: ten months pass in a second. The aggregate keeps two numbers for
each window, not its records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from firesteel.common import Time, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import AggregateFunction, ProcessAllWindowFunction
from firesteel.datastream.window import TumblingEventTimeWindows

DATA = Path(__file__).parent / "data" / "earthquakes.csv"
Quake = tuple[int, float]
Summary = tuple[int, float]


def parse(line: str) -> Quake:
    """Return (milliseconds, magnitude)."""
    time, _, _, magnitude = line.split(",")
    moment = datetime.strptime(time, "%Y/%m/%d %H:%M:%S.%f").replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000), float(magnitude)


class QuakeTime(TimestampAssigner):
    def extract_timestamp(self, value: Quake, record_timestamp: int) -> int:
        return value[0]


class CountAndStrongest(AggregateFunction):
    def create_accumulator(self) -> Summary:
        return 0, 0.0

    def add(self, value: Quake, accumulator: Summary) -> Summary:
        return accumulator[0] + 1, max(accumulator[1], value[1])

    def get_result(self, accumulator: Summary) -> Summary:
        return accumulator

    def merge(self, a: Summary, b: Summary) -> Summary:
        return a[0] + b[0], max(a[1], b[1])


class Report(ProcessAllWindowFunction):
    def process(
        self, context: ProcessAllWindowFunction.Context, elements: Iterable[Summary]
    ) -> Iterator[str]:
        begin = datetime.fromtimestamp(context.window().start / 1000, UTC)
        for count, strongest in elements:
            yield f"week of {begin:%Y-%m-%d}: {count} earthquakes, the strongest {strongest}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(QuakeTime())
quakes = env.from_collection(DATA.read_text().splitlines(), Types.STRING()).map(parse)
weeks = quakes.assign_timestamps_and_watermarks(times).window_all(TumblingEventTimeWindows.of(Time.days(7)))
weeks.aggregate(CountAndStrongest(), window_function=Report()).print()
env.execute("earthquakes by week")

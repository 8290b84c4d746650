"""Session windows: swarms of strong earthquakes, which end when a region has been quiet for two days.

    python examples/sessions.py

A session grows with each record within the gap; two sessions that touch become one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from firesteel.common import Time, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import ProcessWindowFunction
from firesteel.datastream.window import EventTimeSessionWindows

DATA = Path(__file__).parent / "data" / "earthquakes.csv"
SWARM = 20
Quake = tuple[int, str, float]


def parse(line: str) -> Quake:
    """Return (milliseconds, region of ten by ten degrees, magnitude)."""
    time, latitude, longitude, magnitude = line.split(",")
    moment = datetime.strptime(time, "%Y/%m/%d %H:%M:%S.%f").replace(tzinfo=UTC)
    region = f"{float(latitude) // 10 * 10:+.0f} {float(longitude) // 10 * 10:+.0f}"
    return int(moment.timestamp() * 1000), region, float(magnitude)


class QuakeTime(TimestampAssigner):
    def extract_timestamp(self, value: Quake, record_timestamp: int) -> int:
        return value[0]


class Swarm(ProcessWindowFunction):
    def process(
        self, key: str, context: ProcessWindowFunction.Context, elements: Iterable[Quake]
    ) -> Iterator[str]:
        quakes = list(elements)
        if len(quakes) >= SWARM:
            begin = datetime.fromtimestamp(context.window().start / 1000, UTC)
            strongest = max(magnitude for _, _, magnitude in quakes)
            yield f"{begin:%Y-%m-%d} at {key}: {len(quakes)} earthquakes, the strongest {strongest}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(QuakeTime())
quakes = env.from_collection(DATA.read_text().splitlines(), Types.STRING()).map(parse)
regions = quakes.assign_timestamps_and_watermarks(times).key_by(lambda quake: quake[1])
regions.window(EventTimeSessionWindows.with_gap(Time.days(2))).process(Swarm()).print()
env.execute("earthquake swarms")

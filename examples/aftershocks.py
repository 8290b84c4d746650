"""Patterns: strong earthquakes of 2016 with three aftershocks nearby within three days, found in three ways.

    python examples/aftershocks.py

The same pattern is made with the methods of Pattern, written as a text, and written in SQL. All find the same matches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from firesteel.cep import CEP, AfterMatchSkipStrategy, Pattern
from firesteel.common import Duration, Row, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.table import Schema, StreamTableEnvironment

DATA = Path(__file__).parent / "data" / "earthquakes.csv"
QUAKE = Types.ROW_NAMED(
    ["recorded", "latitude", "longitude", "magnitude"],
    [Types.STRING(), Types.DOUBLE(), Types.DOUBLE(), Types.DOUBLE()],
)

TEXT = """
    select strong.recorded, strong.magnitude, list(shock.magnitude) as shocks
    from every strong = Event(magnitude >= 7)
      -> shock = Event(
           magnitude < strong.magnitude
           and abs(latitude - strong.latitude) < 1
           and abs(longitude - strong.longitude) < 1
         ){3}
    within 3 days
    after match skip to next event
"""

SQL = """
    SELECT * FROM quakes MATCH_RECOGNIZE (
      ORDER BY happened
      MEASURES
        strong.recorded AS recorded,
        strong.magnitude AS magnitude,
        ARRAY[first_shock.magnitude, second_shock.magnitude, third_shock.magnitude] AS shocks
      AFTER MATCH SKIP TO NEXT ROW
      PATTERN (strong a*? first_shock b*? second_shock c*? third_shock) WITHIN INTERVAL '3' DAY
      DEFINE
        strong AS magnitude >= 7,
        first_shock AS magnitude < strong.magnitude
          AND ABS(latitude - strong.latitude) < 1 AND ABS(longitude - strong.longitude) < 1,
        second_shock AS magnitude < strong.magnitude
          AND ABS(latitude - strong.latitude) < 1 AND ABS(longitude - strong.longitude) < 1,
        third_shock AS magnitude < strong.magnitude
          AND ABS(latitude - strong.latitude) < 1 AND ABS(longitude - strong.longitude) < 1
    )
"""


def parse(line: str) -> Row:
    recorded, latitude, longitude, magnitude = line.split(",")
    return Row(
        recorded=recorded, latitude=float(latitude), longitude=float(longitude), magnitude=float(magnitude)
    )


class QuakeTime(TimestampAssigner):
    def extract_timestamp(self, value: Row, record_timestamp: int) -> int:
        moment = datetime.strptime(value.recorded, "%Y/%m/%d %H:%M:%S.%f").replace(tzinfo=UTC)
        return int(moment.timestamp() * 1000)


def is_aftershock(quake: Row, ctx: Any) -> bool:
    (strong,) = ctx.get_events_for_pattern("strong")
    return (
        quake.magnitude < strong.magnitude
        and abs(quake.latitude - strong.latitude) < 1
        and abs(quake.longitude - strong.longitude) < 1
    )


def shown(recorded: str, magnitude: float, shocks: Iterable[float]) -> str:
    return f"{recorded}, {magnitude}: {', '.join(map(str, shocks))}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(QuakeTime())
lines = env.from_collection(DATA.read_text().splitlines(), Types.STRING())
quakes = lines.map(parse, QUAKE).assign_timestamps_and_watermarks(times)

pattern = Pattern.begin("strong", AfterMatchSkipStrategy.skip_to_next()).where(
    lambda quake: quake.magnitude >= 7
)
pattern = pattern.followed_by("shock").where(is_aftershock).times(3).within(Duration.of_days(3))
in_python = CEP.pattern(quakes, pattern).select(
    lambda match: shown(
        match["strong"][0].recorded,
        match["strong"][0].magnitude,
        [shock.magnitude for shock in match["shock"]],
    )
)

as_text = CEP.pattern_text(quakes, TEXT).rows().map(lambda row: shown(*row))

tables = StreamTableEnvironment.create(env)
schema = Schema.new_builder().column_by_metadata("happened", "TIMESTAMP_LTZ(3)", "rowtime")
schema = schema.watermark("happened", "happened - INTERVAL '1' SECOND").build()
tables.create_temporary_view("quakes", quakes, schema)
in_sql = tables.to_data_stream(tables.sql_query(SQL)).map(lambda row: shown(*row))

ways = {"Python": in_python, "text": as_text, "SQL": in_sql}
found = [stream.map(lambda match, way=way: (match, way)) for way, stream in ways.items()]
found_by: dict[str, list[str]] = defaultdict(list)
with found[0].union(*found[1:]).execute_and_collect("aftershocks") as matches:
    for match, way in matches:
        found_by[match].append(way)
for match, names in sorted(found_by.items()):
    print(match, f"({', '.join(way for way in ways if way in names)})")

"""The job that is killed: windows, timers and a pattern over keys, from files that arrive to files and PostgreSQL.

Every event has an id, a key, a time (milliseconds) and a value. For each key and each interval of `SPAN_MS`, the
events are counted and summed twice: by a window, and by a process function with map state and a timer. A pattern finds
for each high value the first low one within `SPAN_MS`, or that there was none. All these results go to the file sink
and, appended, to the table `results`; the file sink also gets every event's id, and the table `totals` each key's
running count, upserted.

    python -m firesteel.cli run chaos/program.py --state-dir DIR -- INPUT OUTPUT DATABASE-URL
"""

from __future__ import annotations

import sys
from typing import Any

from firesteel.cep import CEP, Pattern
from firesteel.common import Duration, Row, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.connectors.sql import SqlSink
from firesteel.datastream import DataStream, KeyedStream, OutputTag, StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSource, StreamFormat
from firesteel.datastream.functions import (
    AggregateFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
    RuntimeContext,
)
from firesteel.datastream.state import MapStateDescriptor, ValueStateDescriptor
from firesteel.datastream.window import TumblingEventTimeWindows

SPAN_MS = 2_000
"""The length of a window, and of an interval that a timer closes (milliseconds)."""

HIGH, LOW = 500, -500
"""From where on a value is high, and up to where it is low."""

DISORDER_MS = 20_000
"""The allowed disorder of events: the time span of twenty files."""

RESULT = Types.ROW_NAMED(
    ["kind", "key", "start", "count", "total"],
    [Types.STRING(), Types.STRING(), Types.LONG(), Types.LONG(), Types.LONG()],
)
TOTAL = Types.ROW_NAMED(["key", "count"], [Types.STRING(), Types.LONG()])


class EventTime(TimestampAssigner):
    """Extracts the third field of a line."""

    def extract_timestamp(self, value: str, record_timestamp: int) -> int:
        return int(value.split(",")[2])


class SumByTimer(KeyedProcessFunction):
    """Counts and sums the events of each interval; a timer at its end emits and removes it."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self._open = runtime_context.get_map_state(
            MapStateDescriptor("open", Types.LONG(), Types.TUPLE([Types.LONG(), Types.LONG()]))
        )

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> None:
        start = value[2] - value[2] % SPAN_MS
        count, total = self._open.get(start) or (0, 0)
        self._open.put(start, (count + 1, total + value[3]))
        ctx.timer_service().register_event_time_timer(start + SPAN_MS - 1)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
        start = timestamp + 1 - SPAN_MS
        count, total = self._open.get(start)
        self._open.remove(start)
        yield Row("timer", ctx.get_current_key(), start, count, total)


class CountAndSum(AggregateFunction):
    """A pair of the number of events and the sum of their values."""

    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: Any, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + 1, accumulator[1] + value[3]

    def get_result(self, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator

    def merge(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        return a[0] + b[0], a[1] + b[1]


class AsResult(ProcessWindowFunction):
    """A window's result as a row."""

    def process(self, key: str, context: ProcessWindowFunction.Context, elements: Any) -> Any:
        for count, total in elements:
            yield Row("window", key, context.window().start, count, total)


class RunningCount(KeyedProcessFunction):
    """Counts the events of a key."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self._count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        count = (self._count.value() or 0) + 1
        self._count.update(count)
        yield Row(ctx.get_current_key(), count)


def parsed(line: str) -> tuple[int, str, int, int]:
    """Return a line's id, key, time and value."""
    number, key, time, value = line.split(",")
    return int(number), key, int(time), int(value)


def falls(events: KeyedStream) -> DataStream:
    """Return for each high value the first low one, or that it came too late: with the sum of both, or the one."""
    pattern = Pattern.begin("high").where(lambda event: event[3] >= HIGH)
    pattern = pattern.followed_by("low").where(lambda event: event[3] <= LOW)
    late = OutputTag("no low value", RESULT)

    def too_late(match: dict[str, Any], time: int) -> Row:
        (_, key, start, value) = match["high"][0]
        return Row("high", key, start, 1, value)

    def fall(match: dict[str, Any]) -> Row:
        (_, key, start, value), low = match["high"][0], match["low"][0]
        return Row("fall", key, start, 2, value + low[3])

    found = CEP.pattern(
        events, pattern.within(Duration.of_millis(SPAN_MS)), lambda one, other: one[0] - other[0]
    )
    matches = found.select(late, too_late, fall, output_type=RESULT).uid("falls")
    return matches.union(matches.get_side_output(late))


def by_time() -> WatermarkStrategy:
    """Return how late events may be."""
    disorder = Duration.of_millis(DISORDER_MS)
    return WatermarkStrategy.for_bounded_out_of_orderness(disorder).with_timestamp_assigner(EventTime())


def by_key(lines: DataStream) -> KeyedStream:
    """Return the events of lines, by key."""
    return lines.map(parsed).key_by(lambda event: event[1])


def events_in_files(env: StreamExecutionEnvironment, directory: str) -> KeyedStream:
    """Return the events of the files that arrive in a directory, by key."""
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), directory)
    source = files.monitor_continuously(Duration.of_millis(100)).build()
    return by_key(env.from_source(source, by_time(), "events").uid("events"))


def results_of(events: KeyedStream) -> DataStream:
    """Return the rows of timers, windows and the pattern."""
    by_timer = events.process(SumByTimer(), RESULT).uid("by-timer")
    by_window = (
        events.window(TumblingEventTimeWindows.of(Duration.of_millis(SPAN_MS)))
        .aggregate(CountAndSum(), AsResult(), output_type=RESULT)
        .uid("by-window")
    )
    return by_timer.union(by_window, falls(events))


def write_files(events: KeyedStream, results: DataStream, output: str) -> None:
    """Write a line for each event, and one for each result."""
    shown = results.map(lambda row: ",".join(map(str, row)), Types.STRING())
    seen = events.map(lambda event: f"seen,{event[0]}", Types.STRING())
    shown.union(seen).sink_to(FileSink(output, TextLines(), BasePathBuckets(), RollingPolicy.on_epoch())).uid(
        "files"
    )


def main(directory: str, output: str, database: str) -> None:
    """Build the job and run it until it is stopped."""
    env = StreamExecutionEnvironment.get_execution_environment()
    events = events_in_files(env, directory)
    results = results_of(events)
    write_files(events, results, output)
    results.sink_to(SqlSink(database, "results")).uid("results")
    events.process(RunningCount(), TOTAL).uid("counts").sink_to(SqlSink(database, "totals", key=["key"])).uid(
        "totals"
    )
    env.execute("chaos")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Reads a web server's access log and analyses it: one program, four results.

    python examples/access_log.py access_log.gz          # or: ./run demo access_log.gz

The log is in the combined format, plain or gzipped; without one, a log is generated. The results are files of
comma-separated values, in one directory each:

    hits_per_page    hour, page, hits, bytes sent              tumbling windows of one hour
    sessions         visitor, first hit, last hit, hits        session windows with a gap of 30 minutes
    bursts           visitor, first error, last error, errors  a process function with timers
    malformed        the lines in another format               a side output
    late             result, hit: hits that came too late      side outputs

Servers write a line when its response is finished, so the lines of a log are not in the order of their times. The
program counts by event time, with watermarks that wait a minute: the result is the same for any order within a minute.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import generate_access_log
from access_log_summary import print_summary

from firesteel.common import Duration, Encoder, Time, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.datastream import (
    AggregateFunction,
    DataStream,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from firesteel.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    FileSource,
    OutputFileConfig,
    StreamFormat,
)
from firesteel.datastream.state import MapStateDescriptor, ValueStateDescriptor
from firesteel.datastream.window import EventTimeSessionWindows, TimeWindow, TumblingEventTimeWindows

OUT_OF_ORDER = Duration.of_seconds(60)
SESSION_GAP_MS = 30 * 60_000
BURST_MS = 60_000
BURST_ERRORS = 3

MALFORMED = OutputTag("malformed", Types.STRING())
LATE = OutputTag("late")

LINE = re.compile(r'(\S+) \S+ \S+ \[([^\]]+)\] "\S+ (\S+)[^"]*" (\d{3}) (\d+|-) "[^"]*" ".*"$')
STAMP = re.compile(r"\[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\]")


class Hit(NamedTuple):
    """One request of a visitor."""

    visitor: str
    page: str
    status: int
    size: int


class LineTime(TimestampAssigner):
    """Extracts the time of a line as the file is read: each part that is read in parallel gets its own watermark."""

    def extract_timestamp(self, value: str, record_timestamp: int) -> int:
        stamp = STAMP.search(value)
        return record_timestamp if stamp is None else milliseconds(stamp[1])


class Parse(ProcessFunction):
    """Turns lines into hits; other lines go to the side output."""

    def process_element(self, value: str, ctx: ProcessFunction.Context) -> Iterator[Any]:
        parts = LINE.match(value)
        if parts is None:
            yield MALFORMED, value
        else:
            visitor, _, target, status, size = parts.groups()
            yield Hit(visitor, target.partition("?")[0], int(status), 0 if size == "-" else int(size))


class Traffic(AggregateFunction):
    """Counts hits and adds up the bytes they sent."""

    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: Hit, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + 1, accumulator[1] + value.size

    def get_result(self, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator

    def merge(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        return a[0] + b[0], a[1] + b[1]


class HourOfPage(ProcessWindowFunction):
    """Adds the hour and the page to what `Traffic` counted."""

    def process(self, key: str, context: Any, elements: Iterable[tuple[int, int]]) -> Iterator[str]:
        for hits, size in elements:
            yield csv_line(iso(context.window().start), key, hits, size)


class Session(ProcessWindowFunction):
    """Adds the visitor and the time to what `Traffic` counted; a session window ends a gap after its last hit."""

    def process(self, key: str, context: Any, elements: Iterable[tuple[int, int]]) -> Iterator[str]:
        window: TimeWindow = context.window()
        for hits, _ in elements:
            yield csv_line(key, iso(window.start), iso(window.end - SESSION_GAP_MS), hits)


class Bursts(KeyedProcessFunction):
    """Reports a visitor with at least BURST_ERRORS failed requests within BURST_MS of the first of them.

    Errors arrive out of order, so they wait in `pending` until the watermark has passed their time: timers fire in
    order of time. A burst begins with an error outside of any other, and its own timer ends it.
    """

    def open(self, runtime_context: RuntimeContext) -> None:
        self.pending = runtime_context.get_map_state(MapStateDescriptor("pending", Types.LONG(), Types.INT()))
        burst = Types.TUPLE([Types.LONG(), Types.LONG(), Types.INT()])
        self.burst = runtime_context.get_state(ValueStateDescriptor("burst", burst))

    def process_element(self, value: Hit, ctx: KeyedProcessFunction.Context) -> Iterator[Any]:
        at = ctx.timestamp()
        if at <= ctx.timer_service().current_watermark():
            yield LATE, value
        else:
            self.pending.put(at, (self.pending.get(at) or 0) + 1)
            ctx.timer_service().register_event_time_timer(at)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[str]:
        burst = self.burst.value()
        if burst is not None and timestamp >= burst[0] + BURST_MS:
            first, last, errors = burst
            if errors >= BURST_ERRORS:
                yield csv_line(ctx.get_current_key(), iso(first), iso(last), errors)
            self.burst.clear()
            burst = None
        errors = self.pending.get(timestamp)
        if errors is not None:
            self.pending.remove(timestamp)
            if burst is None:
                burst = (timestamp, timestamp, 0)
                ctx.timer_service().register_event_time_timer(timestamp + BURST_MS)
            self.burst.update((burst[0], timestamp, burst[2] + errors))


def build(env: StreamExecutionEnvironment, log: Path, output: Path) -> None:
    """Build the job: its input, its counts, and its results."""
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(log)).build()
    event_time = WatermarkStrategy.for_bounded_out_of_orderness(OUT_OF_ORDER).with_timestamp_assigner(
        LineTime()
    )
    hits = env.from_source(source, event_time, "access log").process(Parse()).name("parse")

    pages = (
        hits.key_by(lambda hit: hit.page)
        .window(TumblingEventTimeWindows.of(Time.hours(1)))
        .side_output_late_data(LATE)
        .aggregate(Traffic(), HourOfPage(), output_type=Types.STRING())
        .name("hits per page")
    )
    sessions = (
        hits.key_by(lambda hit: hit.visitor)
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(SESSION_GAP_MS)))
        .side_output_late_data(LATE)
        .aggregate(Traffic(), Session(), output_type=Types.STRING())
        .name("sessions")
    )
    bursts = (
        hits.filter(lambda hit: hit.status >= 400)
        .key_by(lambda hit: hit.visitor)
        .process(Bursts(), output_type=Types.STRING())
        .name("bursts")
    )
    write(pages, output / "hits_per_page")
    write(sessions, output / "sessions")
    write(bursts, output / "bursts")
    write(hits.get_side_output(MALFORMED), output / "malformed")
    write(
        late(pages, "hits_per_page").union(late(sessions, "sessions"), late(bursts, "bursts")),
        output / "late",
    )


def late(result: DataStream, name: str) -> DataStream:
    """Return the hits that came too late to be counted in a result."""
    return result.get_side_output(LATE).map(lambda hit: csv_line(name, *hit), output_type=Types.STRING())


def write(lines: DataStream, directory: Path) -> None:
    """Send lines to files in `directory`; a file appears there when its contents are committed."""
    sink = (
        FileSink.for_row_format(str(directory), Encoder.simple_string_encoder())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_output_file_config(OutputFileConfig.builder().with_part_suffix(".csv").build())
        .build()
    )
    lines.sink_to(sink).name(directory.name)


def milliseconds(stamp: str) -> int:
    """Return the time `17/May/2015:10:05:03 +0000` in milliseconds since 1970."""
    return int(datetime.strptime(stamp, "%d/%b/%Y:%H:%M:%S %z").timestamp()) * 1000


def iso(timestamp: int) -> str:
    """Return milliseconds since 1970 as `2015-05-17T10:05:03Z`."""
    return datetime.fromtimestamp(timestamp / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def csv_line(*fields: object) -> str:
    """Return the fields as one line of comma-separated values."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(fields)
    return line.getvalue()


def main() -> None:
    """Run the command line: run the job, and print a summary."""
    parser = argparse.ArgumentParser(description="Analyses a web server's access log.")
    parser.add_argument(
        "log", type=Path, nargs="?", help="combined format, plain or .gz; default: a generated one"
    )
    parser.add_argument(
        "--output", type=Path, help="a directory for the results; default: a new temporary one"
    )
    parser.add_argument(
        "--lines", type=int, default=200_000, help="how many lines to generate if there is no log"
    )
    arguments = parser.parse_args()

    output = arguments.output or Path(tempfile.mkdtemp(prefix="access_log-"))
    if output.exists() and any(output.iterdir()):
        sys.exit(f"{output} is not empty: give --output a new directory, so that results do not mix")
    output.mkdir(parents=True, exist_ok=True)
    log = arguments.log
    if log is None:
        log = output / "generated_access_log.gz"
        print(f"generating a log of {arguments.lines:,} lines: {log}")
        generate_access_log.write(log, arguments.lines)

    env = StreamExecutionEnvironment.get_execution_environment()
    build(env, log, output)
    result = env.execute("access log")
    print_summary(output, result.get_net_runtime() / 1000)


if __name__ == "__main__":
    main()

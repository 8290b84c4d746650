"""The jobs: one that never ends, with something of everything that could grow, and short ones beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from firesteel.common import Configuration, Duration, JobClient, Time, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSource, StreamFormat
from firesteel.datastream.functions import AggregateFunction
from firesteel.datastream.state import MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from firesteel.datastream.window import TumblingEventTimeWindows

PARALLELISM: Final = 2
RATE: Final = 500
"""Records per second."""

LIVES_MS: Final = 5_000
"""How long a key comes, and how long its state outlives it."""

_KEYS_AT_ONCE: Final = 200
_PAIR: Final = Types.TUPLE([Types.LONG(), Types.LONG()])


def record(index: int) -> tuple[int, int]:
    """Key and event time (milliseconds) of an index: new keys come and old ones never come again."""
    generation = index // (RATE * LIVES_MS // 1000)
    return generation * _KEYS_AT_ONCE + index % _KEYS_AT_ONCE, index * 1000 // RATE


class EventTime(TimestampAssigner):
    """The second number of a pair."""

    def extract_timestamp(self, value: tuple[int, int], record_timestamp: int) -> int:
        return value[1]


class Expiring(KeyedProcessFunction):
    """Keeps a value and a map for each key, both with a time to live; a timer forgets a third state."""

    def open(self, runtime_context: Any) -> None:
        ttl = StateTtlConfig.new_builder(Time.milliseconds(LIVES_MS)).build()
        last, seen = (
            ValueStateDescriptor("last", Types.LONG()),
            MapStateDescriptor("seen", Types.LONG(), Types.LONG()),
        )
        last.enable_time_to_live(ttl)
        seen.enable_time_to_live(ttl)
        self._last = runtime_context.get_state(last)
        self._seen = runtime_context.get_map_state(seen)
        self._open = runtime_context.get_state(ValueStateDescriptor("open", Types.LONG()))

    def process_element(self, value: tuple[int, int], ctx: KeyedProcessFunction.Context) -> None:
        self._last.update(value[1])
        self._seen.put(value[1] % 7, value[1])
        self._open.update((self._open.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(value[1] - value[1] % 1000 + 2 * LIVES_MS)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[str]:
        count = self._open.value()
        if count is not None:
            self._open.clear()
            yield f"timer,{ctx.get_current_key()},{count}"


class Count(AggregateFunction):
    """The number of elements."""

    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, a: int, b: int) -> int:
        return a + b


def start_long_job(watched: Path, output: Path, state: Path) -> JobClient:
    """Start the job that never ends; it reads generated records and the files that appear in `watched`."""
    env = _environment()
    env._configuration.set_string("firesteel.state-dir", str(state))
    times = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(1000))
    source = DataGeneratorSource(record, records_per_second=RATE, type_info=_PAIR)
    records = env.from_source(source, times.with_timestamp_assigner(EventTime()), "records", _PAIR)
    keyed = records.key_by(lambda pair: pair[0], Types.LONG())
    timers = keyed.process(Expiring(), Types.STRING()).uid("timers")
    counts = (
        keyed.window(TumblingEventTimeWindows.of(Duration.of_millis(1000)))
        .aggregate(Count(), output_type=Types.LONG())
        .uid("windows")
        .map(lambda count: f"window,{count}", Types.STRING())
    )
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(watched))
    lines = env.from_source(
        files.monitor_continuously(Duration.of_millis(500)).build(),
        WatermarkStrategy.no_watermarks(),
        "files",
    )
    sink = FileSink(str(output), TextLines(), BasePathBuckets(), RollingPolicy.on_epoch())
    timers.union(counts, lines).sink_to(sink).uid("sink")
    return env.execute_async("soak")


def run_short_job(number: int) -> None:
    """Run a bounded job to its end; raises AssertionError if its result is wrong."""
    env = _environment()
    numbers = env.from_collection([(index % 10, index + number) for index in range(200)], _PAIR)
    keyed = numbers.key_by(lambda pair: pair[0], Types.LONG())
    sums = keyed.reduce(lambda one, other: (one[0], one[1] + other[1]))
    largest = max(total for _, total in list(sums.execute_and_collect("short")))
    expected = max(sum(index + number for index in range(200) if index % 10 == key) for key in range(10))
    assert largest == expected, f"{largest}, not {expected}"


def _environment() -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("firesteel.master", f"local[{PARALLELISM},4]")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(PARALLELISM)
    return env

"""The jobs of the curves, through the public API, each with its expected result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from bench.scale.curves import KEYS, Curve
from bench.systems.firesteel import PAIR, Count, CountAll, Number, WithKey
from bench.tally import Pair, TallySink
from firesteel.common import Configuration, Duration, Time, Types, WatermarkStrategy
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.connectors.files.source import FileSource
from firesteel.connectors.files.text_lines import TextLineFormat
from firesteel.datastream import DataStream, KeyedProcessFunction, StreamExecutionEnvironment
from firesteel.datastream.window import TumblingEventTimeWindows
from firesteel.functions.source import DiscoveryContext, Source, Split

CORES: Final = 2
PARALLELISM: Final = 2
_SPREAD: Final = 7919  # a prime: consecutive records have unrelated keys, every key comes equally often
_WINDOW_KEYS: Final = 100
_WINDOW_MS: Final = 1000
_FOREVER: Final = Duration.of_days(10_000)


@dataclass(frozen=True)
class Outcome:
    """The expected results in the sink: their number, and the sum of their second numbers."""

    results: int
    total: int


@dataclass(frozen=True)
class Point:
    """One job of a curve: the units of the quantity that grows, the records, and the directory of input files."""

    size: int
    records: int
    files: Path


class Timed(Source[Any]):
    """A source that records when it was first asked for splits: the start of the job's first epoch."""

    def __init__(self, inner: Source[Any]) -> None:
        self.inner = inner
        self.began = 0.0
        self.unit = inner.unit
        self.produced_type = inner.produced_type

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return self.inner.splits(known)

    def discover(self, context: DiscoveryContext) -> Iterable[Split]:
        self.began = self.began or time.time()
        return self.inner.discover(context)

    def available(self, split: Split, position: int, now: int) -> int:
        return self.inner.available(split, position, now)

    def read(self, split: Split, start: int, end: int) -> Any:
        return self.inner.read(split, start, end)


class Remind(KeyedProcessFunction):
    """Registers an event-time timer for each record; each timer gives a result."""

    def process_element(self, value: Pair, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Pair]:
        yield ctx.get_current_key(), timestamp


def run(curve: Curve, size: int, scratch: Path) -> float:
    """Run a job of a curve; return the seconds from its first request for splits to its last commit.

    State is durable after every epoch, in a directory below `scratch`. Raises ValueError for a wrong result.
    """
    configuration = Configuration()
    configuration.set_string("firesteel.master", f"local[{CORES},4]")
    configuration.set_string("firesteel.state-dir", str(scratch / "state"))
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(size if curve.name == "parallelism" else PARALLELISM)
    source, stream, expected = _JOBS[curve.name](env, Point(size, curve.records(size), scratch / "input"))
    sink = TallySink()
    stream.sink_to(sink)
    env.execute()
    outcome = Outcome(sink.results, sink.total)
    if outcome != expected:
        raise ValueError(f"{curve.name}, {size}: {outcome}, not {expected}")
    return sink.commits[-1] - source.began


Built = tuple[Timed, DataStream, Outcome]


def _generated(env: StreamExecutionEnvironment, records: int, generate: Callable[[int], Pair]) -> Any:
    source = Timed(DataGeneratorSource(generate, count=records))
    return source, env.from_source(source, WatermarkStrategy.no_watermarks(), "records", PAIR)


def _indexed(env: StreamExecutionEnvironment, records: int, keys: int) -> Any:
    return _generated(env, records, lambda index: (index * _SPREAD % keys, index))


def _by_key(stream: DataStream) -> Any:
    return stream.key_by(lambda value: value[0], Types.LONG())


def _count(env: StreamExecutionEnvironment, point: Point, keys: int | None = KEYS) -> Built:
    keys = min(keys or point.size, point.records)
    source, records = _indexed(env, point.records, keys)
    counted = _by_key(records).process(Count(point.records // keys), PAIR)
    return source, counted, Outcome(keys, point.records)


def _chain(env: StreamExecutionEnvironment, point: Point) -> Built:
    source, stream = _indexed(env, point.records, KEYS)
    for _ in range(point.size):
        stream = stream.map(lambda value: (value[0], value[1] + 1), PAIR)
    indices = point.records * (point.records - 1) // 2
    return source, stream, Outcome(point.records, indices + point.records * point.size)


def _branches(env: StreamExecutionEnvironment, point: Point) -> Built:
    source, records = _indexed(env, point.records, KEYS)
    keyed = _by_key(records)
    counts = [keyed.process(Count(point.records // KEYS), PAIR) for _ in range(point.size)]
    united = counts[0].union(*counts[1:]) if counts[1:] else counts[0]
    return source, united, Outcome(KEYS * point.size, point.records * point.size)


def _windows(env: StreamExecutionEnvironment, point: Point) -> Built:
    keys = min(_WINDOW_KEYS, point.size)

    def generate(index: int) -> Pair:
        number = index % point.size
        return number % keys, number // keys * _WINDOW_MS + index // point.size

    source, records = _generated(env, point.records, generate)
    times = WatermarkStrategy.for_bounded_out_of_orderness(_FOREVER).with_timestamp_assigner(Number())
    keyed = _by_key(records.assign_timestamps_and_watermarks(times))
    windowed = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(_WINDOW_MS)))
    counts = windowed.aggregate(CountAll(), WithKey(), Types.LONG(), PAIR)
    return source, counts, Outcome(point.size, point.records)


def _timers(env: StreamExecutionEnvironment, point: Point) -> Built:
    source, records = _generated(env, point.size, lambda index: (index % KEYS, index * _SPREAD % point.size))
    reminded = _by_key(records).process(Remind(), PAIR)
    return source, reminded, Outcome(point.size, point.size * (point.size - 1) // 2)


def _lines(env: StreamExecutionEnvironment, point: Point) -> Built:
    write_files(point)
    source = Timed(FileSource([str(point.files)], TextLineFormat()))
    lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines", Types.STRING())
    numbers = lines.map(lambda line: (0, int(line)), PAIR)
    return source, numbers, Outcome(point.records, point.records * (point.records - 1) // 2)


def write_files(point: Point) -> None:
    """Write the numbers below `point.records`, a line each, into as many files as the point's size says."""
    point.files.mkdir()
    bounds = [point.records * number // point.size for number in range(point.size + 1)]
    for number, (low, high) in enumerate(pairwise(bounds)):
        lines = "".join(f"{index:09d}\n" for index in range(low, high))
        (point.files / f"part-{number:04d}.txt").write_text(lines, encoding="ascii")


_JOBS: Final[dict[str, Callable[[StreamExecutionEnvironment, Point], Built]]] = {
    "records": _count,
    "keys": partial(_count, keys=None),
    "chain": _chain,
    "branches": _branches,
    "windows": _windows,
    "timers": _timers,
    "parallelism": _count,
    "files": _lines,
    "lines": _lines,
}

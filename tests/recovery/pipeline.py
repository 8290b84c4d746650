"""A program with everything that must survive a crash, whose output depends on nothing but its input.

Two sources (files in several splits; a generator), each with a watermark generator whose state counts; keyed
state of three kinds with event-time timers into a ledger; tumbling windows and merging sessions into part files
that stay open over epochs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from firesteel.common import Duration, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.connectors.files.source import FileSource
from firesteel.connectors.files.text_lines import TextLineFormat
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction, ProcessWindowFunction
from firesteel.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from firesteel.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from firesteel.state.disk.copy import close_working_stores
from firesteel.testing import ManualClock, executing
from tests.recovery import ledger
from tests.recovery.crashing import Crasher, points

KEYS = ("ann", "bob", "cid", "dot", "eve")
LINES = 60
GENERATED = 30
GAP = 25
FILLER = "-" * 60
"""Makes a line about as long as the engine expects, before it has seen any."""


def write_input(directory: Path) -> None:
    """Two files of events, out of order by up to 7 ms."""
    directory.mkdir()
    for number in range(2):
        lines = [
            f"{KEYS[(at * 7 + number) % 5]},{at * 10 - (at % 3) * 3},{FILLER}\n" for at in range(LINES // 2)
        ]
        (directory / f"{number}.csv").write_text("".join(lines))


@contextmanager
def made(directory: Path) -> Iterator[None]:
    """A directory, made if it is missing, with the program's input; what the program leaves in memory goes with it."""
    directory.mkdir(exist_ok=True)
    write_input(directory / "in")
    try:
        yield
    finally:
        ledger.forget(str(directory))
        close_working_stores(directory)


def generate(index: int) -> str:
    return f"{KEYS[index % 4]},{index * 12}"


def parse(line: str) -> tuple[str, int]:
    key, at, *_ = line.split(",")
    return key, int(at)


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value.split(",")[1])


class Summary(KeyedProcessFunction):
    """Buffers what comes, and a timer every 50 ms sums up what is older than itself."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))
        self.waiting = runtime_context.get_map_state(MapStateDescriptor("waiting"))
        self.history = runtime_context.get_list_state(ListStateDescriptor("history"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        key, at = value
        self.count.update((self.count.value() or 0) + 1)
        self.waiting.put(at, (self.waiting.get(at) or 0) + 1)
        ctx.timer_service().register_event_time_timer(at // 50 * 50 + 49)
        yield "seen", key, self.count.value()

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        due = [at for at in self.waiting if at <= timestamp]
        total = sum(self.waiting.get(at) for at in due)
        for at in due:
            self.waiting.remove(at)
        self.history.add(total)
        yield "due", ctx.get_current_key(), timestamp, total, len(list(self.history.get()))


class Describe(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        window = context.window()
        yield f"{key} {window.start} {window.end} {sorted(at for _, at in elements)}"


def build(env: StreamExecutionEnvironment, directory: Path) -> None:
    """Add the whole program to `env`; its input and output are below `directory`."""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(20))
    strategy = strategy.with_timestamp_assigner(SecondField())
    files = FileSource([directory / "in"], TextLineFormat(), split_size=1000)
    generated = DataGeneratorSource(
        lambda index: f"{KEYS[index % 4]},{index * 12}", count=GENERATED, type_info=Types.STRING()
    )
    events = env.from_source(files, strategy, "files").union(
        env.from_source(generated, strategy, "generated")
    )
    keyed = events.map(parse).key_by(lambda event: event[0])
    keyed.process(Summary()).sink_to(ledger.LedgerSink(str(directory)))
    tumbling = keyed.window(TumblingEventTimeWindows.of(Duration.of_millis(100))).process(Describe())
    sessions = keyed.window(EventTimeSessionWindows.with_gap(Duration.of_millis(GAP))).process(Describe())
    every = RollingPolicy.on_epoch()
    long = RollingPolicy(part_size=300)
    tumbling.sink_to(FileSink(directory / "tumbling", TextLines(), BasePathBuckets(), every))
    sessions.sink_to(FileSink(directory / "sessions", TextLines(), BasePathBuckets(), long))


def run(
    directory: Path, parallelism: int, crasher: Crasher | None = None, epoch_records: int = 20
) -> Crasher:
    """Run a driver on the program's state directory until the job ends, or the crasher strikes."""
    crasher = crasher or Crasher()
    with (
        points(crasher),
        executing(
            crasher.executor,
            epoch_records=epoch_records,
            parallelism=parallelism,
            state_dir=str(directory / "state"),
            clock=ManualClock(1_000_000),
        ),
    ):
        env = StreamExecutionEnvironment.get_execution_environment()
        build(env, directory)
        try:
            env.execute()
        except Exception:
            if crasher.crashed is None:
                raise
    return crasher


def output(directory: Path) -> dict[str, Counter[Any]]:
    """All that the program has made visible, however often each row is there."""
    found = {"ledger": Counter(ledger.rows(str(directory)))}
    for name in ("tumbling", "sessions"):
        parts = [path for path in (directory / name).glob("*") if not path.name.startswith(".")]
        found[name] = Counter(line for path in parts for line in path.read_text().splitlines())
    return found


def expected() -> dict[str, Counter[Any]]:
    """What the program must put out, worked out from its input without any engine."""
    by_key = defaultdict(list)
    for number in range(2):
        for at in range(LINES // 2):
            by_key[KEYS[(at * 7 + number) % 5]].append(at * 10 - (at % 3) * 3)
    for index in range(GENERATED):
        by_key[KEYS[index % 4]].append(index * 12)
    found: dict[str, Counter[Any]] = {"ledger": Counter(), "tumbling": Counter(), "sessions": Counter()}
    for key, times in by_key.items():
        times.sort()
        found["ledger"].update(("seen", key, count + 1) for count in range(len(times)))
        found["ledger"].update(_due(key, times))
        found["tumbling"].update(_tumbling(key, times))
        found["sessions"].update(_sessions(key, times))
    return found


def _due(key: str, times: list[int]) -> Iterator[tuple[Any, ...]]:
    totals = Counter(at // 50 * 50 + 49 for at in times)
    for fired, timer in enumerate(sorted(totals), start=1):
        yield "due", key, timer, totals[timer], fired


def _tumbling(key: str, times: list[int]) -> Iterator[str]:
    for start, group in groupby(times, key=lambda at: at // 100 * 100):
        yield f"{key} {start} {start + 100} {list(group)}"


def _sessions(key: str, times: list[int]) -> Iterator[str]:
    session: list[int] = []
    for at in [*times, None]:
        if session and (at is None or at > session[-1] + GAP):
            yield f"{key} {session[0]} {session[-1] + GAP} {session}"
            session = []
        if at is not None:
            session.append(at)

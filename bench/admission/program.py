"""One scenario in its own process: `python -m bench.admission.program burst --scale 1` prints figures as JSON.

First the machine's capacity is measured with the same job on records that are all available at once. The loads are
fractions of it, so that a scenario is equally demanding on any machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.admission.load import PacedSource, Pair, Pieces, came_at, offered
from bench.admission.scenarios import BY_NAME, Scenario, key_of
from bench.measure import workers
from bench.process import sampling
from bench.tally import TallySink
from firesteel.common import Configuration, Types, WatermarkStrategy
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.control.listeners import EpochStats
from firesteel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from firesteel.datastream.ambient import Ambient, surrounded_by
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.functions.sink import Committer, SinkWriter, WriterContext
from firesteel.functions.source import Source

PARALLELISM: Final = 2
TARGET_MS: Final = 1000
CALIBRATION: Final = 1_000_000
SAMPLE_SECONDS: Final = 0.25
POINTS: Final = 160
"""Points of a curve that are kept at most."""

Point = tuple[float, float, int, int, float]
"""When an epoch was committed (seconds), its milliseconds, its records, those left behind, the oldest one's wait."""

_PAIR: Final = Types.TUPLE([Types.LONG(), Types.LONG()])


class Count(KeyedProcessFunction):
    """The key and how many of its records there were so far, for each record."""

    def open(self, runtime_context: Any) -> None:
        self._count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Pair, ctx: Any) -> Iterator[Pair]:
        count = (self._count.value() or 0) + 1
        self._count.update(count)
        yield value[0], count


class _SlowWriter(SinkWriter[Pair]):
    """Waits before it passes each record on, while the clock is between two times."""

    def __init__(self, inner: SinkWriter[Pair], seconds: float, begins: float, ends: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self._begins = begins
        self._ends = ends

    def write(self, values: Sequence[Pair], timestamps: Sequence[int | None] | None) -> None:
        if self._begins <= time.time() < self._ends:
            time.sleep(len(values) * self._seconds)
        self._inner.write(values, timestamps)

    def prepare_commit(self) -> Sequence[Any]:
        return self._inner.prepare_commit()


class _FarCommitter(Committer):
    """Waits before each commit while the clock is between two times."""

    def __init__(self, inner: Committer, seconds: float, clock: Path, change: tuple[float, float]) -> None:
        self._inner = inner
        self._seconds = seconds
        self._clock = clock
        self._change = change

    def commit(self, committables: Sequence[Any]) -> None:
        since = _since(self._clock)
        if since is not None and self._change[0] <= since < self._change[1]:
            time.sleep(self._seconds)
        self._inner.commit(committables)


class ChangingSink(TallySink):
    """A sink that is slow for a while after the source's clock was started: for each record, or for each commit."""

    def __init__(self, scenario: Scenario, change: tuple[float, float], clock: Path) -> None:
        super().__init__()
        self._record_seconds = scenario.slow_us / 1e6
        self._commit_seconds = scenario.commit_ms / 1000
        self._change = change
        self._clock = clock

    def create_writer(self, context: WriterContext) -> SinkWriter[Pair]:
        writer, since = super().create_writer(context), _since(self._clock)
        if since is None or not self._record_seconds:
            return writer
        began = time.time() - since
        return _SlowWriter(writer, self._record_seconds, began + self._change[0], began + self._change[1])

    def create_committer(self) -> Committer:
        return _FarCommitter(super().create_committer(), self._commit_seconds, self._clock, self._change)


def _since(clock: Path) -> float | None:
    """Return the seconds since the start of the source's clock, None if it has not started."""
    return time.time() - float(clock.read_text()) if clock.exists() else None


class Neighbours:
    """A number of busy processes, which run while the source's clock is between two times."""

    def __init__(self, count: int, change: tuple[float, float], clock: Path) -> None:
        self._count = count
        self._change = change
        self._clock = clock
        self._busy: list[subprocess.Popen[bytes]] = []

    @property
    def running(self) -> int:
        """The number of running processes."""
        return len(self._busy)

    def look(self) -> None:
        """Start or end them as the clock says."""
        since = _since(self._clock)
        wanted = since is not None and self._change[0] <= since < self._change[1]
        if wanted and not self._busy:
            command = [sys.executable, "-c", "while True: pass"]
            self._busy = [subprocess.Popen(command) for _ in range(self._count)]
        elif not wanted:
            self.end()

    def end(self) -> None:
        """End those that run."""
        while self._busy:
            process = self._busy.pop()
            process.kill()
            process.wait()


class Epochs:
    """A listener that keeps when each epoch was committed, how long it took, and its records."""

    def __init__(self) -> None:
        self.heard: list[tuple[float, float, int]] = []

    def on_epoch(self, stats: EpochStats) -> None:
        self.heard.append((time.time(), stats.duration_ms, stats.records_in))


class Memory:
    """The total resident memory of all Python workers below this process, at the sampled times."""

    def __init__(self) -> None:
        self.samples: list[tuple[float, int]] = []

    def look(self) -> None:
        self.samples.append((time.time(), sum(map(_resident, workers(os.getpid())))))


def _resident(pid: int) -> int:
    """Return the resident bytes of a process, 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def execute(source: Source[Pair], sink: TallySink, state: Path) -> Epochs:
    """Run the job to its end."""
    epochs = Epochs()
    configuration = Configuration()
    configuration.set_string("firesteel.master", f"local[{PARALLELISM},4]")
    configuration.set_string("firesteel.state-dir", str(state))
    configuration.set_string("firesteel.epoch.duration", str(TARGET_MS))
    with surrounded_by(Ambient(listeners=(epochs,))):
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(PARALLELISM)
        records = env.from_source(source, WatermarkStrategy.no_watermarks(), "records", _PAIR)
        keyed = records.key_by(lambda value: value[0], Types.LONG())
        keyed.process(Count(), _PAIR).sink_to(sink)
        env.execute("admission")
    return epochs


def capacity(count: int, state: Path) -> float:
    """Return the records per second of all epochs except the first two, in which epochs find their size."""
    sink = TallySink()
    key = key_of(None)
    epochs = execute(DataGeneratorSource(lambda index: (key(index), index), count), sink, state).heard
    if sink.results != count:
        raise SystemExit(f"{sink.results} results, not {count}")
    measured = epochs[2:] or epochs
    return sum(records for _, _, records in measured) / (sum(ms for _, ms, _ in measured) / 1000)


def run(scenario: Scenario, scale: float, scratch: Path) -> dict[str, Any]:
    """Run a scenario and check its results; its figures, and the curves it gives."""
    able = capacity(max(int(CALIBRATION * min(scale, 1)), 50_000), scratch / "calibration")
    pieces = scenario.at(able, scale)
    change = (scenario.change[0] * scale, scenario.change[1] * scale)
    key = key_of(offered(pieces, change[0]) if scenario.hot else None)
    started = scratch / "started"
    sink = ChangingSink(scenario, change, started)
    memory = Memory()
    neighbours = Neighbours(scenario.neighbours * PARALLELISM, change, started)
    with sampling(memory.look, SAMPLE_SECONDS), sampling(neighbours.look, SAMPLE_SECONDS):
        epochs = execute(
            PacedSource(lambda index: (key(index), index), pieces, started), sink, scratch / "state"
        )
    neighbours.end()
    total = offered(pieces, sum(lasts for lasts, _ in pieces))
    check(sink, total, key)
    began = float(started.read_text())
    return {"capacity": round(able), "records": total, "change": change} | curves(
        epochs.heard, memory.samples, pieces, began, change
    )


def check(sink: TallySink, total: int, key: Callable[[int], int]) -> None:
    """Raise SystemExit unless the sink received the expected results of these records."""
    counts = Counter(map(key, range(total))).values()
    wanted = total, sum(count * (count + 1) // 2 for count in counts)
    if (sink.results, sink.total) != wanted:
        raise SystemExit(f"{sink.results} results that sum up to {sink.total}, not {wanted}")


def curves(
    epochs: list[tuple[float, float, int]],
    memory: list[tuple[float, int]],
    pieces: Pieces,
    began: float,
    change: tuple[float, float],
) -> dict[str, Any]:
    """Return the curves of the epochs after the start of the clock, and their figures.

    `waited_ms` is the time from the arrival of the oldest record of an epoch to the commit. Epochs are under load if
    they leave more records unread than arrive in a target duration.
    """
    points = _points(epochs, pieces, began)
    usual = [point for point in points if point[0] < change[0]]
    last = max((point[0] for point in points if _loaded(point, pieces)), default=change[1])
    return {
        "epoch_seconds": _thinned([round(point[0], 3) for point in points]),
        "epoch_ms": _thinned([round(point[1], 1) for point in points]),
        "epoch_records": _thinned([point[2] for point in points]),
        "backlog": _thinned([point[3] for point in points]),
        "memory_seconds": _thinned([round(at - began, 2) for at, _ in memory if at > began]),
        "memory_bytes": _thinned([size for at, size in memory if at > began]),
        "pieces": [list(piece) for piece in pieces],
        "usual_ms": _median([point[1] for point in usual]),
        "loaded_ms": _median([point[1] for point in points if _loaded(point, pieces)]),
        "changed_ms": _median([point[1] for point in points if change[0] <= point[0] <= change[1]]),
        "longest_ms": max(point[1] for point in points),
        "waited_ms": _median([point[4] for point in points if point[0] >= change[0]]),
        "largest_backlog": max(point[3] for point in points),
        "caught_up_seconds": max(0.0, last - change[1]),
        "memory_before": max((size for at, size in memory if 0 < at - began < change[0]), default=0),
        "peak_memory": max((size for _, size in memory), default=0),
    }


def _points(epochs: list[tuple[float, float, int]], pieces: Pieces, began: float) -> list[Point]:
    """Return the figures of each epoch since the start of the clock."""
    points: list[Point] = []
    read = 0
    for at, ms, records in epochs:
        since = at - began
        if since > 0 and records:
            backlog = offered(pieces, since) - read - records
            points.append((since, ms, records, backlog, (since - came_at(pieces, read)) * 1000))
        read += records
    return points


def _loaded(point: Point, pieces: Pieces) -> bool:
    """Return whether more records are unread than arrive in a target duration at the first rate."""
    return point[3] > max(pieces[0][1], 1000.0) * TARGET_MS / 1000


def _median(values: list[float]) -> float | None:
    return round(median(values), 1) if values else None


def _thinned(values: list[Any]) -> list[Any]:
    step = -(-len(values) // POINTS) or 1
    return values[::step]


def main() -> None:
    """Run the scenario that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", choices=BY_NAME)
    parser.add_argument("--scale", type=float, default=1.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(run(BY_NAME[arguments.scenario], arguments.scale, Path(scratch))), flush=True)


if __name__ == "__main__":
    main()

"""A job of small epochs: `python -m bench.floor.job --exchanges 1 --epochs 150` prints its figures as JSON.

Every epoch has 1,000 records, each with a different key. Each record reads and writes a ValueState after each exchange,
and reaches the sink. The records of the next epoch are available as soon as an epoch is committed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from bench.tally import Pair, TallySink
from firesteel.common import Configuration, Types, WatermarkStrategy
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.control.listeners import EpochStats
from firesteel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from firesteel.datastream.ambient import Ambient, surrounded_by
from firesteel.datastream.state import ValueStateDescriptor

RECORDS: Final = 1000
"""Records of an epoch."""

PER_GROUP: Final = 10
"""Keys that the second exchange brings together."""

WARM_UP: Final = 30
EPOCHS: Final = 150
PARALLELISM: Final = 2
_SPREAD: Final = 7919  # a prime: each epoch has every key once, not in the order of the keys
_PAIR: Final = Types.TUPLE([Types.LONG(), Types.LONG()])


class Count(KeyedProcessFunction):
    """The key and how many of its records there were so far, for each record."""

    def open(self, runtime_context: Any) -> None:
        self._count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Pair, ctx: Any) -> Any:
        count = (self._count.value() or 0) + 1
        self._count.update(count)
        yield value[0], count


class Epochs:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[EpochStats] = []

    def on_epoch(self, stats: EpochStats) -> None:
        self.heard.append(stats)


def generate(index: int) -> Pair:
    """Return the record of an index: its key and its index."""
    return index * _SPREAD % RECORDS, index


def build(env: StreamExecutionEnvironment, exchanges: int, epochs: int, sink: TallySink) -> None:
    """Add the job to an environment."""
    source = DataGeneratorSource(generate, count=epochs * RECORDS)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "records", _PAIR)
    stream = stream.key_by(lambda value: value[0], Types.LONG()).process(Count(), _PAIR)
    if exchanges == 2:
        groups = stream.map(lambda value: (value[0] // PER_GROUP, value[1]), _PAIR)
        stream = groups.key_by(lambda value: value[0], Types.LONG()).process(Count(), _PAIR)
    stream.sink_to(sink)


def expected(exchanges: int, epochs: int) -> tuple[int, int]:
    """Return the expected number of results in the sink, and the sum of their counts."""
    per_key = epochs * (PER_GROUP if exchanges == 2 else 1)
    keys = RECORDS // (PER_GROUP if exchanges == 2 else 1)
    return epochs * RECORDS, keys * per_key * (per_key + 1) // 2


def run(exchanges: int, epochs: int, warm_up: int) -> dict[str, Any]:
    """Run the job and return its figures (milliseconds), `warm_up` epochs left out. Exits if the result is wrong."""
    listener, sink = Epochs(), TallySink()
    with tempfile.TemporaryDirectory(prefix="firesteel-bench-") as scratch:
        configuration = Configuration()
        configuration.set_string("firesteel.master", f"local[{PARALLELISM},4]")
        configuration.set_string("firesteel.state-dir", str(Path(scratch) / "state"))
        configuration.set_string("firesteel.epoch.max-records", str(RECORDS))
        configuration.set_string(
            "firesteel.epoch.duration", "1 h"
        )  # only the number of records ends an epoch
        with surrounded_by(Ambient(listeners=(listener,))):
            env = StreamExecutionEnvironment.get_execution_environment(configuration)
            env.set_parallelism(PARALLELISM)
            build(env, exchanges, epochs, sink)
            env.execute(f"floor-{exchanges}")
    got, wanted = (sink.results, sink.total), expected(exchanges, epochs)
    if got != wanted:
        sys.exit(f"{got[0]} results that sum up to {got[1]}, not {wanted}")
    working = [stats for stats in listener.heard if stats.records_in]
    if {stats.records_in for stats in working} != {RECORDS}:
        sys.exit(f"epochs of {sorted({stats.records_in for stats in working})} records, not of {RECORDS}")
    return _figures([stats.duration_ms for stats in working][warm_up:], sink.commits[warm_up : len(working)])


def _figures(durations: list[float], commits: list[float]) -> dict[str, Any]:
    between = [(new - old) * 1000 for old, new in pairwise(commits)]
    return {
        "epochs": len(durations),
        "median_ms": round(median(durations), 1),
        "p95_ms": round(quantiles(durations, n=20)[-1], 1),
        "commit_median_ms": round(median(between), 1),
        "commit_p95_ms": round(quantiles(between, n=20)[-1], 1),
        "epochs_ms": [round(duration, 1) for duration in durations],
    }


def main() -> None:
    """Run the job that the command line describes."""
    parser = argparse.ArgumentParser(prog="python -m bench.floor.job", description=__doc__)
    parser.add_argument("--exchanges", type=int, choices=(1, 2), default=1)
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="all of them")
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="epochs that are left out")
    arguments = parser.parse_args()
    began = time.perf_counter()
    figures = run(arguments.exchanges, arguments.epochs, arguments.warm_up)
    print(json.dumps(figures | {"seconds": round(time.perf_counter() - began, 1)}), flush=True)


if __name__ == "__main__":
    main()

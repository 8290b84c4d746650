"""A job of equal epochs at one parallelism: `python -m bench.wide.job 128` prints its figures as JSON.

Every epoch has 2,000 records of 1,000 keys. Each record reads and writes a ValueState after one exchange, and reaches a
sink. The job counts processor time (from /proc) and bytes, so that a busy machine affects the figures little.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.floor.job import Count
from bench.measure import workers
from bench.tally import Pair, TallySink
from firesteel.common import Configuration, Types, WatermarkStrategy
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.control.listeners import EpochStats
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.ambient import Ambient, surrounded_by

CORES: Final = 2
RECORDS: Final = 2048
"""Records of an epoch: divisible by each parallelism, so that each split gets its share."""

KEYS: Final = 1000
WARM_UP: Final = 6
EPOCHS: Final = 24
_SPREAD: Final = 7919
_PAIR: Final = Types.TUPLE([Types.LONG(), Types.LONG()])
_TICK_MS: Final = 1000 / os.sysconf("SC_CLK_TCK")


def generate(index: int) -> Pair:
    """Return the record of an index: its key and its index."""
    return index * _SPREAD % KEYS, index


def expected(epochs: int) -> tuple[int, int]:
    """Return the expected number of results in the sink, and the sum of their counts."""
    total, rest = divmod(epochs * RECORDS, KEYS)
    counts = (KEYS - rest) * total * (total + 1) // 2 + rest * (total + 1) * (total + 2) // 2
    return epochs * RECORDS, counts


class Meter:
    """A listener that notes, after each epoch, what it took: wall and processor milliseconds."""

    def __init__(self) -> None:
        self.durations: list[float] = []
        self.records: list[int] = []
        self.used: list[tuple[float, float, float]] = []

    def on_epoch(self, stats: EpochStats) -> None:
        if stats.records_in:
            self.durations.append(stats.duration_ms)
            self.records.append(stats.records_in)
            self.used.append(processor_ms())


def processor_ms() -> tuple[float, float, float]:
    """Return the processor milliseconds so far: this process, the Python workers with their daemon, and the JVM."""
    own = os.times()
    everything = _children(os.getpid())
    python = set(workers(os.getpid()))
    workers_ms = sum(_used(pid) for pid in python)
    jvm_ms = sum(_used(pid) for pid in everything if _is_jvm(pid))
    return (own.user + own.system) * 1000, workers_ms, jvm_ms


def _children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *_children(child)]
    return found


def _is_jvm(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "java"
    except OSError:
        return False


def _used(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * _TICK_MS


def run(parallelism: int, epochs: int, warm_up: int) -> dict[str, Any]:
    """Run the job; its figures per epoch, `warm_up` epochs left out. Exits if the result is wrong."""
    meter, sink = Meter(), TallySink()
    with tempfile.TemporaryDirectory(prefix="firesteel-bench-") as scratch:
        state = Path(scratch) / "state"
        configuration = Configuration()
        configuration.set_string("firesteel.master", f"local[{CORES},4]")
        configuration.set_string("firesteel.state-dir", str(state))
        configuration.set_string("firesteel.epoch.max-records", str(RECORDS))
        configuration.set_string("firesteel.epoch.duration", "1 h")
        with surrounded_by(Ambient(listeners=(meter,))):
            env = StreamExecutionEnvironment.get_execution_environment(configuration)
            env.set_parallelism(parallelism)
            source = DataGeneratorSource(generate, count=epochs * RECORDS)
            stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "records", _PAIR)
            keyed = stream.key_by(lambda value: value[0], Types.LONG())
            keyed.process(Count(), _PAIR).sink_to(sink)
            env.execute(f"wide-{parallelism}")
        manifests = [path.stat().st_size for path in sorted((state / "manifests").iterdir())]
        runs = [path.stat().st_size for path in (state / "runs").rglob("*.run")]
    if (sink.results, sink.total) != expected(epochs):
        sys.exit(f"{sink.results} results that sum up to {sink.total}, not {expected(epochs)}")
    return _figures(meter, warm_up, manifests, runs)


def _figures(meter: Meter, warm_up: int, manifests: list[int], runs: list[int]) -> dict[str, Any]:
    first, last = meter.used[warm_up - 1], meter.used[-2]  # the last epoch closes all operators
    measured = len(meter.used) - 1 - warm_up
    driver, python, jvm = [(end - begin) / measured for begin, end in zip(first, last, strict=True)]
    return {
        "epochs": measured,
        "epoch_ms": round(median(meter.durations[warm_up:-1]), 1),
        "driver_cpu_ms": round(driver, 1),
        "worker_cpu_ms": round(python, 1),
        "jvm_cpu_ms": round(jvm, 1),
        "manifest_bytes": round(median(manifests)),
        "run_bytes": round(median(runs)) if runs else 0,
    }


def main() -> None:
    """Run the job that the command line describes."""
    parser = argparse.ArgumentParser(prog="python -m bench.wide.job", description=__doc__)
    parser.add_argument("parallelism", type=int)
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="all of them")
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="epochs that are left out")
    arguments = parser.parse_args()
    print(json.dumps(run(arguments.parallelism, arguments.epochs, arguments.warm_up)), flush=True)


if __name__ == "__main__":
    main()

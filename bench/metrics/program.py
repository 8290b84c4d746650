"""The same job with and without measuring, in turn: `python -m bench.metrics.program --rounds 10` prints JSON."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.metrics.job import EPOCH, NAME, build, expected
from bench.metrics.measuring import driver_without_metrics, workers_do_not_measure, workers_measure
from bench.metrics.report import ALL, COUNTER, MEASURED, NOTHING
from bench.process import sampling
from bench.tally import TallySink
from bench.usage import cpu_seconds
from firesteel.checkpoint.objects import Storage
from firesteel.common import Configuration
from firesteel.control.listeners import EpochStats
from firesteel.control.reporting.numbers import read_reported
from firesteel.control.reporting.prometheus import exposition
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.ambient import Ambient, surrounded_by

EPOCHS: Final = 16
"""The epochs of a job, with the first ones."""

ROUNDS: Final = 40
WARM_UP: Final = 4
"""The first epochs of a job, which do not count."""

PARALLELISM: Final = 2
_SCRAPE_SECONDS: Final = 1.0


@dataclass(frozen=True)
class Moment:
    """The end of an epoch: records so far, seconds of processors and of the clock."""

    records: int
    cpu: float
    at: float


@dataclass(frozen=True)
class Cost:
    """What a record costs: microseconds of processors; and records per second."""

    cpu_us: float
    rate: float


class Watch:
    """A listener that notes two moments of a job: when it has read so many records, and when it has read all."""

    def __init__(self, first: int, last: int) -> None:
        self._at = (first, last)
        self._records = 0
        self._moments: list[Moment] = []

    def on_epoch(self, stats: EpochStats) -> None:
        """Note the end of an epoch if it is one of the two moments."""
        self._records += stats.records_in
        if len(self._moments) < 2 and self._records >= self._at[len(self._moments)]:
            self._moments.append(Moment(self._records, cpu_seconds(os.getpid()), time.perf_counter()))

    def cost(self) -> Cost:
        """Return the cost between the two moments."""
        first, last = self._moments
        records = last.records - first.records
        return Cost((last.cpu - first.cpu) / records * 1e6, records / (last.at - first.at))


def run(measured: str, epochs: int, warm_up: int, state: Path) -> Cost:
    """Run the job once, with what is `measured` of it. Exits if its results or its metrics are wrong."""
    sink, watch = TallySink(), Watch(warm_up * EPOCH, epochs * EPOCH)
    idle = measured == NOTHING
    setup = workers_do_not_measure if idle else workers_measure
    storage = Storage.of(state)
    with ExitStack() as around:
        around.enter_context(surrounded_by(Ambient(listeners=(watch,), worker_setup=setup)))
        if idle:
            around.enter_context(driver_without_metrics())
        if measured == ALL:
            around.enter_context(sampling(partial(_scraped, storage), _SCRAPE_SECONDS))
        env = StreamExecutionEnvironment.get_execution_environment(_configuration(state, measured == ALL))
        env.set_parallelism(PARALLELISM)
        build(env, epochs, measured in (COUNTER, ALL), sink)
        env.execute("metrics")
    got, wanted = (sink.results, sink.total), expected(epochs)
    if got != wanted:
        sys.exit(f"{got[0]} results that sum up to {got[1]}, not {wanted}")
    check(storage, measured, epochs * EPOCH)
    return watch.cost()


def _configuration(state: Path, markers: bool) -> Configuration:
    configuration = Configuration()
    configuration.set_string("firesteel.master", f"local[{PARALLELISM},4]")
    configuration.set_string("firesteel.state-dir", str(state))
    configuration.set_string("firesteel.epoch.max-records", str(EPOCH))
    configuration.set_string("firesteel.epoch.duration", "1 h")  # only the number of records ends an epoch
    if markers:
        configuration.set_string("metrics.latency.interval", "1 ms")  # so each epoch has one of each source
    return configuration


def scrape(storage: Storage) -> bytes:
    """Return the text for Prometheus of what the driver has written."""
    numbers = read_reported(storage)
    return exposition([] if numbers is None else [numbers])


def _scraped(storage: Storage) -> None:
    scrape(storage)


def check(storage: Storage, measured: str, records: int) -> None:
    """Exit if the driver wrote metrics though nothing is measured, or not those that are."""
    reported = read_reported(storage)
    if measured == NOTHING:
        if reported is not None:
            sys.exit("the driver has written metrics, though nothing is measured")
        return
    numbers = () if reported is None else reported.numbers
    busy = sum(number.value for number in numbers if number.name == "accumulateBusyTimeMs")
    told = sum(number.value for number in numbers if number.name == NAME)
    markers = any("latency_" in number.name for number in numbers)
    if not busy or told != (records if measured in (COUNTER, ALL) else 0) or markers != (measured == ALL):
        sys.exit(f"{measured}: busy for {busy} ms, {told} records counted, markers: {markers}")


def turns(rounds: int) -> Iterator[tuple[str, ...]]:
    """Yield what is measured in the jobs of each round: every other round has the opposite order.

    >>> [turn[0] == NOTHING for turn in turns(3)]
    [True, False, True]
    """
    order = (NOTHING, *MEASURED)
    for number in range(rounds):
        yield order[::-1] if number % 2 else order


def figures(found: Sequence[dict[str, Cost]]) -> dict[str, dict[str, Any]]:
    """Return the figures of the rounds by title: medians, and the ratios to the job without measuring of each round."""
    titled: dict[str, dict[str, Any]] = {}
    for title in (NOTHING, *MEASURED):
        costs = [costs[title] for costs in found]
        titled[title] = {
            "cpu_us": round(median(cost.cpu_us for cost in costs), 4),
            "records_per_s": round(median(cost.rate for cost in costs)),
        }
        if title != NOTHING:
            without = [costs[NOTHING] for costs in found]
            pairs = list(zip(costs, without, strict=True))
            cpu, rate = (
                [one.cpu_us / two.cpu_us for one, two in pairs],
                [one.rate / two.rate for one, two in pairs],
            )
            titled[title] |= {
                "cpu_ratio": round(median(cpu), 4),
                "rate_ratio": round(median(rate), 4),
                "cpu_ratios": [round(ratio, 4) for ratio in cpu],
                "rate_ratios": [round(ratio, 4) for ratio in rate],
            }
    return titled


def main() -> None:
    """Run the jobs that the command line describes."""
    parser = argparse.ArgumentParser(prog="python -m bench.metrics.program", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="jobs of each kind")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="epochs of a job, with the first ones")
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="first epochs that are left out")
    asked = parser.parse_args()
    exposition([])  # what it imports is no cost of a job
    with tempfile.TemporaryDirectory(prefix="firesteel-bench-") as scratch:
        state = Path(scratch) / "state"

        def cost(measured: str) -> Cost:
            shutil.rmtree(state, ignore_errors=True)
            return run(measured, asked.epochs, asked.warm_up, state)

        cost(ALL)
        cost(NOTHING)
        found = [{measured: cost(measured) for measured in turn} for turn in turns(asked.rounds)]
    print(json.dumps(figures(found)), flush=True)


if __name__ == "__main__":
    main()

"""Looks for matches on Firesteel: `python -m bench.cep.program CASE --keys 1000 --counts 1000000 4000000` prints JSON.

The job runs over so many events each time, after a run over the first number that does not count. A case of many
patterns is the number of them.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bench.cep.events import (
    LANES,
    MANY_WITHIN_MS,
    WITHIN_MS,
    Event,
    generator,
    long_generator,
    many_event,
    time_of,
)
from bench.measure import SAMPLE_SECONDS, PeakMemory
from bench.process import sampling
from bench.tally import TallySink
from bench.usage import cpu_seconds
from firesteel.cep import CEP, Pattern
from firesteel.common import Configuration, Duration, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.datastream import DataStream, KeyedStream, StreamExecutionEnvironment


class Time(TimestampAssigner):
    """The time of an event."""

    def extract_timestamp(self, value: Event, record_timestamp: int) -> int:
        return time_of(value)


def pair(match: dict[str, list[Event]]) -> tuple[int, int]:
    """Return 1, and how many events lie between the two of a match."""
    [first], [second] = match["a"], match["b"]
    return 1, second[2] - first[2]


def python(events: KeyedStream) -> DataStream:
    """Return the matches of a pattern with plain functions."""
    pattern = Pattern.begin("a").where(lambda event: event[1] == "A")
    pattern = pattern.followed_by("b").where(lambda event: event[1] == "B")
    return CEP.pattern(events, pattern.within(Duration.of_millis(WITHIN_MS))).select(pair)


def text(events: KeyedStream) -> DataStream:
    """Return the matches of the same pattern as a text, whose conditions are compiled."""
    written = "select * from every a = Event(f1 = 'A') -> b = Event(f1 = 'B') within :time"
    within = Duration.of_millis(WITHIN_MS)
    return CEP.pattern_text(events, written, parameters={"time": within}).select(pair)


def events_alone(events: KeyedStream) -> DataStream:
    """Return nothing of the events, which have been generated and brought to their keys."""
    return events.filter(lambda event: event[2] < 0).map(lambda _: (0, 0))


def long(events: KeyedStream) -> DataStream:
    """Return the lengths of matches that take all events between their first and their last one."""
    pattern = Pattern.begin("first").where(lambda event: event[1] == "A")
    pattern = pattern.followed_by("middle").where(lambda event: event[1] == "x").one_or_more().greedy()
    pattern = pattern.followed_by("last").where(lambda event: event[1] == "B")
    return CEP.pattern(events, pattern).select(lambda match: (1, len(match["middle"])))


CASES: Final[dict[str, Callable[[KeyedStream], DataStream]]] = {
    "python": python,
    "text": text,
    "events": events_alone,
    "long": long,
}


def many(patterns: int) -> Callable[[KeyedStream], DataStream]:
    """Return what looks for so many patterns in one stream."""
    texts = {
        f"p{place}": f"select * from every a = Event(f1 = {2 * place}) -> b = Event(f1 = {2 * place + 1}) within :time"
        for place in range(patterns)
    }
    parameters = {"time": Duration.of_millis(MANY_WITHIN_MS)}
    return lambda events: CEP.patterns(events, texts, parameters=parameters).select(
        lambda _, match: pair(match)
    )


def run(case: str, keys: int, count: int, scratch: Path) -> dict[str, Any]:
    """Run a case over so many events; return its seconds, those of the processors, and the results."""
    generate: Callable[[int], Any] = generator(keys)
    if case == "long":
        generate = long_generator(keys, count)
    elif case.isdecimal():
        generate = many_event
    configuration = Configuration()
    configuration.set_string("firesteel.master", f"local[{LANES},4]")
    configuration.set_string("firesteel.state-dir", str(scratch / "state"))
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(LANES)
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Time())
    events = env.from_source(DataGeneratorSource(generate, count), times, "events")
    sink = TallySink()
    matches = many(int(case)) if case.isdecimal() else CASES[case]
    matches(events.key_by(lambda event: event[0])).sink_to(sink)
    used, began, peak = cpu_seconds(os.getpid()), time.perf_counter(), PeakMemory(os.getpid())
    with sampling(peak.look, SAMPLE_SECONDS):
        env.execute()
    seconds, cpu = time.perf_counter() - began, cpu_seconds(os.getpid()) - used
    return {
        "events": count,
        "seconds": round(seconds, 3),
        "cpu": round(cpu, 2),
        "bytes": peak.bytes,
        "results": [sink.results, sink.total],
    }


def main() -> None:
    """Run the case that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench.cep.program", description=__doc__)
    parser.add_argument("case", help=f"{', '.join(CASES)}, or the number of many patterns")
    parser.add_argument("--keys", type=int, required=True)
    parser.add_argument("--counts", type=int, required=True, nargs="+")
    arguments = parser.parse_args()
    found = []
    for count in (arguments.counts[0], *arguments.counts):
        with tempfile.TemporaryDirectory(prefix="firesteel-bench-") as scratch:
            found.append(run(arguments.case, arguments.keys, count, Path(scratch)))
    print(json.dumps(found[1:]), flush=True)


if __name__ == "__main__":
    main()

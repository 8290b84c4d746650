"""Sends records by the clock, and reads their results: `python -m bench.kafka.watching SERVERS INPUT OUTPUT SECONDS`.

The figures are printed as JSON. A record has its number, its key and the time when it is appended; a result repeats
them. The results of the first `WARM_UP` seconds after the first result do not count. Every result is checked.
"""

from __future__ import annotations

import json
import sys
import time
from statistics import quantiles
from typing import Any, Final

from confluent_kafka import Consumer, Producer

PER_SECOND: Final = 10_000
KEYS: Final = 1_000
WARM_UP: Final = 20.0
_FIRST_PER_SECOND: Final = 100
"""The rate until there is a result: what waits for a job to start is not its latency."""

_STEP_S: Final = 0.01
_PATIENCE_S: Final = 180


class Sending:
    """Appends records at a steady rate."""

    def __init__(self, servers: str, topic: str) -> None:
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
        self._topic = topic
        self.sent = 0
        self.go_on_at(_FIRST_PER_SECOND)

    def go_on_at(self, per_second: int) -> None:
        """Append so many records a second from now on."""
        self._start, self._before, self._per_second = time.time(), self.sent, per_second

    def catch_up(self, until: float | None = None) -> None:
        """Append what is due by now, or at an earlier moment."""
        now = time.time()
        due = self._before + int((min(now, until or now) - self._start) * self._per_second)
        for number in range(self.sent, due):
            self._producer.produce(
                self._topic, f"{number % KEYS},{number},{time.time()!r}", partition=number % 2
            )
        self.sent = max(due, self.sent)
        self._producer.poll(0)

    def flush(self) -> None:
        """Wait until the broker has all."""
        self._producer.flush()


class Seen:
    """The results, each checked: its key's count grows by one."""

    def __init__(self, servers: str, topic: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "watching",
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        self._consumer.subscribe([topic])
        self._counts: dict[str, set[int]] = {}
        self.found: list[tuple[float, float]] = []
        """When each record was appended, and when its result was read."""

    def take(self, seconds: float) -> None:
        """Read results for so long."""
        for result in self._consumer.consume(5_000, seconds):
            if result.error() is not None:
                raise SystemExit(str(result.error()))
            key, _, sent, count = result.value().decode().split(",")
            counts = self._counts.setdefault(key, set())
            if int(count) in counts:
                raise SystemExit(f"the count {count} of key {key} came twice")
            counts.add(int(count))
            self.found.append((float(sent), time.time()))

    def complete(self) -> bool:
        """Return whether no key lacks a count."""
        return all(len(counts) == max(counts) for counts in self._counts.values())


def watch(servers: str, given: str, output: str, seconds: float) -> dict[str, Any]:
    """Return the latencies of the records of so many seconds."""
    sending, seen = Sending(servers, given), Seen(servers, output)
    began = time.time()
    while not seen.found:
        if time.time() - began > _PATIENCE_S:
            raise SystemExit(f"no result within {_PATIENCE_S} s")
        sending.catch_up()
        seen.take(_STEP_S)
    sending.go_on_at(PER_SECOND)
    first = time.time() + WARM_UP
    last = first + seconds
    while time.time() < last:
        sending.catch_up(last)
        seen.take(_STEP_S)
    sending.flush()
    while len(seen.found) < sending.sent:
        if time.time() - last > _PATIENCE_S:
            raise SystemExit(f"{sending.sent - len(seen.found)} results are missing")
        seen.take(_STEP_S)
    if not seen.complete():
        raise SystemExit("a key lacks a count")
    latencies = [(read - sent) * 1000 for sent, read in seen.found if first <= sent < last]
    hundredths = quantiles(latencies, n=100)
    return {
        "records": len(latencies),
        "p50_ms": round(hundredths[49], 1),
        "p99_ms": round(hundredths[98], 1),
        "max_ms": round(max(latencies), 1),
    }


def main() -> None:
    """Watch the pipeline that the command line names."""
    servers, given, output, seconds = sys.argv[1:]
    print(json.dumps(watch(servers, given, output, float(seconds))), flush=True)


if __name__ == "__main__":
    main()

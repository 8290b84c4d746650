"""The job of streams from Kafka to Kafka, and what must be in its topics in the end."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from chaos.events import Event, Feed
from chaos.job import ChaosJob, System, Tables
from chaos.program import SPAN_MS
from chaos.stream_job import expected_results, expected_totals
from harness.kafka import KafkaBroker, kafka_broker

_PARTITIONS: Final = 3
_SETTINGS: Final = {
    # The broker's default, and longer than it takes to start. A broker of version 4.3.1 that ends transactions that are
    # out of time before it leads their partitions again leaves them open for ever.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "10000",
}
_COMMITS_WITHIN_S: Final = 20


class TopicFeed(Feed):
    """Sends events to the topic `events`, to all of its partitions in turn."""

    def __init__(self, broker: KafkaBroker, seed: int) -> None:
        super().__init__(seed)
        self._broker = broker

    def _send(self, part: int, events: list[Event]) -> None:
        records = [{"value": event.text, "partition": event.id % _PARTITIONS} for event in events]
        self._broker.produce("events", records, {"enable.idempotence": True})


class KafkaJob(ChaosJob):
    """Runs `chaos.kafka_program`; the broker is killed, too."""

    tables = ()

    def systems(self, running: ExitStack) -> dict[str, System]:
        """Start the broker."""
        self._broker: KafkaBroker = running.enter_context(kafka_broker(_SETTINGS))
        for topic in ("events", "results", "counts"):
            self._broker.create_topic(topic, _PARTITIONS)
        return {"broker": self._broker}

    def feed(self, directory: Path, seed: int) -> Feed:
        """Return what writes to the job's topic."""
        return TopicFeed(self._broker, seed)

    def sees_commit(self) -> bool:
        """Wait until a transaction has records that are not committed."""
        until = time.monotonic() + _COMMITS_WITHIN_S
        while time.monotonic() < until:
            if self._broker.has_open_transaction("counts"):
                return True
        return False

    def command(self, directory: Path, database: str) -> tuple[str, list[str]]:
        """Return `run`, and the program with its arguments."""
        return "run", ["chaos/kafka_program.py", "--", str(directory / "output"), self._broker.bootstrap]

    def state(self, directory: Path) -> Path:
        """Return the state directory itself."""
        return directory

    def results(self, events: list[Event]) -> Counter[str]:
        """Return the results of windows and timers."""
        return expected_results(events, SPAN_MS)

    def in_tables(self, events: list[Event]) -> Tables:
        """Return nothing: the job writes to no database."""
        return {}

    def in_topics(self, events: list[Event]) -> dict[str, tuple[Counter[Any], Counter[Any]]]:
        """Return what must be in each topic, and what readers of committed records find there.

        The counts of a key are in one partition, and rise by one.
        """
        by_key: dict[str, list[int]] = defaultdict(list)
        places: dict[str, set[int]] = defaultdict(set)
        for message in self._broker.read("counts"):
            key = message.key().decode()
            by_key[key].append(int(message.value()))
            places[key].add(message.partition())
        totals = {**expected_totals(events), "closing": 1}
        return {
            "results": (
                self.results(events),
                Counter(message.value().decode() for message in self._broker.read("results")),
            ),
            "counts": (
                Counter((key, tuple(range(1, count + 1)), 1) for key, count in totals.items()),
                Counter((key, tuple(counts), len(places[key])) for key, counts in by_key.items()),
            ),
        }

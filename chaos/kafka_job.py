"""The job of streams that writes to Kafka, and what must be in its topics in the end."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from chaos.events import Event
from chaos.job import ChaosJob, System, Tables
from chaos.program import SPAN_MS
from chaos.stream_job import expected_results, expected_totals
from harness.kafka import KafkaBroker, kafka_broker


class KafkaJob(ChaosJob):
    """Runs `chaos.kafka_program`; the broker is killed, too."""

    tables = ()

    def systems(self, running: ExitStack) -> dict[str, System]:
        """Start the broker."""
        self._broker: KafkaBroker = running.enter_context(kafka_broker())
        self._broker.create_topic("results", partitions=3)
        self._broker.create_topic("counts", partitions=3)
        return {"broker": self._broker}

    def command(self, directory: Path, database: str) -> tuple[str, list[str]]:
        """Return `run`, and the program with its arguments."""
        places = [str(directory / name) for name in ("input", "output")]
        return "run", ["chaos/kafka_program.py", "--", *places, self._broker.bootstrap]

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

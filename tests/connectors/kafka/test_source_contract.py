"""Kafka's source passes the contract of sources, with a real broker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from firesteel.common import Types
from firesteel.common.serialization import SimpleStringSchema
from firesteel.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaSource,
)
from firesteel.functions.source import Source
from firesteel.testing.contracts import (
    ContinuousSourceContract,
    ContinuousSourceSystem,
    SourceContract,
)
from harness.kafka import KafkaBroker


class Topic(ContinuousSourceSystem):
    """A topic of three partitions, in which transactions have left gaps in the offsets."""

    type_info = Types.STRING()

    def __init__(self, broker: KafkaBroker, *, bounded: bool) -> None:
        self._broker = broker
        self._topic = broker.create_topic(partitions=3)
        self._bounded = bounded
        self._texts: list[str] = []
        for _ in range(3):
            self.add()

    def source(self) -> Source[Any]:
        builder = (
            KafkaSource.builder()
            .set_bootstrap_servers(self._broker.bootstrap)
            .set_topics(self._topic)
            .set_property("isolation.level", "read_committed")
            .set_property("partition.discovery.interval.ms", "50")
            # Ranges of few records end where the log does: by default, a request waits half a second for more.
            .set_property("fetch.max.wait.ms", "20")
            .set_value_only_deserializer(SimpleStringSchema())
        )
        if self._bounded:
            builder.set_bounded(KafkaOffsetsInitializer.latest())
        return builder.build()

    def records(self) -> Sequence[Any]:
        return self._texts

    def add(self) -> None:
        first = len(self._texts)
        texts = [f"text {number}" for number in range(first, first + 30)]
        producer = self._broker.producer({"transactional.id": self._topic})
        producer.init_transactions()
        for commits in (False, True):
            producer.begin_transaction()
            for number, text in enumerate(texts):
                producer.produce(self._topic, text, partition=number % 3)
            if commits:
                producer.commit_transaction()
            else:
                producer.abort_transaction()
        self._texts.extend(texts)


class OfBroker:
    """What the tests have of the broker."""

    @pytest.fixture(autouse=True)
    def broker(self, kafka: KafkaBroker) -> None:
        self.kafka = kafka


class TestBoundedTopic(OfBroker, SourceContract):
    executors: ClassVar[Sequence[Any]] = ("process", pytest.param("spark", marks=pytest.mark.spark))

    def system(self, directory: Path) -> Topic:
        return Topic(self.kafka, bounded=True)


class TestTopic(OfBroker, ContinuousSourceContract):
    def system(self, directory: Path) -> ContinuousSourceSystem:
        return Topic(self.kafka, bounded=False)

"""The contract of sinks, passed by the Kafka sink with a real broker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from firesteel.common.serialization import SimpleStringSchema
from firesteel.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink
from firesteel.functions.sink import DeliveryGuarantee, Sink
from firesteel.testing.contracts import SinkContract, SinkSystem
from harness.kafka import KafkaBroker


class Topic(SinkSystem):
    """A topic of texts."""

    def __init__(self, kafka: KafkaBroker, guarantee: DeliveryGuarantee) -> None:
        self._kafka = kafka
        self._servers = kafka.bootstrap
        self._guarantee = guarantee
        self._topic = kafka.create_topic(partitions=2)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kafka": None}

    def sink(self) -> Sink[Any]:
        schema = KafkaRecordSerializationSchema.builder().set_topic(self._topic)
        return (
            KafkaSink.builder()
            .set_bootstrap_servers(self._servers)
            .set_delivery_guarantee(self._guarantee)
            .set_record_serializer(schema.set_value_serialization_schema(SimpleStringSchema()).build())
            .build()
        )

    def rows(self) -> Sequence[Any]:
        return [message.value().decode() for message in self._kafka.read(self._topic)]


class TestExactlyOnce(SinkContract):
    executors: ClassVar[Sequence[Any]] = (
        "process",
        pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")]),
    )
    kills: ClassVar[Sequence[float]] = (0.0, 0.02, 0.2, 1.0)
    guarantee: ClassVar[DeliveryGuarantee] = DeliveryGuarantee.EXACTLY_ONCE

    @pytest.fixture(autouse=True)
    def broker(self, kafka: KafkaBroker) -> None:
        self.kafka = kafka

    def system(self, directory: Path) -> SinkSystem:
        return Topic(self.kafka, self.guarantee)


class TestAtLeastOnce(TestExactlyOnce):
    executors: ClassVar[Sequence[Any]] = ("process",)
    guarantee: ClassVar[DeliveryGuarantee] = DeliveryGuarantee.AT_LEAST_ONCE

"""The Kafka sink and a real broker: keys, headers, timestamps, partitions, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from firesteel.common import Types, WatermarkStrategy
from firesteel.common.errors import ConnectorError, TypeMismatchError
from firesteel.common.serialization import SerializationSchema, SimpleStringSchema
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.connectors.kafka.sink import KafkaSink
from firesteel.connectors.kafka.sink.partitioners import FixedPartitioner, KafkaPartitioner
from firesteel.connectors.kafka.sink.serialization import (
    KafkaRecordSerializationSchema,
    KafkaRecordSerializationSchemaBuilder,
)
from firesteel.functions.sink import DeliveryGuarantee
from harness.kafka import KafkaBroker
from tests.recovery.jobs import environment

GUARANTEES = list(DeliveryGuarantee)


class Schema(SerializationSchema):
    """Serializes by a function."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def serialize(self, value: Any) -> bytes:
        return self._function(value)


def schema(topic: str) -> KafkaRecordSerializationSchemaBuilder:
    return KafkaRecordSerializationSchema.builder().set_topic(topic)


def write(
    kafka: KafkaBroker,
    directory: Path,
    records: Sequence[Any],
    schema: KafkaRecordSerializationSchemaBuilder,
    guarantee: DeliveryGuarantee = DeliveryGuarantee.EXACTLY_ONCE,
    prepare: Callable[[Any], Any] = lambda stream: stream,
    parallelism: int = 1,
    **properties: str,
) -> None:
    builder = KafkaSink.builder().set_bootstrap_servers(kafka.bootstrap).set_delivery_guarantee(guarantee)
    for name, value in properties.items():
        builder.set_property(name.replace("_", "."), value)
    with environment(directory, parallelism=parallelism, epoch_records=10) as env:
        stream = prepare(env.from_collection(records))
        stream.sink_to(builder.set_record_serializer(schema.build()).build())
        env.execute()


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_records_arrive(kafka: KafkaBroker, tmp_path: Path, guarantee: DeliveryGuarantee) -> None:
    topic = kafka.create_topic(partitions=2)
    words = [f"word {number}" for number in range(40)]
    write(
        kafka, tmp_path, words, schema(topic).set_value_serialization_schema(SimpleStringSchema()), guarantee
    )
    assert sorted(m.value().decode() for m in kafka.read(topic)) == sorted(words)


class Second(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[1]


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_keys_headers_timestamps_and_tombstones(
    kafka: KafkaBroker, tmp_path: Path, guarantee: DeliveryGuarantee
) -> None:
    topic = kafka.create_topic()
    builder = (
        schema(topic)
        .set_key_serialization_schema(Schema(lambda value: value[0] and value[0].encode()))
        .set_value_serialization_schema(Schema(lambda value: value[2] and value[2].encode()))
        .set_header_provider(lambda value: [("from", b"x"), ("none", None)] if value[1] > 1 else [])
    )
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    write(
        kafka,
        tmp_path,
        [("a", 1, "one"), (None, 2, "two"), ("c", 3, None), ("d", -4, "four")],
        builder,
        guarantee,
        lambda stream: stream.assign_timestamps_and_watermarks(strategy),
    )
    found = kafka.read(topic)
    assert [(m.key(), m.value(), m.headers()) for m in found] == [
        (b"a", b"one", None),
        (None, b"two", [("from", b"x"), ("none", None)]),
        (b"c", None, [("from", b"x"), ("none", None)]),
        (b"d", b"four", None),
    ]
    times = [m.timestamp()[1] for m in found]
    assert times[:3] == [1, 2, 3]
    assert times[3] > 10**12


def test_keys_choose_partitions_as_in_java(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = kafka.create_topic(partitions=7)
    text = Schema(lambda value: value.encode())
    words = [
        "21",
        "foobar",
        "a-little-bit-long-string",
        "a-little-bit-longer-string",
        "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8",
    ]
    write(
        kafka,
        tmp_path,
        words,
        schema(topic).set_key_serialization_schema(text).set_value_serialization_schema(text),
    )
    # Kafka's own test of murmur2 (UtilsTest.testMurmur2), without the sign, modulo 7.
    hashes = [-973932308, -790332482, -985981536, -1486304829, -58897971]
    wanted = {word: (code & 0x7FFFFFFF) % 7 for word, code in zip(words, hashes, strict=True)}
    assert {m.key().decode(): m.partition() for m in kafka.read(topic)} == wanted


class Last(KafkaPartitioner):
    def partition(self, record, key, value, topic, partitions):
        return partitions[-1] if record != "bad" else 7


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_partitioners(kafka: KafkaBroker, tmp_path: Path, guarantee: DeliveryGuarantee) -> None:
    topic = kafka.create_topic(partitions=3)
    words = schema(topic).set_value_serialization_schema(SimpleStringSchema())
    spread = lambda stream: stream.rebalance()  # noqa: E731
    write(
        kafka,
        tmp_path / "1",
        ["a", "b", "c", "d"],
        words.set_partitioner(FixedPartitioner()),
        guarantee,
        spread,
        2,
    )
    assert {m.partition() for m in kafka.read(topic)} == {0, 1}
    write(kafka, tmp_path / "2", ["e"] * 5, words.set_partitioner(Last()), guarantee)
    assert [m.value() for m in kafka.read(topic) if m.partition() == 2] == [b"e"] * 5
    with pytest.raises(TypeMismatchError, match="one of the 3 partitions"):
        write(kafka, tmp_path / "3", ["bad"], words, guarantee)


@pytest.mark.parametrize("guarantee", [DeliveryGuarantee.EXACTLY_ONCE, DeliveryGuarantee.AT_LEAST_ONCE])
def test_a_topic_that_is_not_there(kafka: KafkaBroker, tmp_path: Path, guarantee: DeliveryGuarantee) -> None:
    words = schema("nowhere").set_value_serialization_schema(SimpleStringSchema())
    with pytest.raises(ConnectorError, match="requires the topic 'nowhere'; got UNKNOWN_TOPIC_OR_PART"):
        write(kafka, tmp_path, ["a"], words, guarantee, max_block_ms="500")


def test_a_record_that_is_too_large_is_found_before_the_commit(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = kafka.create_topic(settings={"max.message.bytes": "10000"})
    words = schema(topic).set_value_serialization_schema(SimpleStringSchema())
    write(kafka, tmp_path / "1", ["x" * 9_000] * 200, words)
    assert len(kafka.read(topic)) == 200
    with pytest.raises(ConnectorError, match=f"requires records that topic {topic!r} takes.*b'yyy"):
        write(kafka, tmp_path / "2", ["x", "y" * 10_000], words)
    assert len(kafka.read(topic)) == 200


def test_a_large_epoch_is_stored_in_files(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = kafka.create_topic(partitions=2)
    words = schema(topic).set_value_serialization_schema(SimpleStringSchema())
    records = [f"{number}".rjust(1_000_000, "x") for number in range(30)]
    write(kafka, tmp_path, records, words)
    assert sorted(int(m.value().strip(b"x")) for m in kafka.read(topic)) == list(range(30))
    assert not [path for path in (tmp_path / "state" / "outputs").rglob("*") if path.is_file()]


def test_serializers_that_return_something_else(tmp_path: Path, kafka: KafkaBroker) -> None:
    topic = kafka.create_topic()
    with pytest.raises(TypeMismatchError, match="returns bytes or None; got str: 'a'"):
        write(
            kafka, tmp_path, ["a"], schema(topic).set_value_serialization_schema(Schema(lambda value: value))
        )


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_on_spark(kafka: KafkaBroker, tmp_path: Path, guarantee: DeliveryGuarantee) -> None:
    topic = kafka.create_topic(partitions=2)
    text = Schema(lambda value: b"%d" % value)
    builder = schema(topic).set_key_serialization_schema(Schema(lambda value: b"%d" % (value % 5)))
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(kafka.bootstrap)
        .set_delivery_guarantee(guarantee)
        .set_record_serializer(builder.set_value_serialization_schema(text).build())
        .build()
    )
    with environment(tmp_path, on="spark", parallelism=2, epoch_records=100, clock=None) as env:
        numbers = env.from_collection(range(1000), Types.LONG())
        numbers.key_by(lambda value: value % 5).map(lambda value: value).sink_to(sink)
        env.execute()
    found = kafka.read(topic)
    assert sorted(int(m.value()) for m in found) == list(range(1000))
    for key in range(5):
        assert [int(m.value()) for m in found if int(m.key()) == key] == list(range(key, 1000, 5))

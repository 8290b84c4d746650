"""Jobs that read a real broker."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from firesteel.common import Duration, Types, WatermarkStrategy
from firesteel.common.errors import ConnectorError
from firesteel.common.job_status import JobStatus
from firesteel.common.serialization import ByteArraySchema, SimpleStringSchema
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.control.clock import SystemClock
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    KafkaSource,
    KafkaSourceBuilder,
    KafkaTopicPartition,
)
from firesteel.datastream.functions import ProcessFunction
from firesteel.functions.source import DiscoveryContext, Split
from firesteel.testing import executing
from harness.kafka import KafkaBroker
from tests.recovery.jobs import Watch, environment, lines, start

NO_WATERMARKS = WatermarkStrategy.no_watermarks()
LATEST = KafkaOffsetsInitializer.latest()
COMMITTED = {"isolation.level": "read_committed"}
QUICK = {"default.api.timeout.ms": "3000"}


def source(kafka: KafkaBroker, *topics: str, schema: Any = None, **properties: str) -> KafkaSourceBuilder:
    """Texts of topics."""
    built = KafkaSource.builder().set_bootstrap_servers(kafka.bootstrap).set_properties(properties)
    if topics:
        built.set_topics(*topics)
    return built.set_value_only_deserializer(schema or SimpleStringSchema())


def bounded(kafka: KafkaBroker, *topics: str, **properties: str) -> KafkaSource:
    return source(kafka, *topics, **properties).set_bounded(LATEST).build()


def numbers(kafka: KafkaBroker, count: int, partitions: int = 3, **settings: str) -> str:
    topic = kafka.create_topic(partitions=partitions, settings=settings)
    produce(kafka, topic, range(count), partitions)
    return topic


def produce(kafka: KafkaBroker, topic: str, values: Any, partitions: int = 1, **more: Any) -> None:
    kafka.produce(topic, [{"value": str(n), "partition": n % partitions, **more} for n in values])


@pytest.fixture(scope="module")
def transactions(kafka: KafkaBroker) -> Callable[[str, int, str], None]:
    """Writes some records in a transaction that ends in a way, or stays open."""
    producers: dict[str, Any] = {}

    def write(topic: str, number: int, end: str) -> None:
        if topic not in producers:
            producers[topic] = kafka.producer({"transactional.id": topic})
            producers[topic].init_transactions()
        producer = producers[topic]
        producer.begin_transaction()
        for place in range(5):
            producer.produce(topic, f"{end} {number} {place}", partition=0)
        producer.flush()
        if end == "committed":
            producer.commit_transaction()
        elif end == "aborted":
            producer.abort_transaction()

    return write


@dataclass(frozen=True)
class Way:
    """A way to run a job."""

    on: str
    epoch_records: int | None
    parallelism: int

    def collect(self, made: KafkaSource) -> list[Any]:
        with executing(self.on, epoch_records=self.epoch_records, parallelism=self.parallelism):
            env = StreamExecutionEnvironment.get_execution_environment()
            env.set_parallelism(self.parallelism)
            return list(env.from_source(made, NO_WATERMARKS, "kafka").execute_and_collect())


WAYS = [
    *(Way("process", records, width) for records, width in ((None, 1), (7, 2), (50, 3))),
    pytest.param(Way("spark", 60, 2), marks=[pytest.mark.spark, pytest.mark.long]),
]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_all_records_are_read_once(kafka: KafkaBroker, way: Way) -> None:
    topic = numbers(kafka, 200)
    assert sorted(map(int, way.collect(bounded(kafka, topic)))) == [*range(200)]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_only_what_transactions_have_committed_is_read(
    kafka: KafkaBroker, transactions: Callable[[str, int, str], None], way: Way
) -> None:
    topic = kafka.create_topic()
    for number, end in enumerate(["aborted", "committed", "aborted", "committed", "aborted", "open"]):
        transactions(topic, number, end)
    expected = [f"committed {number} {place}" for number in (1, 3) for place in range(5)]
    assert sorted(way.collect(bounded(kafka, topic, **COMMITTED))) == expected
    assert len(way.collect(bounded(kafka, topic))) == 30


def ranges(made: KafkaSource, cuts: list[int]) -> list[list[bytes]]:
    """The records of the ranges between the cuts, read by a copy of the source, as a worker's."""
    [split] = [one for one in made.discover(DiscoveryContext(frozenset(), 1, 0)) if one.payload]
    worker: KafkaSource = pickle.loads(pickle.dumps(made))
    found = [
        [value for batch in worker.read(split, low, high) for value in batch] for low, high in pairwise(cuts)
    ]
    worker.close()
    made.close()
    return found


def test_ranges_that_are_read_again_are_equal(
    kafka: KafkaBroker, transactions: Callable[[str, int, str], None]
) -> None:
    topic = kafka.create_topic()
    for number, end in enumerate(["committed", "aborted", "committed", "aborted", "committed", "aborted"]):
        transactions(topic, number, end)
    made = source(kafka, topic, schema=ByteArraySchema(), **COMMITTED).build()
    [last] = [one.next for one in kafka.offsets(topic).values()]
    [whole] = ranges(made, [0, last])
    assert len(whole) == 15
    for step in (1, 2, 5, 7):
        cuts = [*range(0, last, step), last]
        assert [one for found in ranges(made, cuts) for one in found] == whole
    assert ranges(made, [0, 9, 20, 9, 20])[1::2] == [ranges(made, [9, 20])[0]] * 2


class Whole(KafkaRecordDeserializationSchema):
    """All that is known of a record, as a text."""

    def deserialize(self, record):
        yield f"{record.topic} {record.partition} {record.offset} {record.timestamp} {record.timestamp_type}"
        yield f"{record.key} {record.value} {record.headers} {record.leader_epoch}"

    def get_produced_type(self):
        return Types.STRING()


def test_keys_headers_and_times(kafka: KafkaBroker) -> None:
    topic = kafka.create_topic()
    record = {
        "value": b"v",
        "key": b"k",
        "timestamp": 1_700_000_000_123,
        "headers": [("h", b"1"), ("h", None)],
    }
    kafka.produce(topic, [record, {"value": None, "timestamp": 1_700_000_000_456}])
    built = KafkaSource.builder().set_bootstrap_servers(kafka.bootstrap).set_topics(topic)
    made = built.set_deserializer(Whole()).set_bounded(LATEST).build()
    assert Way("process", None, 1).collect(made) == [
        f"{topic} 0 0 1700000000123 CreateTime",
        "b'k' b'v' (('h', b'1'), ('h', None)) 0",
        f"{topic} 0 1 1700000000456 CreateTime",
        "None None () 0",
    ]


class Bits(SimpleStringSchema):
    """Numbers, of which 13 is none, and 7 has no value."""

    def deserialize(self, message):
        text = super().deserialize(message)
        if text == "13":
            raise ValueError("an unlucky number")
        return None if text == "7" else text


def test_a_message_that_cannot_be_read_is_named(kafka: KafkaBroker) -> None:
    topic = numbers(kafka, 30)
    made = source(kafka, topic, schema=Bits()).set_bounded(LATEST).build()
    expected = (
        rf"requires messages that its deserialization schema can read; got the message at offset 4 of partition 1 "
        rf"of topic '{topic}': b'13' \(ValueError: an unlucky number\)"
    )
    with pytest.raises(ConnectorError, match=expected):
        Way("process", None, 2).collect(made)


def test_a_message_without_a_value_is_left_out(kafka: KafkaBroker) -> None:
    topic = numbers(kafka, 12)
    made = source(kafka, topic, schema=Bits()).set_bounded(LATEST).build()
    assert sorted(map(int, Way("process", None, 1).collect(made))) == [n for n in range(12) if n != 7]


class Watermarks(ProcessFunction):
    """Each record with the watermark before it."""

    def process_element(self, value, ctx):
        yield f"{value} {ctx.timestamp()} {max(ctx.timer_service().current_watermark(), -1)}"


def test_each_partition_has_its_watermarks(kafka: KafkaBroker) -> None:
    topic = kafka.create_topic(partitions=2)
    for partition, times in ((0, [100, 200, 300]), (1, [50, 60, 70])):
        kafka.produce(
            topic, [{"value": f"{partition}", "timestamp": time, "partition": partition} for time in times]
        )
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    for records in (1, 4):
        with executing(epoch_records=records, parallelism=1):
            env = StreamExecutionEnvironment.get_execution_environment()
            stream = env.from_source(bounded(kafka, topic), strategy, "kafka").process(
                Watermarks(), Types.STRING()
            )
            found = [line.split() for line in stream.execute_and_collect()]
        assert sorted((one, int(time)) for one, time, _ in found) == [
            *(("0", time) for time in (100, 200, 300)),
            *(("1", time) for time in (50, 60, 70)),
        ]
        # No record is late: the slower partition holds the watermark back.
        assert all(int(time) > int(watermark) for _, time, watermark in found)


def run(
    directory: Path, made: KafkaSource, act: Callable[[Any, Any], None], parallelism: int = 1, **more: Any
) -> Watch:
    """Run a job that writes what it reads into files, until `act(handle, stats)` stops it, or it ends."""
    watch = Watch(act)
    with environment(directory, clock=SystemClock(), parallelism=parallelism, listener=watch, **more) as env:
        stream = env.from_source(made, NO_WATERMARKS, "kafka").uid("kafka")
        stream.sink_to(FileSink(directory / "out", TextLines(), BasePathBuckets(), RollingPolicy.on_epoch()))
        start(env, watch).wait(60)
    return watch


def stopping(records: int) -> Callable[[Any, Any], None]:
    """Stop the job when it has read so many records."""
    seen = [0]

    def act(handle: Any, stats: Any) -> None:
        seen[0] += stats.records_in
        if seen[0] >= records:
            handle.stop()

    return act


def test_a_job_that_is_started_again_goes_on_at_its_offsets(tmp_path: Path, kafka: KafkaBroker) -> None:
    topic = numbers(kafka, 60)
    made = source(kafka, topic).build()
    for parallelism, more in ((1, range(60, 90)), (3, range(90, 120)), (2, ())):
        run(tmp_path, made, stopping(15), parallelism, epoch_records=10)
        produce(kafka, topic, more, 3)
    run(tmp_path, made, stopping(120 - len(lines(tmp_path / "out"))))
    assert sorted(map(int, lines(tmp_path / "out"))) == [*range(120)]


def test_a_job_follows_what_comes(tmp_path: Path, kafka: KafkaBroker) -> None:
    topic = numbers(kafka, 10, 1)
    made = source(kafka, topic, **{"group.id": topic, "partition.discovery.interval.ms": "50"}).build()
    seen = [0]

    def act(handle: Any, stats: Any) -> None:
        seen[0] += stats.records_in
        if seen[0] == 10:
            kafka.add_partitions(topic, 3)
            kafka.produce(topic, [{"value": str(n), "partition": n % 3} for n in range(10, 40)])
            seen[0] += 1
        elif seen[0] == 41:
            handle.stop()

    run(tmp_path, made, act, parallelism=2)
    assert sorted(map(int, lines(tmp_path / "out"))) == [*range(40)]


def test_a_topic_that_comes_later_matches_the_pattern(tmp_path: Path, kafka: KafkaBroker) -> None:
    first = numbers(kafka, 5, 1)
    made = (
        source(kafka, **{"partition.discovery.interval.ms": "50"})
        .set_topic_pattern(f"{first}(-more)?")
        .set_starting_offsets(KafkaOffsetsInitializer.offsets({KafkaTopicPartition(first, 0): 3}))
        .build()
    )

    def act(handle: Any, stats: Any) -> None:
        if stats.epoch == 1:
            kafka.create_topic(f"{first}-more")
            produce(kafka, f"{first}-more", range(5, 8))
        elif "7" in lines(tmp_path / "out"):
            handle.stop()

    run(tmp_path, made, act)
    assert sorted(map(int, lines(tmp_path / "out"))) == [3, 4, 5, 6, 7]


def test_the_group_knows_how_far_a_job_is(tmp_path: Path, kafka: KafkaBroker) -> None:
    topic = numbers(kafka, 30)
    made = bounded(kafka, topic, **{"group.id": f"group-{topic}"})
    run(tmp_path, made, lambda handle, stats: None, epoch_records=10)
    produce(kafka, topic, range(30, 36), 3)
    again = source(kafka, topic, **{"group.id": f"group-{topic}"})
    again.set_starting_offsets(KafkaOffsetsInitializer.committed_offsets()).set_bounded(LATEST)
    assert sorted(map(int, Way("process", None, 1).collect(again.build()))) == [*range(30, 36)]


def test_records_that_retention_has_deleted_are_an_error(tmp_path: Path, kafka: KafkaBroker) -> None:
    topic = numbers(kafka, 10, 1)
    made = source(kafka, topic, **QUICK).build()
    run(tmp_path, made, stopping(10))
    produce(kafka, topic, range(10, 20))
    kafka.delete_records(topic, 0, before=15)
    with pytest.raises(ConnectorError, match="requires the record at offset 10 of partition 0"):
        run(tmp_path, made, stopping(10))
    forgiving = source(kafka, topic, **QUICK, **{"auto.offset.reset": "earliest"}).build()
    run(tmp_path, forgiving, stopping(5))
    assert sorted(map(int, lines(tmp_path / "out"))) == [*range(10), *range(15, 20)]


def test_a_topic_that_is_made_again_is_another_one(tmp_path: Path, kafka: KafkaBroker) -> None:
    topic = numbers(kafka, 10, 1)
    made = source(kafka, topic, **QUICK).build()
    run(tmp_path, made, stopping(10))
    kafka.delete_topic(topic)
    kafka.create_topic(topic)
    produce(kafka, topic, range(50))
    with pytest.raises(ConnectorError, match="got a topic that was made again"):
        run(tmp_path, made, stopping(1))
    assert sorted(map(int, lines(tmp_path / "out"))) == [*range(10)]


def test_a_topic_that_is_deleted_is_an_error(tmp_path: Path, kafka: KafkaBroker) -> None:
    topic = numbers(kafka, 10, 1)
    made = source(kafka, topic, **{"default.api.timeout.ms": "500"}).build()

    def act(handle: Any, stats: Any) -> None:
        kafka.delete_topic(topic)

    with pytest.raises(ConnectorError, match="requires topics that stay"):
        run(tmp_path, made, act)


def test_a_topic_that_is_not_there(kafka: KafkaBroker) -> None:
    with pytest.raises(ConnectorError, match="requires topics that exist; got no topic 'nowhere'"):
        Way("process", None, 1).collect(bounded(kafka, "nowhere"))


def test_a_cluster_that_does_not_answer(capfd: pytest.CaptureFixture[str]) -> None:
    made = (
        KafkaSource.builder()
        .set_bootstrap_servers("127.0.0.1:1")
        .set_topics("t")
        .set_value_only_deserializer(SimpleStringSchema())
        .set_property("default.api.timeout.ms", "300")
        .build()
    )
    with pytest.raises(ConnectorError, match=r"requires an answer of the cluster within 0.3 s"):
        Way("process", None, 1).collect(made)
    assert capfd.readouterr().err == ""


def test_an_idle_partition_does_not_hold_back_time(tmp_path: Path, kafka: KafkaBroker) -> None:
    topic = kafka.create_topic(partitions=2)
    kafka.produce(topic, [{"value": "a", "timestamp": 1000, "partition": 0}])
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_millis(100))
    made = source(kafka, topic).build()
    marks = []

    def act(handle: Any, stats: Any) -> None:
        marks.append(stats.watermark)
        if stats.watermark == 999:
            handle.stop()

    watch = Watch(act)
    with environment(tmp_path, clock=SystemClock(), listener=watch) as env:
        env.from_source(made, strategy, "kafka").map(str).print()
        assert start(env, watch).wait(60).status is JobStatus.FINISHED
    assert marks[-1] == 999


def test_splits_of_a_worker_need_no_driver(kafka: KafkaBroker) -> None:
    made = bounded(kafka, numbers(kafka, 6, 1))
    splits: list[Split] = [*made.discover(DiscoveryContext(frozenset(), 1, 0))]
    assert [one.id.rpartition("-")[2] for one in splits if one.payload] == ["0"]
    made.close()
    made.close()

"""Logs with gaps: what compaction, aborted transactions and DeleteRecords have left out, wherever a reading ends."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import ConnectorError
from firesteel.common.serialization import ByteArraySchema
from firesteel.connectors.kafka.source.source import KafkaSource
from firesteel.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaTopicPartition
from harness.kafka import KafkaBroker
from tests.connectors.kafka.test_source import COMMITTED, QUICK, Way, bounded, ranges, run, source, stopping
from tests.recovery.jobs import lines

pytestmark = pytest.mark.long

COMPACTED = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.001",
    "delete.retention.ms": "1",
    # In the time of the records: one that is later than that begins a new segment, and the others can be compacted.
    "segment.ms": "1000",
}
BYTES = ByteArraySchema()
LATER_MS = 10_000
WIDTHS = [Way("process", records, 1) for records in (None, 2, 5)]


def transactions(kafka: KafkaBroker, topic: str, *ends: str, partition: int = 0) -> None:
    """Write five records in each of some transactions, which end in these ways: a key for each place."""
    producer = kafka.producer({"transactional.id": f"{topic}-{partition}"})
    producer.init_transactions()
    for number, end in enumerate(ends):
        producer.begin_transaction()
        for place in range(5):
            producer.produce(topic, f"{number} {place}", f"{place}", partition)
        producer.flush()
        getattr(producer, end)()


def compacted(kafka: KafkaBroker) -> str:
    """A topic of which compaction has left the last committed record of each key, and those of the last segment."""
    topic = kafka.create_topic(settings=COMPACTED)
    transactions(kafka, topic, *["commit_transaction", "abort_transaction"] * 2, "abort_transaction")
    later = int(time.time() * 1000) + LATER_MS
    kafka.produce(topic, [{"key": key, "value": key, "timestamp": later} for key in ("later", "last")])
    until = time.monotonic() + 60
    while len(kafka.read(topic, committed=False)) > 7:
        assert time.monotonic() < until, "the log is not compacted"
    return topic


def until(kafka: KafkaBroker, topic: str, end: int) -> KafkaSource:
    last = KafkaOffsetsInitializer.offsets({KafkaTopicPartition(topic, 0): end})
    return source(kafka, topic, **COMMITTED, **QUICK).set_bounded(last).build()


def test_a_reading_ends_wherever_compaction_has_left_gaps(kafka: KafkaBroker) -> None:
    topic = compacted(kafka)
    there = {message.offset(): message.value().decode() for message in kafka.read(topic)}
    assert [*there.values()] == [*(f"2 {place}" for place in range(5)), "later", "last"]
    [after] = [offsets.next for offsets in kafka.offsets(topic).values()]
    assert after == 32
    for end in range(1, after + 1):
        expected = [value.encode() for offset, value in there.items() if offset < end]
        assert ranges(source(kafka, topic, schema=BYTES, **COMMITTED, **QUICK).build(), [0, end]) == [
            expected
        ]
    whole = [value.encode() for value in there.values()]
    for step in (1, 3):
        cuts = [*range(0, after, step), after]
        parts = ranges(source(kafka, topic, schema=BYTES, **COMMITTED, **QUICK).build(), cuts)
        assert [value for part in parts for value in part] == whole
    for end in (
        3,
        6,
        12,
        17,
        24,
        30,
        31,
        32,
    ):  # within and right after gaps, marks of transactions, and records
        expected = [value for offset, value in there.items() if offset < end]
        for way in WIDTHS:
            assert way.collect(until(kafka, topic, end)) == expected


@pytest.mark.parametrize("way", WIDTHS[:2], ids=str)
def test_aborted_transactions_at_the_end_of_partitions(kafka: KafkaBroker, tmp_path: Path, way: Way) -> None:
    topic = kafka.create_topic(partitions=2)
    transactions(kafka, topic, "commit_transaction", "abort_transaction", "abort_transaction")
    transactions(kafka, topic, "abort_transaction", partition=1)
    expected = [f"0 {place}" for place in range(5)]
    assert way.collect(bounded(kafka, topic, **COMMITTED, **QUICK)) == expected
    # A job that goes on finds what comes behind them.
    made = source(kafka, topic, **COMMITTED, **QUICK).build()
    run(tmp_path, made, stopping(5), epoch_records=way.epoch_records)
    transactions(kafka, topic, "abort_transaction", "commit_transaction", partition=1)
    run(tmp_path, made, stopping(5), epoch_records=way.epoch_records)
    assert lines(tmp_path / "out") == sorted([*expected, *(f"1 {place}" for place in range(5))])


def test_the_start_of_a_log_moves_while_it_is_read(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = kafka.create_topic()
    kafka.produce(topic, [str(number).zfill(1000) for number in range(3000)])
    step_by_step = {"queued.max.messages.kbytes": "100", "fetch.message.max.bytes": "50000", **QUICK}
    moved: list[int] = []

    def delete(handle: Any, stats: Any) -> None:
        if not moved:
            kafka.delete_records(topic, 0, before=2000)
            moved.append(2000)

    with pytest.raises(ConnectorError, match=r"requires the record at offset \d+ .* from 2000 up to 3000"):
        run(tmp_path, bounded(kafka, topic, **step_by_step), delete, epoch_records=300)
    read = [*map(int, lines(tmp_path / "out"))]
    assert read == [*range(len(read))]
    assert 300 <= len(read) < 2000
    forgiving = bounded(kafka, topic, **step_by_step, **{"auto.offset.reset": "earliest"})
    run(tmp_path, forgiving, delete, epoch_records=300)
    assert [*map(int, lines(tmp_path / "out"))] == [*read, *range(2000, 3000)]

"""Ranges of partitions, with a consumer that a test scripts."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from typing import Any

import pytest
from confluent_kafka import KafkaError, Message, TopicPartition

from firesteel.common.errors import ConnectorError
from firesteel.connectors.kafka.partitions import KafkaTopicPartition
from firesteel.connectors.kafka.source import reading
from firesteel.connectors.kafka.source.reading import PartitionReader

A, B = KafkaTopicPartition("t", 0), KafkaTopicPartition("t", 1)
OTHER = KafkaTopicPartition("u", 0)


def message(partition: KafkaTopicPartition, offset: int) -> Message:
    return Message(*partition, offset=offset, value=b"%d" % offset)


def told(code: int, partition: KafkaTopicPartition, offset: int = -1) -> Message:
    return Message(*partition, offset=offset, error=KafkaError(code))


def end(partition: KafkaTopicPartition, offset: int) -> Message:
    return told(KafkaError._PARTITION_EOF, partition, offset)


class ScriptedConsumer:
    """Delivers `script`, one entry for each time it is asked, and notes what else is asked of it."""

    def __init__(self, script: Iterable[list[Message]], bounds: tuple[int, int] = (0, 0)) -> None:
        self.script = deque(script)
        self.asked: list[Any] = []
        self.bounds = bounds
        self.settings: dict[str, Any] = {}

    def __call__(self, settings: dict[str, Any]) -> ScriptedConsumer:
        self.settings = settings
        return self

    def consume(self, count: int, timeout: float) -> list[Message]:
        return self.script.popleft() if self.script else []

    def incremental_assign(self, partitions: list[TopicPartition]) -> None:
        self.asked += [("read", one.topic, one.partition, one.offset) for one in partitions]

    def incremental_unassign(self, partitions: list[TopicPartition]) -> None:
        self.asked += [("stop", one.topic, one.partition) for one in partitions]

    def pause(self, partitions: list[TopicPartition]) -> None:
        self.asked += [("pause", one.partition) for one in partitions]

    def resume(self, partitions: list[TopicPartition]) -> None:
        self.asked += [("resume", one.partition) for one in partitions]

    def get_watermark_offsets(self, partition: TopicPartition, timeout: float) -> tuple[int, int]:
        return self.bounds

    def close(self) -> None:
        self.asked.append("close")


def reader(consumer: ScriptedConsumer, **more: Any) -> PartitionReader:
    return PartitionReader((), "source", 0.05, make=consumer, **more)


def offsets(found: PartitionReader, partition: KafkaTopicPartition, start: int, stop: int) -> list[int]:
    return [one.offset() for batch in found.batches(partition, start, stop) for one in batch]


def test_what_is_beyond_a_range_waits_for_the_next_one() -> None:
    consumer = ScriptedConsumer([[message(A, n) for n in range(7)], [message(A, 7)]])
    found = reader(consumer)
    assert offsets(found, A, 0, 3) == [0, 1, 2]
    assert offsets(found, A, 3, 5) == [3, 4]
    assert offsets(found, A, 5, 8) == [5, 6, 7]
    assert consumer.asked == [("read", "t", 0, 0)]


def test_a_range_ends_at_a_message_beyond_it() -> None:
    found = reader(ScriptedConsumer([[message(A, 0), message(A, 9)]]))
    assert offsets(found, A, 0, 5) == [0]
    assert offsets(found, A, 5, 9) == []
    assert offsets(found, A, 9, 10) == [9]


def test_a_range_ends_at_the_end_of_the_log() -> None:
    found = reader(ScriptedConsumer([[message(A, 0), message(A, 1), end(A, 4)], [message(A, 4), end(A, 6)]]))
    assert offsets(found, A, 0, 3) == [0, 1]
    assert offsets(found, A, 3, 4) == []
    assert offsets(found, A, 4, 6) == [4]


def test_partitions_are_read_in_turn() -> None:
    consumer = ScriptedConsumer(
        [[message(A, 0)], [message(B, 5), message(A, 1), message(B, 6)], [message(OTHER, 0), message(A, 2)]]
    )
    found = reader(consumer)
    assert offsets(found, A, 0, 1) == [0]
    assert offsets(found, B, 5, 7) == [5, 6]
    assert offsets(found, OTHER, 0, 1) == [0]
    assert offsets(found, A, 1, 3) == [1, 2]


def test_a_range_is_read_again_from_its_start() -> None:
    consumer = ScriptedConsumer([[message(A, 0), message(A, 1)], [message(A, 0), message(A, 1)]])
    found = reader(consumer)
    assert offsets(found, A, 0, 2) == [0, 1]
    assert offsets(found, A, 0, 2) == [0, 1]
    assert consumer.asked == [("read", "t", 0, 0), ("stop", "t", 0), ("read", "t", 0, 0)]


def test_a_range_that_was_left_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST", 1)
    found = reader(ScriptedConsumer([[message(A, 0), message(A, 1)]] * 2))
    left = found.batches(A, 0, 2)
    assert [one.offset() for one in next(left)] == [0]
    left.close()  # type: ignore[attr-defined]
    assert offsets(found, A, 0, 2) == [0, 1]


def test_no_more_is_fetched_than_may_wait() -> None:
    many = [message(B, n) for n in range(60_000)]
    consumer = ScriptedConsumer([[message(B, 0)], many[1:], [message(A, 0)]])
    found = reader(consumer)
    assert offsets(found, B, 0, 1) == [0]
    assert offsets(found, A, 0, 1) == [0]
    assert consumer.asked[-1] == ("pause", 1)
    assert offsets(found, B, 1, 60_000) == [*range(1, 60_000)]
    consumer.script.append([message(B, 60_000)])
    assert offsets(found, B, 60_000, 60_001) == [60_000]
    assert consumer.asked[-1] == ("resume", 1)


def test_records_that_are_gone_are_an_error() -> None:
    lost = told(KafkaError._AUTO_OFFSET_RESET, A)
    found = reader(ScriptedConsumer([[lost]], bounds=(10, 20)))
    expected = (
        "requires the record at offset 5 of partition 0 of topic 't'; got a log with the offsets from 10"
    )
    with pytest.raises(ConnectorError, match=expected):
        offsets(found, A, 5, 15)


def test_records_that_are_gone_beyond_a_range_do_not_matter_yet() -> None:
    lost = told(KafkaError._AUTO_OFFSET_RESET, A)
    found = reader(ScriptedConsumer([[message(A, 0), message(A, 1), lost], [lost]], bounds=(10, 20)))
    assert offsets(found, A, 0, 2) == [0, 1]
    with pytest.raises(ConnectorError, match="requires the record at offset 2"):
        offsets(found, A, 2, 4)


def test_records_that_are_gone_can_be_forgiven(caplog: pytest.LogCaptureFixture) -> None:
    lost = told(KafkaError._AUTO_OFFSET_RESET, A)
    consumer = ScriptedConsumer([[lost], [message(A, 10), message(A, 11)]], bounds=(10, 20))
    found = reader(consumer, forgiving=True)
    assert offsets(found, A, 5, 8) == []
    assert offsets(found, A, 8, 12) == [10, 11]
    assert "has lost the records from offset 5 up to 10" in caplog.text


def test_a_log_that_ends_before_a_range_is_never_forgiven() -> None:
    lost = told(KafkaError._AUTO_OFFSET_RESET, A)
    found = reader(ScriptedConsumer([[lost]], bounds=(0, 3)), forgiving=True)
    with pytest.raises(ConnectorError, match="got a log with the offsets from 0 up to 3"):
        offsets(found, A, 5, 15)


def test_after_the_patience_the_last_trouble_is_named() -> None:
    away = told(KafkaError._TRANSPORT, KafkaTopicPartition("", -1))
    found = reader(ScriptedConsumer([[message(A, 0)], [away]]))
    with pytest.raises(ConnectorError, match=r"from offset 1 on within 0.05 s; got _TRANSPORT"):
        offsets(found, A, 0, 2)


@pytest.mark.parametrize(
    "code", [KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError._LOG_TRUNCATION, KafkaError._AUTHENTICATION]
)
def test_refusals_are_errors_at_once(code: int) -> None:
    found = reader(ScriptedConsumer([[told(code, A)]]))
    with pytest.raises(ConnectorError, match=re.escape(str(KafkaError(code).name()))):
        offsets(found, A, 0, 2)


def test_properties_cannot_make_it_jump() -> None:
    consumer = ScriptedConsumer([])
    PartitionReader(
        (("auto.offset.reset", "latest"), ("isolation.level", "read_committed")), "source", 1, make=consumer
    )
    assert consumer.settings["auto.offset.reset"] == "error"
    assert consumer.settings["isolation.level"] == "read_committed"

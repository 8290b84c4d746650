"""How epochs are published, with a broker that is a list: what is tried again, left out, and refused."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from firesteel.common.errors import ConnectorError
from firesteel.common.stored_output import StoredOutput
from firesteel.connectors.kafka.sink import publishing, session
from firesteel.connectors.kafka.sink.publishing import Mark, PublishingCommitter
from firesteel.connectors.kafka.sink.records import TopicRecords, pack
from firesteel.connectors.kafka.sink.settings import KafkaSinkSettings, sink_settings
from firesteel.connectors.kafka.sink.staged import StagedRecords
from firesteel.functions.sink import DeliveryGuarantee

MINUTE = 60_000


@dataclass
class Broker:
    """What is published, by epoch, and the steps at which something goes wrong."""

    marks: list[Mark] = field(default_factory=list)
    values: list[bytes] = field(default_factory=list)
    sessions: int = 0
    closed: int = 0
    retention_ms: int = 60 * MINUTE
    faults: dict[str, list[KafkaException]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def pass_by(self, step: str) -> None:
        if self.faults.get(step):
            raise self.faults[step].pop(0)


class Outputs:
    """Stored output in a dict."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}

    def put(self, name: str, data: bytes) -> StoredOutput:
        self.data[name] = data
        return StoredOutput(name, len(data), "")

    def get(self, stored: StoredOutput) -> bytes:
        return self.data[stored.name]

    def remove(self, stored: Iterable[StoredOutput]) -> None:
        for output in stored:
            self.data.pop(output.name, None)


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    found = Broker()

    class FakeSession:
        def __init__(self, settings: KafkaSinkSettings, name: str, largest: int) -> None:
            found.pass_by("open")
            found.sessions += 1
            self.number, self.largest = found.sessions, largest

        def publish(
            self, epoch: int, attempt: str, topics: Iterable[str], records: Iterable[TopicRecords]
        ) -> None:
            values = [value for part in records for value in part.rows.column("value").to_pylist()]
            found.pass_by("before")
            if self.number < found.sessions:
                raise fault(KafkaError._FENCED)
            found.marks.append(Mark(epoch, attempt))
            found.values.extend(values)
            found.pass_by("after")

        def close(self) -> None:
            found.closed += 1

    monkeypatch.setattr(publishing, "Session", FakeSession)
    monkeypatch.setattr(publishing, "read_mark", lambda *_: max(found.marks, default=None))
    monkeypatch.setattr(PublishingCommitter, "_retention_ms", lambda self: found.retention_ms)
    monkeypatch.setattr(publishing, "missing_topics", lambda settings, names: found.missing)
    monkeypatch.setattr(publishing, "_PAUSE_S", 0)
    return found


def fault(code: int) -> KafkaException:
    return KafkaException(KafkaError(code))


def committer(**properties: str) -> PublishingCommitter:
    given = {"bootstrap.servers": "127.0.0.1:1", "max.block.ms": "5000"}
    given |= {name.replace("_", "."): value for name, value in properties.items()}
    made = PublishingCommitter(sink_settings(given, "KafkaSink", DeliveryGuarantee.EXACTLY_ONCE, "p"))
    made.attach(Outputs())
    return made


def epoch(number: int, *values: bytes, attempt: str = "a", age_ms: int = 0) -> list[StagedRecords]:
    """The committables of an epoch: one writer for each value."""
    return [
        StagedRecords(
            job="job",
            operator="sink",
            epoch=number,
            attempt=attempt,
            prepared_at=int(time.time() * 1000) - age_ms,
            topics=("t",),
            records=1,
            largest=1_000_000,
            parcels=(pack([TopicRecords.of("t", [value])]),),
        )
        for value in values
    ]


def test_epochs_go_through_one_session(broker):
    mine = committer()
    mine.commit(epoch(1, b"a", b"b"))
    mine.commit(epoch(2, b"c"))
    mine.commit(epoch(4, b"d"))
    assert broker.values == [b"a", b"b", b"c", b"d"]
    assert (broker.sessions, broker.closed) == (1, 0)
    mine.close()
    assert broker.closed == 1


def test_an_epoch_that_is_committed_again_is_there_once(broker):
    mine = committer()
    mine.commit(epoch(1, b"a"))
    mine.commit(epoch(1, b"a"))
    other = committer()
    other.commit(epoch(1, b"a"))
    other.commit(epoch(2, b"b"))
    assert broker.values == [b"a", b"b"]


@pytest.mark.parametrize("step", ["open", "before", "after"])
@pytest.mark.parametrize("code", [KafkaError._TIMED_OUT, KafkaError._FENCED, KafkaError._TRANSPORT])
def test_what_passes_is_tried_again_with_a_new_session(broker, step, code):
    broker.faults[step] = [fault(code), fault(code)]
    mine = committer()
    mine.commit(epoch(1, b"a"))
    mine.commit(epoch(2, b"b"))
    assert broker.values == [b"a", b"b"]
    assert not broker.faults[step]
    assert broker.closed == (0 if step == "open" else 2)


def test_a_broker_that_stays_away(broker):
    broker.faults["before"] = [fault(KafkaError._TIMED_OUT) for _ in range(1000)]
    mine = committer(max_block_ms="1")
    with pytest.raises(
        ConnectorError, match="could not publish epoch 3, which is committed; got _TIMED_OUT"
    ) as raised:
        mine.commit(epoch(3, b"a"))
    assert "nothing is lost" in str(raised.value)
    broker.faults.clear()
    mine.commit(epoch(3, b"a"))
    assert broker.values == [b"a"]


def test_a_topic_that_is_gone_is_named(broker):
    broker.faults["before"] = [fault(KafkaError._TIMED_OUT) for _ in range(1000)]
    broker.missing = ["t"]
    with pytest.raises(ConnectorError, match=r"got _TIMED_OUT: .*, and no topic 't'"):
        committer(max_block_ms="1").commit(epoch(3, b"a"))


def test_a_transaction_that_does_not_end_is_named(broker, monkeypatch):
    monkeypatch.setattr(publishing, "read_mark", session.read_mark)
    monkeypatch.setattr(session, "new_client", lambda kind, settings, who: Group(settings))
    with pytest.raises(ConnectorError, match=r"got UNSTABLE_OFFSET_COMMIT(.|\n)*find-hanging"):
        committer(max_block_ms="1").commit(epoch(3, b"a"))
    assert broker.values == []


class Group:
    """A client of a group with an offset of a transaction that does not end."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.waits = settings["isolation.level"] == "read_committed"

    def committed(self, places: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        if self.waits:
            raise fault(KafkaError._TIMED_OUT)
        return places

    def close(self) -> None:
        """Do nothing."""


def test_what_does_not_pass_is_not_tried_again(broker):
    broker.faults["before"] = [fault(KafkaError.TOPIC_AUTHORIZATION_FAILED), fault(KafkaError._TIMED_OUT)]
    with pytest.raises(ConnectorError, match="TOPIC_AUTHORIZATION_FAILED"):
        committer().commit(epoch(1, b"a"))
    assert len(broker.faults["before"]) == 1


def test_a_driver_that_was_paused_publishes_nothing(broker):
    first, second = committer(), committer()
    first.commit(epoch(1, b"a"))
    second.commit(epoch(2, b"b"))
    first.commit(epoch(2, b"b"))
    second.commit(epoch(3, b"c"))
    with pytest.raises(ConnectorError, match="has published epoch 3 of this job"):
        committer().commit(epoch(2, b"b"))
    assert broker.values == [b"a", b"b", b"c"]


def test_an_epoch_of_another_history_is_refused(broker):
    committer().commit(epoch(2, b"a", attempt="a"))
    with pytest.raises(ConnectorError, match="another history; got attempt 'b' after 'a'"):
        committer().commit(epoch(2, b"b", attempt="b"))
    assert broker.values == [b"a"]


def test_an_epoch_without_a_mark_is_published_while_the_mark_would_be_there(broker):
    committer().commit(epoch(7, b"a", age_ms=53 * MINUTE))
    assert broker.values == [b"a"]


@pytest.mark.parametrize(("choice", "values"), [("publish", [b"a"]), ("skip", [])])
def test_an_epoch_whose_mark_may_be_gone_is_for_the_user_to_decide(broker, choice, values):
    with pytest.raises(ConnectorError, match="cannot know whether epoch 7 was published") as raised:
        committer().commit(epoch(7, b"a", age_ms=55 * MINUTE))
    assert "offsets.retention.minutes=60" in str(raised.value)
    assert "the epoch's 1 records" in str(raised.value)
    committer(firesteel_unknown_epoch=choice).commit(epoch(7, b"a", age_ms=55 * MINUTE))
    assert broker.values == values


def test_a_mark_of_an_earlier_epoch_says_that_this_one_is_not_published(broker):
    broker.marks.append(Mark(6, "z"))
    committer().commit(epoch(7, b"a", age_ms=55 * MINUTE))
    assert broker.values == [b"a"]


def test_an_epoch_that_takes_longer_than_transactions_may(broker, monkeypatch):
    broker.faults["before"] = [fault(KafkaError.INVALID_PRODUCER_EPOCH)]
    seconds = count()
    clock = SimpleNamespace(monotonic=lambda: float(next(seconds)), time=time.time, sleep=time.sleep)
    mine = committer(transaction_timeout_ms="1")
    monkeypatch.setattr(publishing, "time", clock)
    with pytest.raises(ConnectorError, match=r"requires transactions of at most 0\.001 s") as raised:
        mine.commit(epoch(1, b"a"))
    assert "transaction.max.timeout.ms" in str(raised.value)


def test_smaller_batches_need_a_new_session(broker):
    mine = committer()
    mine.commit(epoch(1, b"a"))
    mine.commit([replace(part, largest=1_000) for part in epoch(2, b"b")])
    mine.commit(epoch(3, b"c"))
    assert broker.values == [b"a", b"b", b"c"]
    assert (broker.sessions, broker.closed) == (2, 1)


def test_stored_records_go_when_they_are_published(broker):
    outputs = Outputs()
    stored = outputs.put("sink/1", pack([TopicRecords.of("t", [b"a"])]))
    [part] = epoch(1, b"")
    mine = committer()
    mine.attach(outputs)
    mine.commit([replace(part, parcels=(stored,))])
    assert broker.values == [b"a"]
    assert outputs.data == {}
    mine.commit([replace(part, parcels=(stored,))])
    assert broker.values == [b"a"]

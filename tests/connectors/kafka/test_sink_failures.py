"""The Kafka sink when a driver dies at any of its steps, or the broker does: topics are as if nothing had been."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from firesteel.common import Types
from firesteel.common.errors import ConnectorError
from firesteel.common.serialization import SerializationSchema
from firesteel.connectors.kafka.sink.publishing import PublishingCommitter
from firesteel.connectors.kafka.sink.serialization import KafkaRecordSerializationSchema
from firesteel.connectors.kafka.sink.session import Session
from firesteel.connectors.kafka.sink.sink import KafkaSink
from firesteel.connectors.kafka.sink.staged import StagedWriter
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.functions.sink import DeliveryGuarantee
from firesteel.testing import ManualClock, executing
from harness.kafka import KafkaBroker
from tests.recovery import crashing
from tests.recovery.crashing import Crasher, points

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("machine")]

RECORDS = [(f"key {number % 4}", number) for number in range(24)]


class Number(SerializationSchema):
    def serialize(self, value: Any) -> bytes:
        return b"%d" % value[1]


class Key(SerializationSchema):
    def serialize(self, value: Any) -> bytes:
        return value[0].encode()


def sink(
    kafka: KafkaBroker,
    topic: str | Callable[[Any], str],
    guarantee: DeliveryGuarantee = DeliveryGuarantee.EXACTLY_ONCE,
    **properties: str,
) -> KafkaSink:
    schema = KafkaRecordSerializationSchema.builder()
    schema = schema.set_topic(topic) if isinstance(topic, str) else schema.set_topic_selector(topic)
    schema = schema.set_key_serialization_schema(Key()).set_value_serialization_schema(Number())
    builder = KafkaSink.builder().set_bootstrap_servers(kafka.bootstrap)
    for name, value in properties.items():
        builder.set_property(name.replace("_", "."), value)
    return (
        builder.set_delivery_guarantee(guarantee)
        .set_transactional_id_prefix("test")
        .set_record_serializer(schema.build())
        .build()
    )


def run(
    kafka: KafkaBroker,
    topic: Any,
    directory: Path,
    parallelism: int = 2,
    crasher: Crasher | None = None,
    restore_from: str | None = None,
    guarantee: DeliveryGuarantee = DeliveryGuarantee.EXACTLY_ONCE,
    **properties: str,
) -> None:
    """Run the job, which has three epochs, to its end or a crash."""
    crasher = crasher or Crasher()
    with (
        points(crasher),
        sink_points(crasher),
        executing(
            crasher.executor,
            epoch_records=8,
            parallelism=parallelism,
            state_dir=str(directory / "state"),
            clock=ManualClock(1_000_000),
            restore_from=restore_from,
        ),
    ):
        env = StreamExecutionEnvironment.get_execution_environment()
        records = env.from_collection(RECORDS, Types.TUPLE([Types.STRING(), Types.LONG()]))
        records.key_by(lambda record: record[0]).map(lambda record: record).sink_to(
            sink(kafka, topic, guarantee, **properties)
        ).uid("topic")
        try:
            env.execute()
        except Exception:
            if crasher.crashed is None:
                raise


@contextmanager
def sink_points(crasher: Crasher) -> Iterator[None]:
    """Have what a sink does pass by. A crash leaves what a session has open, as the end of a process does."""
    with pytest.MonkeyPatch.context() as patch:
        _wrap(patch, crasher, StagedWriter, "prepare_commit")
        _wrap(patch, crasher, Session, "__init__", "the id")
        _wrap(patch, crasher, PublishingCommitter, "_is_published", "the mark")
        _wrap(patch, crasher, Session, "publish")
        persist, close = Session._persist, Session.close

        def persisting(self: Session, call: Callable[[float], Any]) -> None:
            name = getattr(call, "__name__", "")
            what = {"<lambda>": "send_offsets", "_commit": "commit_transaction"}.get(name, name)
            crasher.around(what, lambda: persist(self, call))

        patch.setattr(Session, "_persist", persisting)
        patch.setattr(Session, "close", lambda self: None if crasher.crashed else close(self))
        yield


def _wrap(patch: pytest.MonkeyPatch, crasher: Crasher, owner: type, name: str, what: str = "") -> None:
    call = getattr(owner, name)
    patch.setattr(
        owner,
        name,
        lambda self, *arguments: crasher.around(what or name, lambda: call(self, *arguments)),
    )


def check(kafka: KafkaBroker, topic: str) -> None:
    """None lost, none repeated, and the records of a key in order, in one partition."""
    found = kafka.read(topic)
    assert sorted((m.key().decode(), int(m.value())) for m in found) == sorted(RECORDS)
    for key in {key for key, _ in RECORDS}:
        mine = [m for m in found if m.key().decode() == key]
        assert len({m.partition() for m in mine}) == 1
        assert [int(m.value()) for m in mine] == [number for name, number in RECORDS if name == key]


def test_a_driver_that_crashes_at_every_step_in_turn(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = kafka.create_topic(partitions=3)
    struck: set[str] = set()
    while True:
        crasher = Crasher(lambda count, point: point[1] not in struck)
        run(kafka, topic, tmp_path, 2, crasher)
        if crasher.crashed is None:
            break
        struck.add(crasher.crashed[1])
    check(kafka, topic)
    wanted = {"the id", "the mark", "publish", "commit_transaction", "send_offsets", "the manifest"}
    assert {f"{when} {what}" for when in ("before", "after") for what in wanted} <= struck
    assert not [*(tmp_path / "state" / "outputs").rglob("*.bin")]


@pytest.mark.parametrize(
    "step",
    ["after prepare_commit", "after send_offsets", "before commit_transaction", "after commit_transaction"],
)
def test_a_driver_that_crashes_at_one_step_of_each_epoch(
    kafka: KafkaBroker, tmp_path: Path, step: str
) -> None:
    topic = kafka.create_topic(partitions=3)
    struck: set[crashing.Point] = set()
    while True:
        crasher = Crasher(lambda count, point: point[1] == step and point not in struck)
        run(kafka, topic, tmp_path, 1 + len(struck) % 3, crasher)
        if crasher.crashed is None:
            break
        struck.add(crasher.crashed)
    assert len(struck) >= 3
    check(kafka, topic)


STEPS = ["the id", "the mark", "send_offsets", "commit_transaction", "prepare_commit"]


@pytest.mark.parametrize("when", ["before", pytest.param("after", marks=pytest.mark.thorough)])
def test_a_broker_that_is_killed_at_each_step(mortal_kafka: KafkaBroker, tmp_path: Path, when: str) -> None:
    topic = mortal_kafka.create_topic(partitions=3)
    struck: set[str] = set()

    class Striking(Crasher):
        def reach(self, what: str) -> None:
            if what not in struck and what in {f"{when} {step}" for step in STEPS}:
                struck.add(what)
                mortal_kafka.kill()
                mortal_kafka.start()

    run(mortal_kafka, topic, tmp_path, 2, Striking())
    assert len(struck) == len(STEPS)
    check(mortal_kafka, topic)


def test_at_least_once_while_the_broker_is_killed(mortal_kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = mortal_kafka.create_topic(partitions=3)
    struck: list[str] = []

    class Striking(Crasher):
        def reach(self, what: str) -> None:
            self.points.append((self.epoch, what))
            if what.startswith("after task") and len(self.points) % 5 == 0:
                struck.append(what)
                mortal_kafka.kill()
                mortal_kafka.start()

    run(mortal_kafka, topic, tmp_path, 2, Striking(), guarantee=DeliveryGuarantee.AT_LEAST_ONCE)
    assert struck
    assert {int(message.value()) for message in mortal_kafka.read(topic)} == set(range(24))


def test_a_broker_that_is_away_for_the_whole_commit(mortal_kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = mortal_kafka.create_topic(partitions=3)

    class Away(Crasher):
        def reach(self, what: str) -> None:
            if what == "after the manifest":
                mortal_kafka.kill()

    try:
        with pytest.raises(ConnectorError, match="could not publish epoch 1, which is committed") as raised:
            run(mortal_kafka, topic, tmp_path, 2, Away(), max_block_ms="500")
        assert "nothing is lost" in str(raised.value)
    finally:
        mortal_kafka.start()
    assert mortal_kafka.read(topic) == []
    run(mortal_kafka, topic, tmp_path)
    check(mortal_kafka, topic)


@pytest.mark.parametrize(
    "step", ["before commit_transaction", "after commit_transaction", "after the manifest"]
)
def test_a_job_that_is_down_for_longer_than_transactions_may_take(
    mortal_kafka: KafkaBroker, tmp_path: Path, step: str
) -> None:
    topic = mortal_kafka.create_topic(partitions=3)
    crasher = Crasher(lambda count, point: point == (2, step))
    run(mortal_kafka, topic, tmp_path, 2, crasher, transaction_timeout_ms="1000")
    assert crasher.crashed is not None
    mortal_kafka.produce(topic, [{"value": b"0", "key": b"other", "partition": 0}])
    readers_pass_what_was_left_open(mortal_kafka, topic)
    run(mortal_kafka, topic, tmp_path, 2, transaction_timeout_ms="1000")
    found = [m for m in mortal_kafka.read(topic) if m.key() != b"other"]
    assert sorted(int(m.value()) for m in found) == list(range(24))


def readers_pass_what_was_left_open(kafka: KafkaBroker, topic: str) -> None:
    """Wait until the broker has aborted the transaction: readers see what came after it."""
    until = time.monotonic() + 30
    while b"other" not in [message.key() for message in kafka.read(topic)]:
        assert time.monotonic() < until, "the transaction stays open"


def test_readers_see_epochs_whole(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = kafka.create_topic(partitions=3)
    seen: list[int] = []

    class Reading(Crasher):
        def reach(self, what: str) -> None:
            if what.partition(" ")[2] in ("send_offsets", "commit_transaction", "the manifest"):
                seen.append(len(kafka.read(topic)))

    run(kafka, topic, tmp_path, 2, Reading())
    assert seen == sorted(seen)
    assert set(seen) == {0, 8, 16, 24}


def test_a_driver_that_was_paused_while_another_went_on(
    kafka: KafkaBroker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    topic = kafka.create_topic(partitions=3)

    class Paused(Crasher):
        def reach(self, what: str) -> None:
            if what == "before commit_transaction" and not others:
                others.append(what)
                run(kafka, topic, tmp_path, 2)

    others: list[str] = []
    run(kafka, topic, tmp_path, 2, Paused())
    assert others
    assert "has published epoch 3 of this job, and cannot publish epoch 1" in caplog.text
    check(kafka, topic)


def test_topics_by_record_and_two_sinks(kafka: KafkaBroker, tmp_path: Path) -> None:
    one, two = kafka.create_topic(partitions=2), kafka.create_topic()
    names = {0: one, 1: two}
    run(kafka, lambda record: names[record[1] % 2], tmp_path / "a")
    run(kafka, one, tmp_path / "b")
    assert sorted(int(m.value()) for m in kafka.read(two)) == [*range(1, 24, 2)]
    assert sorted(int(m.value()) for m in kafka.read(one)) == sorted([*range(0, 24, 2), *range(24)])


def test_an_older_epoch_writes_later_records_again(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = kafka.create_topic(partitions=3)
    run(kafka, topic, tmp_path)
    run(kafka, topic, tmp_path, restore_from="1")
    assert sorted(int(m.value()) for m in kafka.read(topic)) == sorted([*range(24), *range(8, 24)])


def test_an_old_copy_of_the_state_directory_is_refused(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = kafka.create_topic(partitions=3)
    crasher = Crasher(lambda count, point: point == (2, "before planning"))
    run(kafka, topic, tmp_path, crasher=crasher)
    shutil.copytree(tmp_path / "state", tmp_path / "old" / "state")
    run(kafka, topic, tmp_path)
    with pytest.raises(ConnectorError, match="has published epoch 3 of this job"):
        run(kafka, topic, tmp_path / "old")
    check(kafka, topic)

"""Topics that are changed while a job writes to them: made again, gone for a while, with more partitions."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from firesteel.common.errors import ConnectorError
from firesteel.connectors.kafka.sink import session
from harness.kafka import KafkaBroker
from tests.connectors.kafka.test_sink_failures import RECORDS, check, run
from tests.recovery.crashing import Crasher

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("machine")]


class Changing(Crasher):
    """Does something at the first step of the second epoch."""

    def __init__(self, change: Callable[[], None]) -> None:
        super().__init__()
        self._changes = [change]

    def reach(self, what: str) -> None:
        if self.epoch == 2 and self._changes:
            self._changes.pop()()


@pytest.mark.parametrize("partitions", [2, 3, 4])
def test_a_topic_that_is_made_again_gets_what_comes_then(
    kafka: KafkaBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partitions: int
) -> None:
    monkeypatch.setattr(session, "_STANDS_STILL_S", 1.0)
    topic = kafka.create_topic(partitions=3)

    def make_again() -> None:
        kafka.delete_topic(topic)
        kafka.create_topic(topic, partitions=partitions)

    # With fewer partitions, a producer that goes on waits for one that is gone; a new one takes its place.
    began = time.monotonic()
    run(kafka, topic, tmp_path, crasher=Changing(make_again))
    assert time.monotonic() - began < 30, "it has waited for max.block.ms"
    found = kafka.read(topic)
    for key in {key for key, _ in RECORDS}:
        mine = [int(message.value()) for message in found if message.key().decode() == key]
        assert mine == [number for name, number in RECORDS[8:] if name == key]
    assert len(found) == len(RECORDS[8:])


def test_a_topic_that_is_gone_gets_what_is_committed_when_it_is_there_again(
    kafka: KafkaBroker, tmp_path: Path
) -> None:
    topic = kafka.create_topic(partitions=3)
    deleting = Changing(lambda: kafka.delete_topic(topic))
    with pytest.raises(ConnectorError, match=rf"could not publish epoch 2, .*, and no topic '{topic}'"):
        run(kafka, topic, tmp_path, crasher=deleting, max_block_ms="1500")
    kafka.create_topic(topic, partitions=3)
    run(kafka, topic, tmp_path)
    assert sorted(int(message.value()) for message in kafka.read(topic)) == [*range(8, 24)]


def test_partitions_that_are_added_are_used(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = kafka.create_topic()
    adding = Changing(lambda: kafka.add_partitions(topic, 4))
    run(kafka, topic, tmp_path, crasher=adding, topic_metadata_refresh_interval_ms="20")
    found = kafka.read(topic)
    assert {message.partition() for message in found} > {0}
    assert sorted(int(message.value()) for message in found) == [*range(24)]
    # What comes later goes where its key says now.
    later = kafka.create_topic(partitions=4)
    run(kafka, later, tmp_path / "later")
    check(kafka, later)
    places = {message.key(): message.partition() for message in kafka.read(later)}
    assert all(places[m.key()] == m.partition() for m in found if int(m.value()) >= 16)

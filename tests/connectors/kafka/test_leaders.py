"""A job from topics to topics whose leaders and coordinators move, because their brokers go and come back."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from firesteel.common import WatermarkStrategy
from firesteel.common.job_status import JobStatus
from firesteel.connectors.kafka.source import access
from firesteel.control.clock import SystemClock
from harness.kafka_cluster import COORDINATION, KafkaCluster
from tests.connectors.kafka.test_sink_failures import sink, sink_points
from tests.connectors.kafka.test_source import source
from tests.recovery.crashing import Crasher, points
from tests.recovery.jobs import Count, Watch, environment, start

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("kafka-cluster")]

TRANSACTIONS, GROUPS = COORDINATION
KEYS = 6
WAVE = 60


class Strike(NamedTuple):
    """How the leader of a topic's first partition goes, at which step of a publishing."""

    topic: str
    how: str
    at: str


class Moving(Crasher):
    """Stops or kills a leader at a step of the epoch that reads a wave of records; it is back before the next wave."""

    def __init__(self, brokers: KafkaCluster, strikes: list[Strike]) -> None:
        super().__init__()
        self._brokers = brokers
        self._strikes = strikes
        self._away: Any = None

    def reach(self, what: str) -> None:
        if self._away is None and self._strikes and what == self._strikes[0].at:
            strike = self._strikes.pop(0)
            self._away = self._brokers.leader(strike.topic)
            getattr(self._away, strike.how)()

    def bring_back(self) -> None:
        """Start the broker that went."""
        assert self._away is not None, "no broker went during this wave"
        self._away.start()
        self._brokers.wait_until_whole()
        self._away = None


def produce(brokers: KafkaCluster, topic: str, wave: int) -> None:
    """Write a wave of records, those of a key to one partition."""
    numbers = range(wave * WAVE, (wave + 1) * WAVE)
    records = [{"value": str(number), "partition": number % KEYS % 3} for number in numbers]
    brokers.produce(topic, records, {"enable.idempotence": True})


@pytest.mark.thorough
def test_leaders_and_coordinators_move(
    brokers: KafkaCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "_REQUEST_S", 1.0)
    read, written = brokers.create_topic(partitions=3), brokers.create_topic(partitions=3)
    strikes = [
        Strike(TRANSACTIONS, "kill", "before commit_transaction"),
        Strike(read, "kill", "before task 0.0"),
        Strike(GROUPS, "kill", "before send_offsets"),
        Strike(written, "stop", "after send_offsets"),
    ]
    moving, waves = Moving(brokers, strikes), len(strikes) + 1
    produce(brokers, read, 0)
    records = wave = 0

    def act(handle: Any, stats: Any) -> None:
        nonlocal records, wave
        records += stats.records_in
        if records < WAVE * (wave + 1):
            return
        wave += 1
        if wave == waves:
            handle.stop()
        else:
            moving.bring_back()
            produce(brokers, read, wave)

    watch = Watch(act)
    with (
        points(moving),
        sink_points(moving),
        environment(tmp_path, clock=SystemClock(), parallelism=2, epoch_records=25, listener=watch) as env,
    ):
        made = source(brokers, read, **{"group.id": read, "isolation.level": "read_committed"}).build()
        stream = env.from_source(made, WatermarkStrategy.no_watermarks(), "kafka")
        counted = stream.key_by(lambda value: int(value) % KEYS).process(Count())
        counted.map(lambda pair: (str(pair[0]), pair[1])).sink_to(sink(brokers, written)).uid("sink")
        assert start(env, watch).wait(200).status is JobStatus.FINISHED
    assert strikes == []
    check(brokers, written, waves)


def check(brokers: KafkaCluster, topic: str, waves: int) -> None:
    """None lost, none repeated: a key's numbers rise by one, in one partition."""
    counts: dict[str, list[int]] = defaultdict(list)
    places: dict[str, set[int]] = defaultdict(set)
    for message in brokers.read(topic):
        key = message.key().decode()
        counts[key].append(int(message.value()))
        places[key].add(message.partition())
    assert counts == {str(key): [*range(1, waves * WAVE // KEYS + 1)] for key in range(KEYS)}
    assert {len(found) for found in places.values()} == {1}

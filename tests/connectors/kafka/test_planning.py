"""Partitions, their starts and ends, and how far they can be read, with a cluster that a test makes up."""

from __future__ import annotations

import re
from collections.abc import Collection
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import OFFSET_INVALID, KafkaError, KafkaException

from firesteel.common.errors import ConnectorError
from firesteel.connectors.kafka.partitions import KafkaTopicPartition, Topic
from firesteel.connectors.kafka.source.cluster import KafkaCluster
from firesteel.connectors.kafka.source.group_progress import GroupProgress
from firesteel.connectors.kafka.source.offsets import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    Offsets,
)
from firesteel.connectors.kafka.source.planning import PartitionPlanner, Unreachable
from firesteel.connectors.kafka.source.subscription import Subscription
from firesteel.functions.source import Split

A, B = KafkaTopicPartition("t", 0), KafkaTopicPartition("t", 1)
NONE = frozenset[str]()
EARLIEST, LATEST = KafkaOffsetsInitializer.earliest(), KafkaOffsetsInitializer.latest()


class MadeUpCluster:
    """Logs by partition, as their first and next offsets; `stable` are those up to which transactions are settled."""

    def __init__(self, logs: dict[KafkaTopicPartition, tuple[int, int]]) -> None:
        self.logs = dict(logs)
        self.ids = {one.topic: f"id of {one.topic}" for one in logs}
        self.stable: Offsets = {}
        self.times: dict[KafkaTopicPartition, list[int]] = {}
        self.group: Offsets = {}
        self.away = False
        self.seconds = 0.0
        self.commits: list[tuple[Offsets, Future[Any]]] = []

    def _answer(self, partitions: Collection[KafkaTopicPartition] = ()) -> None:
        if self.away:
            raise Unreachable("nobody there")
        if not self.logs.keys() >= {*partitions}:
            raise Unreachable("UNKNOWN_TOPIC_OR_PART", no_topic=True)

    def topics(self, wanted: Collection[str] | re.Pattern[str]) -> dict[str, Topic]:
        self._answer()
        names = {one.topic for one in self.logs}
        found = (
            {one for one in names if wanted.fullmatch(one)}
            if isinstance(wanted, re.Pattern)
            else names & {*wanted}
        )
        return {
            name: Topic(self.ids[name], sum(one.topic == name for one in self.logs)) for name in sorted(found)
        }

    def earliest(self, partitions: Collection[KafkaTopicPartition]) -> Offsets:
        self._answer(partitions)
        return {one: self.logs[one][0] for one in partitions}

    def latest(self, partitions: Collection[KafkaTopicPartition]) -> Offsets:
        self._answer(partitions)
        return {one: self.stable.get(one, self.logs[one][1]) for one in partitions}

    def at_time(self, partitions: Collection[KafkaTopicPartition], timestamp: int) -> Offsets:
        self._answer(partitions)
        later = {
            one: [n for n, time in enumerate(self.times.get(one, ())) if time >= timestamp]
            for one in partitions
        }
        return {one: offsets[0] for one, offsets in later.items() if offsets}

    def committed(self, partitions: Collection[KafkaTopicPartition]) -> Offsets:
        self._answer(partitions)
        return {one: self.group[one] for one in partitions if one in self.group}

    def bounds(
        self, partitions: Collection[KafkaTopicPartition]
    ) -> dict[KafkaTopicPartition, tuple[int, int]]:
        self._answer(partitions)
        return {one: self.logs[one] for one in partitions}

    def commit(self, offsets: Offsets) -> Future[Any]:
        self._answer()
        answer: Future[Any] = Future()
        self.commits.append((dict(offsets), answer))
        return answer

    def close(self) -> None:
        pass


def planner(
    cluster: MadeUpCluster,
    start: KafkaOffsetsInitializer = EARLIEST,
    stop: KafkaOffsetsInitializer | None = None,
    **subscription: Any,
) -> PartitionPlanner:
    subscribed = Subscription(**(subscription or {"topics": ("t",)}))
    return PartitionPlanner("source", subscribed, start, stop, cluster, 1000, lambda: cluster.seconds)


def found(made: PartitionPlanner, known: frozenset[str] = NONE) -> dict[str, tuple[int, int | None]]:
    return {one.id: (one.start, one.end) for one in made.splits(known) if one.payload is not None}


def splits(made: PartitionPlanner) -> dict[str, Split]:
    return {one.id: one for one in made.splits(NONE)}


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (EARLIEST, (5, 0)),
        (LATEST, (10, 20)),
        (KafkaOffsetsInitializer.timestamp(70), (7, 20)),
        (KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.LATEST), (8, 20)),
        (KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.EARLIEST), (8, 0)),
        (KafkaOffsetsInitializer.offsets({B: 4}), (8, 4)),
        (KafkaOffsetsInitializer.offsets({A: 2, B: 4}), (5, 4)),
        (KafkaOffsetsInitializer.offsets({A: 11, B: 4}, KafkaOffsetResetStrategy.LATEST), (10, 4)),
        (KafkaOffsetsInitializer.offsets({A: 10}), (10, 0)),
    ],
)
def test_starts(start: KafkaOffsetsInitializer, expected: tuple[int, int]) -> None:
    cluster = MadeUpCluster({A: (5, 10), B: (0, 20)})
    cluster.times = {A: [10 * n for n in range(10)], B: [*range(20)]}
    cluster.group = {A: 8}
    assert found(planner(cluster, start)) == {"t-0": (expected[0], None), "t-1": (expected[1], None)}


@pytest.mark.parametrize(
    ("start", "error"),
    [
        (KafkaOffsetsInitializer.committed_offsets(), "an offset that the group has committed of every"),
        (
            KafkaOffsetsInitializer.offsets({A: 3}, KafkaOffsetResetStrategy.NONE),
            "a given or a committed offset of every partition; got none for partition 1 of topic 't'",
        ),
        (
            KafkaOffsetsInitializer.offsets({A: 3, B: 0}, KafkaOffsetResetStrategy.NONE),
            "a start offset that its log has of every partition; got none for partition 0 of topic 't'",
        ),
    ],
)
def test_partitions_without_a_start(start: KafkaOffsetsInitializer, error: str) -> None:
    with pytest.raises(ConnectorError, match=error):
        planner(MadeUpCluster({A: (5, 10), B: (0, 20)}), start).splits(NONE)


def test_ends_are_those_of_the_start() -> None:
    cluster = MadeUpCluster({A: (5, 10), B: (0, 20)})
    assert found(planner(cluster, stop=LATEST)) == {"t-0": (5, 10), "t-1": (0, 20)}
    given = KafkaOffsetsInitializer.offsets({A: 3, B: 50})
    assert found(planner(cluster, stop=given)) == {"t-0": (5, 5), "t-1": (0, 50)}


def test_only_what_is_settled_is_read() -> None:
    cluster = MadeUpCluster({A: (0, 10)})
    cluster.stable = {A: 4}
    made = planner(cluster)
    split = splits(made)["t-0"]
    assert made.available(split, 0, now=0) == 4
    cluster.stable = {}
    assert made.available(split, 4, now=1) == 10


def test_a_partition_with_an_end_is_not_read_beyond_it() -> None:
    cluster = MadeUpCluster({A: (0, 10)})
    made = planner(cluster, stop=KafkaOffsetsInitializer.offsets({A: 12}))
    split = splits(made)["t-0"]
    assert made.available(split, 0, now=0) == 10
    cluster.logs[A] = (0, 30)
    assert made.available(split, 10, now=1) == 12


def test_later_partitions_and_topics_are_read_from_their_first_record() -> None:
    cluster = MadeUpCluster({A: (5, 10)})
    made = planner(cluster, LATEST, pattern="t.*")
    known = frozenset(one.id for one in made.splits(NONE))
    assert found(made, known) == {}
    cluster.logs |= {B: (2, 9), KafkaTopicPartition("tu", 0): (0, 3), KafkaTopicPartition("u", 0): (0, 3)}
    cluster.ids |= {"tu": "x", "u": "y"}
    assert found(made, known) == {"t-1": (2, None), "tu-0": (0, None)}


def test_topics_that_come_after_a_start_without_any_are_later_ones() -> None:
    cluster = MadeUpCluster({})
    known = frozenset(one.id for one in planner(cluster, LATEST, pattern="t").splits(NONE))
    cluster.logs, cluster.ids = {A: (0, 7)}, {"t": "x"}
    assert found(planner(cluster, LATEST, pattern="t"), known) == {"t-0": (0, None)}


@pytest.mark.parametrize(
    ("subscription", "missing"),
    [
        ({"topics": ("t", "u")}, "no topic 'u'"),
        ({"partitions": frozenset({A, KafkaTopicPartition("t", 7)})}, "no partition 7 of topic 't'"),
        ({"partitions": frozenset({KafkaTopicPartition("u", 0)})}, "no topic 'u'"),
    ],
)
def test_what_is_named_must_be_there(subscription: dict[str, Any], missing: str) -> None:
    with pytest.raises(ConnectorError, match=f"source requires topics that exist; got {missing}"):
        planner(MadeUpCluster({A: (0, 1)}), **subscription).splits(NONE)


def test_single_partitions() -> None:
    assert found(planner(MadeUpCluster({A: (0, 1), B: (0, 1)}), partitions=frozenset({B}))) == {
        "t-1": (0, None)
    }


def test_a_cluster_that_is_away_for_a_while() -> None:
    cluster = MadeUpCluster({A: (0, 10)})
    made = planner(cluster)
    split = splits(made)["t-0"]
    cluster.away = True
    assert made.available(split, 3, now=1) <= 3
    assert found(made, frozenset({"t-0"})) == {}
    cluster.seconds = 0.9
    assert made.available(split, 3, now=2) <= 3
    cluster.away = False
    assert made.available(split, 3, now=3) == 10
    cluster.away, cluster.seconds = True, 5.0
    assert made.available(split, 3, now=4) == 10
    cluster.seconds = 6.0
    with pytest.raises(ConnectorError, match="requires an answer of the cluster within 1 s; got nobody"):
        made.available(split, 3, now=5)


def test_a_cluster_that_is_away_at_first() -> None:
    cluster = MadeUpCluster({A: (0, 10)})
    cluster.away = True
    with pytest.raises(ConnectorError, match="requires an answer of the cluster within 1 s"):
        planner(cluster).splits(NONE)


def test_a_topic_that_goes() -> None:
    cluster = MadeUpCluster({A: (0, 10)})
    made = planner(cluster)
    split = splits(made)["t-0"]
    del cluster.logs[A]
    assert made.available(split, 3, now=0) == 3
    cluster.seconds = 1.0
    with pytest.raises(ConnectorError, match="requires topics that stay; got for 1 s one that is not there"):
        made.available(split, 3, now=1000)


@pytest.mark.parametrize("end", [2, 10, 50])
def test_a_topic_that_is_made_again(end: int) -> None:
    cluster = MadeUpCluster({A: (0, 10)})
    split = splits(planner(cluster))["t-0"]
    cluster.logs, cluster.ids = {A: (0, end)}, {"t": "another"}
    with pytest.raises(ConnectorError, match=r"got a topic that was made again \(its id is another"):
        planner(cluster).available(split, 5, now=0)


def test_a_topic_that_is_made_again_while_it_is_read() -> None:
    cluster = MadeUpCluster({A: (0, 10)})
    made = planner(cluster)
    split = splits(made)["t-0"]
    assert made.available(split, 0, now=0) == 10
    cluster.logs, cluster.ids = {A: (0, 12)}, {"t": "another"}
    with pytest.raises(ConnectorError, match="made again"):
        made.available(split, 10, now=1)


def test_a_log_that_has_lost_its_end() -> None:
    cluster = MadeUpCluster({A: (0, 10)})
    made = planner(cluster)
    split = splits(made)["t-0"]
    cluster.stable = {A: 4}
    assert made.available(split, 7, now=0) == 4
    cluster.logs[A] = (0, 4)
    with pytest.raises(ConnectorError, match="got a log that ends at offset 4, after it was read up to 7"):
        made.available(split, 7, now=1)


def test_offsets_for_the_group_go_one_request_after_the_other(caplog: pytest.LogCaptureFixture) -> None:
    cluster = MadeUpCluster({A: (0, 10)})
    progress = GroupProgress(cluster, "source")
    progress.advance({"t-0": 1, "#discovered": 0})
    progress.advance({"t-0": 2})
    progress.advance({"t-0": 3, "t-1": 1})
    assert [offsets for offsets, _ in cluster.commits] == [{A: 1}]
    cluster.commits[0][1].set_result(None)
    progress.advance({})
    assert [offsets for offsets, _ in cluster.commits[1:]] == [{A: 3, B: 1}]
    cluster.commits[1][1].set_exception(KafkaException(KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED)))
    cluster.away = True
    progress.advance({"t-0": 4})
    progress.advance({"t-0": 5})
    progress.close()
    assert caplog.text.count("could not be committed to the consumer group") == 1
    assert "GROUP_AUTHORIZATION_FAILED" in caplog.text


def test_the_last_offsets_are_sent_at_the_end() -> None:
    cluster = MadeUpCluster({A: (0, 10)})
    progress = GroupProgress(cluster, "source")
    progress.advance({"t-0": 1})
    progress.advance({"t-0": 2})
    for _, answer in cluster.commits:
        answer.set_result(None)
    cluster.commit = _answering(cluster)  # type: ignore[method-assign]
    progress.close()
    assert [offsets for offsets, _ in cluster.commits] == [{A: 1}, {A: 2}]


def _answering(cluster: MadeUpCluster) -> Any:
    def commit(offsets: Offsets) -> Future[Any]:
        answer: Future[Any] = Future()
        answer.set_result(None)
        cluster.commits.append((dict(offsets), answer))
        return answer

    return commit


def test_an_offset_that_no_leader_knows_is_no_answer():
    cluster = KafkaCluster((("bootstrap.servers", "127.0.0.1:1"),), "a source", False, None, 1.0)

    def list_offsets(request: Any, **_: Any) -> Any:
        offsets = {}
        for partition in request:
            offsets[partition] = Future[Any]()
            offsets[partition].set_result(SimpleNamespace(offset=OFFSET_INVALID))
        return offsets

    cluster._admin = SimpleNamespace(list_offsets=list_offsets)
    with pytest.raises(Unreachable, match="no leader that knows the offsets of partition 1 of topic 't'"):
        cluster.latest([B])
    cluster.close()

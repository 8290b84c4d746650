"""The driver's side of a source: which partitions there are, where they start, and how far they can be read now.

Nothing here talks to a broker itself; `Cluster` does.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from typing import Any, Final, NamedTuple, Protocol

from firesteel.common.errors import ConnectorError
from firesteel.connectors.kafka.partitions import KafkaTopicPartition, Topic
from firesteel.connectors.kafka.source.offsets import KafkaOffsetsInitializer, Offsets, OffsetsInCluster
from firesteel.connectors.kafka.source.subscription import Subscription
from firesteel.functions.source import Split

_MARK: Final = "#discovered"
"""A split without records: it says in the manifest that later partitions are new ones."""


class AssignedPartition(NamedTuple):
    """What a split carries: a partition, and the id that its topic had when it was found."""

    partition: KafkaTopicPartition
    topic_id: str


class Unreachable(Exception):  # noqa: N818 - it says that one has to wait; whether that is an error, time tells
    """The cluster does not answer now, or not yet; `no_topic` is whether it says that there is no such topic."""

    def __init__(self, reason: str, *, no_topic: bool = False) -> None:
        super().__init__(reason)
        self.no_topic = no_topic


class Cluster(OffsetsInCluster, Protocol):
    """What planning needs of a cluster. All methods raise `Unreachable`, or ConnectorError for what stays wrong."""

    def topics(self, wanted: Collection[str] | re.Pattern[str]) -> dict[str, Topic]:
        """Return the topics of some names, without those that are not there, or those that a pattern matches."""

    def commit(self, offsets: Offsets) -> Future[Any]:
        """Commit offsets for the consumer group, as where its reading goes on."""

    def close(self) -> None:
        """Release the connections."""


class PartitionPlanner:
    """Finds partitions, and how far they can be read.

    Contract: partitions that are found at first start at `start`, later ones at their first record. A partition has an
    end if there is a `stop`. Where the cluster does not answer, nothing can be read now; when it has not answered for
    `patience_ms`, ConnectorError is raised. It is raised, too, if a topic goes or is made again, and if a log is
    shorter than what has been read of it.
    """

    def __init__(
        self,
        who: str,
        subscription: Subscription,
        start: KafkaOffsetsInitializer,
        stop: KafkaOffsetsInitializer | None,
        cluster: Cluster,
        patience_ms: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._who = who
        self._subscription = subscription
        self._start = start
        self._stop = stop
        self._cluster = cluster
        self._patience_ms = patience_ms
        # A cluster takes its time whatever the job's clock says.
        self._clock = clock
        self._watched: dict[KafkaTopicPartition, str] = {}
        self._ends: Offsets = {}
        self._asked: int | None = None
        self._silent_since: float | None = None

    def splits(self, known: frozenset[str]) -> list[Split]:
        """Return the partitions that are not known yet."""
        first = not known
        try:
            topics = self._cluster.topics(self._subscription.wanted)
        except Unreachable as error:
            if first:
                raise self._silent(error) from error
            return []  # what is known is asked for all the time; that notices how long there is no answer
        missing = self._subscription.required(topics)
        if missing and first:
            raise ConnectorError("requires topics that exist", who=self._who, got=f"no {', '.join(missing)}")
        found = self._subscription.of(topics)
        self._watched.update((one, topics[one.topic].id) for one in found if one.topic in topics)
        new = [one for one in found if one.topic in topics and split_id(one) not in known]
        return [*([Split(_MARK, 0, 0)] if first else []), *self._new(new, topics, first)]

    def _new(
        self, partitions: list[KafkaTopicPartition], topics: dict[str, Topic], first: bool
    ) -> Iterable[Split]:
        try:
            starts = (
                self._start.starts(partitions, self._cluster) if first else self._cluster.earliest(partitions)
            )
            ends = self._stop.resolve(partitions, self._cluster) if self._stop else {}
        except Unreachable as error:
            if first:
                raise self._silent(error) from error
            return []
        return [
            Split(
                split_id(one),
                starts[one],
                max(ends[one], starts[one]) if one in ends else None,
                AssignedPartition(one, topics[one.topic].id),
            )
            for one in partitions
        ]

    def available(self, split: Split, position: int, now: int) -> int:
        """Return the offset up to which a partition can be read at the steady time `now`."""
        assigned: AssignedPartition = split.payload
        partition = assigned.partition
        if self._asked != now or partition not in self._watched:
            self._watched.setdefault(partition, assigned.topic_id)
            self._look(now)
        self._check_topic(assigned)
        end = self._ends.get(partition, position)
        if end < position:
            self._check_length(partition, position)
        return end if split.end is None else min(end, split.end)

    def _look(self, now: int) -> None:
        """Ask for the ends of all partitions; where there are new records, whether the topics are still the same."""
        self._asked = now
        try:
            ends = self._cluster.latest(self._watched)
            if ends != self._ends:
                topics = self._cluster.topics({one.topic for one in self._watched})
                self._watched = {
                    one: topics[one.topic].id if one.topic in topics else "" for one in self._watched
                }
        except Unreachable as error:
            if self._silent_since is None:
                self._silent_since = self._clock()
            if (self._clock() - self._silent_since) * 1000 >= self._patience_ms:
                raise self._silent(error) from error
            return
        self._ends, self._silent_since = ends, None

    def _check_topic(self, assigned: AssignedPartition) -> None:
        """Raise ConnectorError if a topic is another one than that which has been read."""
        now = self._watched[assigned.partition]
        if now and assigned.topic_id and now != assigned.topic_id:
            raise ConnectorError(
                f"requires the topic {assigned.partition.topic!r} that it has begun to read: offsets mean nothing in "
                "another one",
                who=self._who,
                got=f"a topic that was made again (its id is {now}, and was {assigned.topic_id})",
                hint="start the job with a new state directory, or with another uid of this source",
            )

    def _check_length(self, partition: KafkaTopicPartition, position: int) -> None:
        """Raise ConnectorError if a log is shorter than what has been read of it; an open transaction is no reason."""
        try:
            last = self._cluster.bounds([partition])[partition][1]
        except Unreachable:
            return  # the next look will tell
        if last < position:
            raise ConnectorError(
                f"requires a log that keeps what it has acknowledged, in {partition}",
                who=self._who,
                got=f"a log that ends at offset {last}, after it was read up to {position}",
                hint="brokers lose records when a replica that lags becomes the leader "
                "(unclean.leader.election.enable)",
            )

    def _silent(self, error: Unreachable) -> ConnectorError:
        seconds = f"{self._patience_ms / 1000:g} s"
        if error.no_topic:
            return ConnectorError(
                "requires topics that stay",
                who=self._who,
                got=f"for {seconds} one that is not there: {error}",
            )
        return ConnectorError(
            f"requires an answer of the cluster within {seconds}",
            who=self._who,
            got=str(error),
            hint="the property 'default.api.timeout.ms' says how long to wait",
        )


def split_id(partition: KafkaTopicPartition) -> str:
    """Return the id of a partition's split.

    >>> split_id(KafkaTopicPartition("orders", 3))
    'orders-3'
    """
    return f"{partition.topic}-{partition.partition}"


def partition_of(split: str) -> KafkaTopicPartition | None:
    """Return the partition of a split's id; None if it is of no partition.

    >>> partition_of("orders-3"), partition_of("#discovered")
    (KafkaTopicPartition(topic='orders', partition=3), None)
    """
    topic, _, number = split.rpartition("-")
    return KafkaTopicPartition(topic, int(number)) if topic else None

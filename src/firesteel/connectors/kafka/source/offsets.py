"""Where reading starts and stops (Flink: OffsetsInitializer)."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from firesteel.common.errors import ConfigurationError, ConnectorError
from firesteel.connectors.kafka.partitions import KafkaTopicPartition

Offsets = dict[KafkaTopicPartition, int]


class OffsetsInCluster(Protocol):
    """What a cluster knows about offsets."""

    def earliest(self, partitions: Collection[KafkaTopicPartition]) -> Offsets:
        """Return the offset of the first record that is there, or of the next one."""

    def latest(self, partitions: Collection[KafkaTopicPartition]) -> Offsets:
        """Return the offset up to which records can be read."""

    def at_time(self, partitions: Collection[KafkaTopicPartition], timestamp: int) -> Offsets:
        """Return the offset of the first record of that time or later; no offset where there is none."""

    def committed(self, partitions: Collection[KafkaTopicPartition]) -> Offsets:
        """Return the offsets that the consumer group has committed; no offset where it has none, or there is none."""

    def bounds(
        self, partitions: Collection[KafkaTopicPartition]
    ) -> dict[KafkaTopicPartition, tuple[int, int]]:
        """Return the first offset of each log, and the one that its next record gets."""


class KafkaOffsetResetStrategy(enum.Enum):
    """What to do where there is no offset, or one that has no record (PyFlink: KafkaOffsetResetStrategy)."""

    LATEST = 0
    EARLIEST = 1
    NONE = 2

    def resolve(
        self, partitions: Collection[KafkaTopicPartition], known: OffsetsInCluster, what: str
    ) -> Offsets:
        """Return the offsets of partitions without any. Raises ConnectorError for NONE; `what` is missing."""
        if not partitions:
            return {}
        if self is KafkaOffsetResetStrategy.EARLIEST:
            return known.earliest(partitions)
        if self is KafkaOffsetResetStrategy.LATEST:
            return known.latest(partitions)
        raise ConnectorError(
            f"requires {what} of every partition",
            who="KafkaSource",
            got=f"none for {', '.join(map(str, sorted(partitions)))}",
            hint="name a KafkaOffsetResetStrategy, or in SQL 'properties.auto.offset.reset', for such partitions",
        )


class KafkaOffsetsInitializer(ABC):
    """The offsets at which reading starts or stops (PyFlink: KafkaOffsetsInitializer); picklable.

    >>> KafkaOffsetsInitializer.timestamp(1_700_000_000_000)
    OffsetsAtTime(time=1700000000000)
    """

    needs_group = False
    """Whether there must be a consumer group."""

    @abstractmethod
    def resolve(self, partitions: Collection[KafkaTopicPartition], known: OffsetsInCluster) -> Offsets:
        """Return the offset of each partition. Raises ConnectorError where there is none."""

    def starts(self, partitions: Collection[KafkaTopicPartition], known: OffsetsInCluster) -> Offsets:
        """Return the offsets as those at which reading starts: the log must have them."""
        return self.resolve(partitions, known)

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        """Return the first records that are there."""
        return EarliestOffsets()

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        """Return the ends of the partitions."""
        return LatestOffsets()

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """Return the first records of a time or later (milliseconds since 1970), the end where there is none."""
        return OffsetsAtTime(timestamp)

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """Return what the consumer group has committed; the strategy is for partitions without that."""
        return CommittedOffsets(offset_reset_strategy)

    @staticmethod
    def offsets(
        offsets: Mapping[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """Return given offsets, for other partitions committed ones; the strategy is for those without either, and for
        offsets that are not there.
        """
        return GivenOffsets(dict(offsets), offset_reset_strategy)


@dataclass(frozen=True)
class EarliestOffsets(KafkaOffsetsInitializer):
    """The first records that are there."""

    def resolve(self, partitions: Collection[KafkaTopicPartition], known: OffsetsInCluster) -> Offsets:
        return known.earliest(partitions)


@dataclass(frozen=True)
class LatestOffsets(KafkaOffsetsInitializer):
    """The ends of the partitions."""

    def resolve(self, partitions: Collection[KafkaTopicPartition], known: OffsetsInCluster) -> Offsets:
        return known.latest(partitions)


@dataclass(frozen=True)
class OffsetsAtTime(KafkaOffsetsInitializer):
    """The first records of a time (milliseconds since 1970) or later."""

    time: int

    def resolve(self, partitions: Collection[KafkaTopicPartition], known: OffsetsInCluster) -> Offsets:
        found = known.at_time(partitions, self.time)
        return {**known.latest([one for one in partitions if one not in found]), **found}


@dataclass(frozen=True)
class CommittedOffsets(KafkaOffsetsInitializer):
    """What the consumer group has committed."""

    reset: KafkaOffsetResetStrategy
    needs_group = True

    def resolve(self, partitions: Collection[KafkaTopicPartition], known: OffsetsInCluster) -> Offsets:
        found = known.committed(partitions)
        left = [one for one in partitions if one not in found]
        return {
            **self.reset.resolve(left, known, "an offset that the group has committed"),
            **found,
        }

    def starts(self, partitions: Collection[KafkaTopicPartition], known: OffsetsInCluster) -> Offsets:
        return _within_log(self.resolve(partitions, known), self.reset, known)


@dataclass(frozen=True)
class GivenOffsets(KafkaOffsetsInitializer):
    """Offsets of some partitions."""

    given: Mapping[KafkaTopicPartition, int]
    reset: KafkaOffsetResetStrategy

    def __post_init__(self) -> None:
        for partition, offset in self.given.items():
            if offset < 0:
                raise ConfigurationError(
                    "requires offsets of at least 0", who="KafkaSource", got=f"{offset} for {partition}"
                )

    def resolve(self, partitions: Collection[KafkaTopicPartition], known: OffsetsInCluster) -> Offsets:
        found = {one: self.given[one] for one in partitions if one in self.given}
        others = [one for one in partitions if one not in found]
        found |= known.committed(others)
        left = [one for one in others if one not in found]
        return {
            **self.reset.resolve(left, known, "a given or a committed offset"),
            **found,
        }

    def starts(self, partitions: Collection[KafkaTopicPartition], known: OffsetsInCluster) -> Offsets:
        return _within_log(self.resolve(partitions, known), self.reset, known)


def _within_log(offsets: Offsets, reset: KafkaOffsetResetStrategy, known: OffsetsInCluster) -> Offsets:
    """Return start offsets; those for which their partition has no record, nor will have the next one, are reset."""
    bounds = known.bounds(offsets)
    outside = [one for one, offset in offsets.items() if not bounds[one][0] <= offset <= bounds[one][1]]
    return {**offsets, **reset.resolve(outside, known, "a start offset that its log has")}

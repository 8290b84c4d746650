"""A source's connections in one process: the driver plans with them, a worker reads with them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from firesteel.connectors.kafka.source.settings import KafkaSourceSettings
from firesteel.functions.source import Boundedness, Source, Split

if TYPE_CHECKING:
    from firesteel.connectors.kafka.source.cluster import KafkaCluster
    from firesteel.connectors.kafka.source.group_progress import GroupProgress
    from firesteel.connectors.kafka.source.planning import PartitionPlanner
    from firesteel.connectors.kafka.source.reading import Messages, PartitionReader

_REQUEST_S: Final = 5.0
"""How long one request of a running job may hold up the driver."""

_NEVER_MS: Final = 1 << 62


class TopicAccess:
    """Opens connections when they are needed; picklable, without them. `close` may be called any number of times."""

    def __init__(self, settings: KafkaSourceSettings) -> None:
        self.settings = settings
        self._forget()

    def __getstate__(self) -> KafkaSourceSettings:
        return self.settings

    def __setstate__(self, settings: KafkaSourceSettings) -> None:
        self.__init__(settings)  # type: ignore[misc]

    def _forget(self) -> None:
        self._cluster: KafkaCluster | None = None
        self._planner: PartitionPlanner | None = None
        self._progress: GroupProgress | None = None
        self._reader: PartitionReader | None = None

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return the partitions that are not known yet (driver)."""
        planner = self._planned()
        assert self._cluster is not None
        # At first there is nothing else to do; later, other sources and requests would wait.
        self._cluster.timeout = _REQUEST_S if known else self.settings.patience_ms / 1000
        try:
            return planner.splits(known)
        finally:
            self._cluster.timeout = _REQUEST_S

    def available(self, split: Split, position: int, now: int) -> int:
        """Return how far a partition can be read now (driver)."""
        return self._planned().available(split, position, now)

    def committed(self, positions: Mapping[str, int]) -> None:
        """Tell the group how far an epoch that is committed has read (driver)."""
        if self._progress is not None:
            self._progress.advance(positions)

    def messages(self, split: Split, start: int, end: int) -> Iterator[Messages]:
        """Yield the messages of a range (worker)."""
        if self._reader is None:
            self._reader = _opening().open_reader(self.settings)
        return self._reader.batches(split.payload.partition, start, end)

    def close(self) -> None:
        """Close the connections."""
        for opened in (self._progress, self._cluster, self._reader):
            if opened is not None:
                opened.close()
        self._forget()

    def _planned(self) -> PartitionPlanner:
        if self._planner is None:
            self._cluster, self._planner, self._progress = _opening().open_planning(self.settings, _REQUEST_S)
        return self._planner


class TopicSource(Source[Any]):
    """What sources of topics have in common; `_access` is their way to the partitions."""

    def __init__(self, settings: KafkaSourceSettings) -> None:
        self._access = TopicAccess(settings)
        self.discovery_interval = settings.discovery_ms or _NEVER_MS

    @property
    def settings(self) -> KafkaSourceSettings:
        """What is read."""
        return self._access.settings

    @property
    def boundedness(self) -> Boundedness:
        """BOUNDED if reading stops at some offsets."""
        return self.settings.boundedness

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return the partitions that are not known yet."""
        return self._access.splits(known)

    def available(self, split: Split, position: int, now: int) -> int:
        """Return the offset up to which a partition can be read now."""
        return self._access.available(split, position, now)

    def committed(self, positions: Mapping[str, int]) -> None:
        """Commit the offsets to the consumer group."""
        self._access.committed(positions)

    def close(self) -> None:
        """Close the connections."""
        self._access.close()


def _opening() -> Any:
    """Return the module that needs the client, which may not be installed where a program is built."""
    return importlib.import_module("firesteel.connectors.kafka.source.opening")

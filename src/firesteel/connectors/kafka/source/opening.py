"""Opens the connections of a source."""

from __future__ import annotations

from firesteel.connectors.kafka.source.cluster import KafkaCluster
from firesteel.connectors.kafka.source.group_progress import GroupProgress
from firesteel.connectors.kafka.source.planning import PartitionPlanner
from firesteel.connectors.kafka.source.reading import PartitionReader
from firesteel.connectors.kafka.source.settings import KafkaSourceSettings


def open_planning(
    settings: KafkaSourceSettings, request_s: float
) -> tuple[KafkaCluster, PartitionPlanner, GroupProgress | None]:
    """Return what the driver needs; a request may take `request_s` seconds."""
    who, group = settings.who, settings.group
    cluster = KafkaCluster(settings.properties, who, settings.committed_only, group, request_s)
    planner = PartitionPlanner(
        who, settings.subscription, settings.start, settings.stop, cluster, settings.patience_ms
    )
    return cluster, planner, GroupProgress(cluster, who) if settings.commits and group else None


def open_reader(settings: KafkaSourceSettings) -> PartitionReader:
    """Return what a worker needs."""
    patience_s = settings.patience_ms / 1000
    return PartitionReader(settings.properties, settings.who, patience_s, forgiving=settings.forgiving)

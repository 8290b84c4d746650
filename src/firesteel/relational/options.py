"""What a plan depends on besides the query: the options of the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from firesteel.common.errors import ConfigurationError
from firesteel.relational.option_values import count, duration, size, truth
from firesteel.relational.sink_options import SinkOptions

if TYPE_CHECKING:
    from firesteel.relational.estimates.sizes import Estimate
    from firesteel.relational.logical.nodes import LogicalNode


_ADAPTIVE: Final = "execution.batch.adaptive.auto-parallelism"
_SMALL: Final = 4 << 20


@dataclass(frozen=True)
class PlanOptions:
    """How to plan; the names of the options are Flink's.

    `batch` is the mode of the session, `zone` its time zone. `state_ttl` (milliseconds, None: for ever) is
    'table.exec.state.ttl'. `two_phase` is whether groups are aggregated before the exchange, too
    ('table.optimizer.agg-phase-strategy'). `idle_timeout` (milliseconds, None: never) is
    'table.exec.source.idle-timeout'. `split_distinct` is 'table.optimizer.distinct-agg.split.enabled',
    `distinct_buckets` how many parts a group has then. `parallelism` is that of the job; None if it is not known yet.
    `duplicates` is 'table.exec.source.cdc-events-duplicate'.
    `lookup_capacity` and `lookup_timeout` (milliseconds) are 'table.exec.async-lookup.buffer-capacity' and
    'table.exec.async-lookup.timeout'. `reorders_joins` is 'table.optimizer.join-reorder-enabled', `most_reordered`
    'table.optimizer.bushy-join-reorder-threshold'. In BATCH mode, inputs of up to `small` bytes are read by one
    subtask: 'execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task'. `sizes` says how many rows a relation
    will have (None: that cannot be known).
    """

    batch: bool = False
    zone: str = "UTC"
    state_ttl: int | None = None
    two_phase: bool = True
    split_distinct: bool = False
    distinct_buckets: int = 1024
    idle_timeout: int | None = None
    sinks: SinkOptions = field(default_factory=SinkOptions)
    parallelism: int | None = None
    duplicates: bool = False
    lookup_capacity: int = 100
    lookup_timeout: int = 180_000
    reorders_joins: bool = False
    most_reordered: int = 12
    small: int = 0
    sizes: Callable[[LogicalNode], Estimate] | None = field(default=None, compare=False, repr=False)

    @staticmethod
    def of(options: Mapping[str, str], *, batch: bool, zone: str) -> PlanOptions:
        """Return what the session's options say.

        Raises ConfigurationError for a value that an option cannot have.

        >>> PlanOptions.of({"table.exec.state.ttl": "1 h"}, batch=False, zone="UTC").state_ttl
        3600000
        """
        strategy = options.get("table.optimizer.agg-phase-strategy", "AUTO").upper()
        if strategy not in ("AUTO", "ONE_PHASE", "TWO_PHASE"):
            raise ConfigurationError(
                "takes AUTO, ONE_PHASE or TWO_PHASE",
                who="option 'table.optimizer.agg-phase-strategy'",
                got=strategy,
            )
        return PlanOptions(
            batch,
            zone,
            duration(options, "table.exec.state.ttl"),
            strategy != "ONE_PHASE",
            truth(options, "table.optimizer.distinct-agg.split.enabled"),
            count(options, "table.optimizer.distinct-agg.split.bucket-num", 1024),
            duration(options, "table.exec.source.idle-timeout"),
            SinkOptions.of(options),
            duplicates=truth(options, "table.exec.source.cdc-events-duplicate"),
            lookup_capacity=count(options, "table.exec.async-lookup.buffer-capacity", 100),
            lookup_timeout=duration(options, "table.exec.async-lookup.timeout") or 180_000,
            reorders_joins=truth(options, "table.optimizer.join-reorder-enabled"),
            most_reordered=count(options, "table.optimizer.bushy-join-reorder-threshold", 12),
            small=_small(options),
        )


def _small(options: Mapping[str, str]) -> int:
    """Return the bytes up to which an input has one subtask: none if the session says how many there are."""
    chosen = truth(options, f"{_ADAPTIVE}.enabled", default=True)
    if not chosen or options.get("table.exec.resource.default-parallelism", "-1") != "-1":
        return 0
    return size(options, f"{_ADAPTIVE}.avg-data-volume-per-task", _SMALL)

"""What a plan depends on besides the query: the options of the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from firesteel.common.errors import ConfigurationError
from firesteel.functions.columns.python_functions import AsyncCalls
from firesteel.relational.option_values import choice, count, duration, size, truth
from firesteel.relational.sink_options import SinkOptions

if TYPE_CHECKING:
    from firesteel.relational.estimates.sizes import Estimate
    from firesteel.relational.logical.nodes import LogicalNode


_ADAPTIVE: Final = "execution.batch.adaptive.auto-parallelism"
_AWAITED: Final = "table.exec.async-scalar"
_MOST_CALLS: Final = (f"{_AWAITED}.max-concurrent-operations", f"{_AWAITED}.buffer-capacity")
_SMALL: Final = 4 << 20
_EVERYWHERE: Final = 10 << 20


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
    'table.exec.async-lookup.timeout'. `awaited` is 'table.exec.async-scalar.*'. `reorders_joins` is
    'table.optimizer.join-reorder-enabled', `most_reordered` 'table.optimizer.bushy-join-reorder-threshold'. In BATCH
    mode, inputs of up to `small` bytes are read by one subtask:
    'execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task'. Sides of joins of up to `most_everywhere`
    bytes are in every subtask there: 'table.optimizer.join.broadcast-threshold' (-1: none). `sizes` says how many rows
    a relation will have (None: that cannot be known).
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
    awaited: AsyncCalls = field(default_factory=AsyncCalls)
    reorders_joins: bool = False
    most_reordered: int = 12
    small: int = 0
    most_everywhere: int = 0
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
            awaited=_awaited(options),
            reorders_joins=truth(options, "table.optimizer.join-reorder-enabled"),
            most_reordered=count(options, "table.optimizer.bushy-join-reorder-threshold", 12),
            small=_small(options),
            most_everywhere=_everywhere(options),
        )


def _awaited(options: Mapping[str, str]) -> AsyncCalls:
    """Return how scalar functions are awaited; the older name of the most calls is known, too, as in Flink."""
    most = next((name for name in _MOST_CALLS if name in options), _MOST_CALLS[0])
    again = choice(options, f"{_AWAITED}.retry-strategy", "FIXED_DELAY", "NO_RETRY") == "FIXED_DELAY"
    delay = f"{_AWAITED}.retry-delay"
    return AsyncCalls(
        count(options, most, 10),
        duration(options, f"{_AWAITED}.timeout") or 180_000,
        count(options, f"{_AWAITED}.max-attempts", 3) if again else 0,
        (duration(options, delay) or 0) if delay in options else 100,
    )


def _everywhere(options: Mapping[str, str]) -> int:
    """Return the bytes up to which a side of a join is in every subtask; Flink writes -1 for none."""
    key = "table.optimizer.join.broadcast-threshold"
    return 0 if options.get(key) == "-1" else size(options, key, _EVERYWHERE)


def _small(options: Mapping[str, str]) -> int:
    """Return the bytes up to which an input has one subtask: none if the session says how many there are."""
    chosen = truth(options, f"{_ADAPTIVE}.enabled", default=True)
    if not chosen or options.get("table.exec.resource.default-parallelism", "-1") != "-1":
        return 0
    return size(options, f"{_ADAPTIVE}.avg-data-volume-per-task", _SMALL)

"""What a plan depends on besides the query: the options of the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from firesteel.common.errors import ConfigurationError
from firesteel.common.quantities import duration_ms


@dataclass(frozen=True)
class PlanOptions:
    """How to plan; the names of the options are Flink's.

    `batch` is the mode of the session, `zone` its time zone. `state_ttl` (milliseconds, None: for ever) is
    'table.exec.state.ttl'. `two_phase` is whether groups are aggregated before the exchange, too
    ('table.optimizer.agg-phase-strategy'). `idle_timeout` (milliseconds, None: never) is
    'table.exec.source.idle-timeout'. `split_distinct` is 'table.optimizer.distinct-agg.split.enabled',
    `distinct_buckets` how many parts a group has then.
    """

    batch: bool = False
    zone: str = "UTC"
    state_ttl: int | None = None
    two_phase: bool = True
    split_distinct: bool = False
    distinct_buckets: int = 1024
    idle_timeout: int | None = None

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
            _duration(options, "table.exec.state.ttl"),
            strategy != "ONE_PHASE",
            _truth(options, "table.optimizer.distinct-agg.split.enabled"),
            _count(options, "table.optimizer.distinct-agg.split.bucket-num", 1024),
            _duration(options, "table.exec.source.idle-timeout"),
        )


def _duration(options: Mapping[str, str], key: str) -> int | None:
    return duration_ms(key, options[key]) or None if key in options else None


def _truth(options: Mapping[str, str], key: str) -> bool:
    text = options.get(key, "false").lower()
    if text not in ("true", "false"):
        raise ConfigurationError("takes true or false", who=f"option {key!r}", got=options[key])
    return text == "true"


def _count(options: Mapping[str, str], key: str, default: int) -> int:
    text = options.get(key, str(default))
    if not text.isdecimal() or not int(text):
        raise ConfigurationError("takes a number above 0", who=f"option {key!r}", got=text)
    return int(text)

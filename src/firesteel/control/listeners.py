"""What a running job reports to its listeners."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from firesteel.common.log_context import at_epoch, current_log_context, logging_for
from firesteel.control.views.metrics import JobMetrics

_DAY_MS: Final = 86_400_000


def lag_of(watermark: int | None, now: int) -> int | None:
    """Return how far a watermark is behind the wall clock: `EpochStats.lag_ms`."""
    if watermark is None:
        return None
    lag = max(0, now - watermark)
    return lag if lag <= _DAY_MS else None


def _no_metrics() -> None:
    return None


@dataclass(frozen=True, slots=True)
class EpochStats:
    """One committed epoch: durations and times in milliseconds, `watermark` the lowest of all sources (None: none yet).

    `metrics` returns the operators' metrics so far; they are computed only if you call it. `lag_ms` is how far the
    watermark is behind the wall clock. It is None without a watermark, and if that is more than a day behind: history
    that is read again has no lag.
    """

    epoch: int
    records_in: int
    records_out: int
    duration_ms: float
    watermark: int | None
    lag_ms: int | None
    finished: bool
    metrics: Callable[[], JobMetrics | None] = _no_metrics


class JobListener(Protocol):
    """Watches a job. It is called on the job's own thread, so it must be quick."""

    def on_epoch(self, stats: EpochStats) -> None:
        """Handle the fact that an epoch has been committed and published; at the latest when the next one has run."""


def tell(listeners: Iterable[JobListener], stats: EpochStats) -> None:
    """Call listeners; what they log is of the epoch that they are told of, though the next one may have begun."""
    with logging_for(current_log_context()):
        at_epoch(stats.epoch)
        for listener in listeners:
            listener.on_epoch(stats)

"""When a part file ends and the next one begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from firesteel.common.errors import ConfigurationError

DEFAULT_PART_SIZE: Final = 128 << 20
DEFAULT_INTERVAL: Final = 60_000


@dataclass(frozen=True, slots=True)
class RollingPolicy:
    """Ends a part with the epoch (`every_epoch`), or by its size in bytes, its age or its idleness in milliseconds.

    Sizes are checked before each record, so a part is at most one record larger than `part_size`; times are checked
    once per epoch. Raises ConfigurationError for a limit below 1. Source of the semantics: Flink's DefaultRollingPolicy
    and OnCheckpointRollingPolicy.

    >>> RollingPolicy.default().rolls_by_time(created=0, written=0, now=60_000)
    True
    """

    every_epoch: bool = False
    part_size: int | None = None
    rollover_interval: int | None = None
    inactivity_interval: int | None = None

    def __post_init__(self) -> None:
        for name in ("part_size", "rollover_interval", "inactivity_interval"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigurationError(
                    f"requires {name} to be at least 1", who="the rolling policy", got=str(value)
                )

    @staticmethod
    def default(
        part_size: int = DEFAULT_PART_SIZE,
        rollover_interval: int = DEFAULT_INTERVAL,
        inactivity_interval: int = DEFAULT_INTERVAL,
    ) -> RollingPolicy:
        """Return a policy by size, age and idleness."""
        return RollingPolicy(False, part_size, rollover_interval, inactivity_interval)

    @staticmethod
    def on_epoch() -> RollingPolicy:
        """Return a policy that ends a part with every epoch, and only then."""
        return RollingPolicy(every_epoch=True)

    def rolls_by_time(self, created: int, written: int, now: int) -> bool:
        """Return whether a part with these times of creation and last write ends at processing time `now`."""
        due = self.due(created, written)
        return due is not None and now >= due

    def due(self, created: int, written: int) -> int | None:
        """Return the processing time at which such a part ends; None if time does not end it."""
        times = []
        if self.rollover_interval is not None:
            times.append(created + self.rollover_interval)
        if self.inactivity_interval is not None:
            times.append(written + self.inactivity_interval)
        return min(times, default=None)

    def rolls_with_epoch(self, size: int) -> bool:
        """Return whether a part of this size ends with the epoch."""
        return self.every_epoch or (self.part_size is not None and size > self.part_size)

"""The checkpointing options of programs.

Every epoch ends in a checkpoint, so checkpointing is always on: the interval is an upper limit for the length of
epochs. Options of the mechanics of Flink's barriers are stored and returned, and have no effect.
"""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import ConfigurationError
from firesteel.common.time import Duration
from firesteel.datastream.checkpointing_mode import CheckpointingMode
from firesteel.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention

__all__ = ["CheckpointConfig"]

_ANY_NUMBER: Final = 2**31 - 1


class CheckpointConfig:
    """The checkpointing options of an environment; times are milliseconds, setters return the config.

    >>> config = CheckpointConfig().set_checkpoint_interval(500)
    >>> config.is_checkpointing_enabled(), config.get_checkpoint_timeout()
    (True, 600000)
    """

    def __init__(self) -> None:
        self._mode = CheckpointingMode.EXACTLY_ONCE
        self._interval = -1
        self._timeout = 600_000
        self._min_pause = 0
        self._max_concurrent = 1
        self._tolerable_failures = 0
        self._retention = ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
        self._unaligned = False
        self._force_unaligned = False
        self._alignment_timeout = Duration.of_millis(0)

    def is_checkpointing_enabled(self) -> bool:
        """Return whether the program set an interval."""
        return self._interval > 0

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return the requested guarantee."""
        return self._mode

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        """Request a guarantee; the guarantee is always EXACTLY_ONCE."""
        self._mode = CheckpointingMode(checkpointing_mode)
        return self

    def get_checkpoint_interval(self) -> int:
        """Return the interval, -1 if none was set."""
        return self._interval

    def set_checkpoint_interval(self, checkpoint_interval: int) -> CheckpointConfig:
        """Set the target for the longest time of an epoch; at least 10 (Flink: the same limit)."""
        self._interval = _at_least(10, "set_checkpoint_interval", checkpoint_interval)
        return self

    def get_checkpoint_timeout(self) -> int:
        """Return the timeout."""
        return self._timeout

    def set_checkpoint_timeout(self, checkpoint_timeout: int) -> CheckpointConfig:
        """Set the timeout; at least 10. No effect: the time of an epoch is not limited."""
        self._timeout = _at_least(10, "set_checkpoint_timeout", checkpoint_timeout)
        return self

    def get_min_pause_between_checkpoints(self) -> int:
        """Return the pause."""
        return self._min_pause

    def set_min_pause_between_checkpoints(self, min_pause_between_checkpoints: int) -> CheckpointConfig:
        """Set the pause. No effect: the option `epoch.min-interval` of Firesteel keeps epochs apart."""
        self._min_pause = _at_least(0, "set_min_pause_between_checkpoints", min_pause_between_checkpoints)
        return self

    def get_max_concurrent_checkpoints(self) -> int:
        """Return the number."""
        return self._max_concurrent

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> CheckpointConfig:
        """Set the number. No effect: there is one epoch at a time."""
        self._max_concurrent = _at_least(1, "set_max_concurrent_checkpoints", max_concurrent_checkpoints)
        return self

    def is_fail_on_checkpointing_errors(self) -> bool:
        """Return whether no checkpoint may fail."""
        return self._tolerable_failures == 0

    def set_fail_on_checkpointing_errors(self, fail_on_checkpointing_errors: bool) -> CheckpointConfig:
        """Set that no checkpoint or any number of them may fail. No effect: a failed epoch runs again."""
        return self.set_tolerable_checkpoint_failure_number(
            0 if fail_on_checkpointing_errors else _ANY_NUMBER
        )

    def get_tolerable_checkpoint_failure_number(self) -> int:
        """Return the number."""
        return self._tolerable_failures

    def set_tolerable_checkpoint_failure_number(
        self, tolerable_checkpoint_failure_number: int
    ) -> CheckpointConfig:
        """Set how many checkpoints may fail. No effect: a failed epoch runs again."""
        number = tolerable_checkpoint_failure_number
        self._tolerable_failures = _at_least(0, "set_tolerable_checkpoint_failure_number", number)
        return self

    def set_externalized_checkpoint_retention(
        self, retention_mode: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        """Set the fate of checkpoints when the job is cancelled. No effect: they stay."""
        self._retention = ExternalizedCheckpointRetention(retention_mode)
        return self

    def is_externalized_checkpoints_enabled(self) -> bool:
        """Return whether a retention was set."""
        return self._retention is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention | None:
        """Return the retention."""
        return self._retention

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Return the value that was set."""
        return self._unaligned

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> CheckpointConfig:
        """Set whether barriers overtake records. No effect: there are no barriers."""
        self._unaligned = bool(enabled)
        return self

    def disable_unaligned_checkpoints(self) -> CheckpointConfig:
        """Undo `enable_unaligned_checkpoints`."""
        return self.enable_unaligned_checkpoints(False)

    def set_aligned_checkpoint_timeout(self, alignment_timeout: Duration) -> CheckpointConfig:
        """Set the timeout. No effect: there are no barriers."""
        self._alignment_timeout = alignment_timeout
        return self

    def get_aligned_checkpoint_timeout(self) -> Duration:
        """Return the timeout."""
        return self._alignment_timeout

    def set_alignment_timeout(self, alignment_timeout: Duration) -> CheckpointConfig:
        """Do the same as `set_aligned_checkpoint_timeout`."""
        return self.set_aligned_checkpoint_timeout(alignment_timeout)

    def get_alignment_timeout(self) -> Duration:
        """Return the timeout."""
        return self._alignment_timeout

    def set_force_unaligned_checkpoints(self, force_unaligned_checkpoints: bool = True) -> CheckpointConfig:
        """Set whether barriers always overtake records. No effect: there are no barriers."""
        self._force_unaligned = bool(force_unaligned_checkpoints)
        return self

    def is_force_unaligned_checkpoints(self) -> bool:
        """Return the value that was set."""
        return self._force_unaligned


def _at_least(least: int, who: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise ConfigurationError(f"requires a whole number of at least {least}", who=who, got=repr(value))

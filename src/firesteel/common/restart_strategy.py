"""Strategies for a failed epoch of a job (Flink: RestartStrategies)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import timedelta
from typing import Any

from firesteel.common.errors import ConfigurationError

__all__ = ["RestartStrategies", "RestartStrategyConfiguration"]


class RestartStrategyConfiguration(ABC):
    """A restart strategy; two are equal if kind and settings are."""

    @abstractmethod
    def get_description(self) -> str:
        """Return a description for people."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self).__name__, *sorted(vars(self).items())))

    def __repr__(self) -> str:
        return f"<{self.get_description()}>"


def _interval(value: timedelta | int | None, name: str) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return timedelta(milliseconds=value)
    raise ConfigurationError(
        "requires milliseconds as an int, or a datetime.timedelta",
        who=f"restart strategy, {name}",
        got=f"{type(value).__name__}: {value!r}",
    )


def _count(value: Any, name: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ConfigurationError(
        "requires a whole number that is not negative",
        who=f"restart strategy, {name}",
        got=f"{type(value).__name__}: {value!r}",
    )


def _iso(value: timedelta) -> str:
    """Return a duration as java.time.Duration prints it."""
    minutes, seconds = divmod(value, timedelta(minutes=1))
    hours, minutes = divmod(minutes, 60)
    second_text = f"{seconds.total_seconds():f}".rstrip("0").rstrip(".")
    parts = [
        f"{hours}H" if hours else "",
        f"{minutes}M" if minutes else "",
        f"{second_text}S" if seconds else "",
    ]
    return f"PT{''.join(parts) or '0S'}"


class RestartStrategies:
    """Creates restart strategies; intervals are milliseconds or a datetime.timedelta.

    >>> RestartStrategies.fixed_delay_restart(3, 1000).get_description()
    'Restart with fixed delay (PT1S). #3 restart attempts.'
    """

    class NoRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The job fails with its first failed epoch."""

        def get_description(self) -> str:
            """Return a description for people."""
            return "Restart deactivated."

    class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """A fixed number of restarts, with a pause before each. Raises ConfigurationError for non-numbers."""

        def __init__(
            self,
            restart_attempts: int | None = None,
            delay_between_attempts_interval: timedelta | int | None = None,
        ) -> None:
            self._restart_attempts = _count(restart_attempts, "restart_attempts")
            self._delay = _interval(delay_between_attempts_interval, "delay_between_attempts_interval")

        def get_restart_attempts(self) -> int:
            """Return the number of restarts."""
            return self._restart_attempts

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return the pause before a restart."""
            return self._delay

        def get_description(self) -> str:
            """Return a description for people."""
            return (
                f"Restart with fixed delay ({_iso(self._delay)}). #{self._restart_attempts} restart attempts."
            )

    class FailureRateRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Restarts without limit, unless too many fall into an interval. Raises ConfigurationError for non-numbers."""

        def __init__(
            self,
            max_failure_rate: int | None = None,
            failure_interval: timedelta | int | None = None,
            delay_between_attempts_interval: timedelta | int | None = None,
        ) -> None:
            self._max_failure_rate = _count(max_failure_rate, "max_failure_rate")
            self._failure_interval = _interval(failure_interval, "failure_interval")
            self._delay = _interval(delay_between_attempts_interval, "delay_between_attempts_interval")

        def get_max_failure_rate(self) -> int:
            """Return how many failures an interval may have."""
            return self._max_failure_rate

        def get_failure_interval(self) -> timedelta:
            """Return the interval."""
            return self._failure_interval

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return the pause before a restart."""
            return self._delay

        def get_description(self) -> str:
            """Return a description for people."""
            return (
                f"Failure rate restart with maximum of {self._max_failure_rate} failures within interval "
                f"{_iso(self._failure_interval)} and fixed delay {_iso(self._delay)}."
            )

    class FallbackRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The strategy of the job's settings."""

        def get_description(self) -> str:
            """Return a description for people."""
            return "Cluster level default restart strategy"

    @staticmethod
    def no_restart() -> NoRestartStrategyConfiguration:
        """Return the strategy in which the first failed epoch fails the job."""
        return RestartStrategies.NoRestartStrategyConfiguration()

    @staticmethod
    def fall_back_restart() -> FallbackRestartStrategyConfiguration:
        """Return the strategy of the job's settings."""
        return RestartStrategies.FallbackRestartStrategyConfiguration()

    @staticmethod
    def fixed_delay_restart(
        restart_attempts: int, delay_between_attempts: int | timedelta
    ) -> FixedDelayRestartStrategyConfiguration:
        """Return the strategy with this number of restarts, with a pause before each."""
        return RestartStrategies.FixedDelayRestartStrategyConfiguration(
            restart_attempts, delay_between_attempts
        )

    @staticmethod
    def failure_rate_restart(
        failure_rate: int, failure_interval: int | timedelta, delay_interval: int | timedelta
    ) -> FailureRateRestartStrategyConfiguration:
        """Return the strategy that restarts unless more than `failure_rate` failures fall into `failure_interval`."""
        return RestartStrategies.FailureRateRestartStrategyConfiguration(
            failure_rate, failure_interval, delay_interval
        )

"""Asynchronous functions: many calls to an external service in flight at once, with timeouts and retries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, Generic, TypeVar

from firesteel.common.errors import ProgramError
from firesteel.functions.base import Function

__all__ = [
    "NO_RETRY_STRATEGY",
    "AsyncFunction",
    "AsyncFunctionDescriptor",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "ExponentialBackoffDelayRetryStrategy",
    "FixedDelayRetryStrategy",
    "NoRetryStrategy",
    "RetryPredicate",
    "empty_result_predicate",
    "exception_type_predicate",
    "has_exception_predicate",
]

IN = TypeVar("IN")
OUT = TypeVar("OUT")

ResultPredicate = Callable[[list[Any]], bool]
ExceptionPredicate = Callable[[Exception], bool]


class AsyncFunction(Function, Generic[IN, OUT]):
    """Turns each record into a list of records in a coroutine.

    >>> class Lookup(AsyncFunction):
    ...     async def async_invoke(self, value):
    ...         return [(value, await self.client.get(value))]
    """

    @abstractmethod
    async def async_invoke(self, value: IN) -> list[OUT]:
        """Return the records that `value` becomes. An exception is retried by the strategy, or it fails the job."""

    def timeout(self, value: IN) -> list[OUT]:
        """Return the records to emit for a record whose call timed out. Raises TimeoutError unless overridden."""
        raise TimeoutError(f"Async function call has timed out for input: {value}")


class AsyncRetryPredicate(ABC, Generic[OUT]):
    """Decides which results and which exceptions are retried."""

    @abstractmethod
    def result_predicate(self) -> Callable[[list[OUT]], bool] | None:
        """Return a function of a call's result that is true if the call is to be retried, or None for never."""

    @abstractmethod
    def exception_predicate(self) -> ExceptionPredicate | None:
        """Return a function of a call's exception that is true if the call is to be retried, or None for never."""


class RetryPredicate(AsyncRetryPredicate[OUT]):
    """A predicate of two functions, each of which may be None."""

    def __init__(
        self,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: ExceptionPredicate | None,
    ) -> None:
        self._result_predicate = result_predicate
        self._exception_predicate = exception_predicate

    def result_predicate(self) -> Callable[[list[OUT]], bool] | None:
        """Return the function of results."""
        return self._result_predicate

    def exception_predicate(self) -> ExceptionPredicate | None:
        """Return the function of exceptions."""
        return self._exception_predicate


class AsyncRetryStrategy(ABC, Generic[OUT]):
    """Decides how often, and after which delay, a call is retried. Attempts are counted from 1."""

    @abstractmethod
    def can_retry(self, current_attempts: int) -> bool:
        """Return whether a call that was tried `current_attempts` times may be retried."""

    @abstractmethod
    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the delay before the next try, in milliseconds."""

    @abstractmethod
    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return the predicate that decides whether a retry is needed."""

    @staticmethod
    def no_restart() -> AsyncRetryStrategy[Any]:
        """Return the strategy that never retries."""
        return NO_RETRY_STRATEGY

    @staticmethod
    def fixed_delay(
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: ResultPredicate | None,
        exception_predicate: ExceptionPredicate | None,
    ) -> AsyncRetryStrategy[Any]:
        """Return a strategy of up to `max_attempts` retries, `backoff_time_millis` apart.

        >>> strategy = AsyncRetryStrategy.fixed_delay(2, 100, empty_result_predicate, None)
        >>> [strategy.can_retry(attempt) for attempt in (1, 2, 3)]
        [True, True, False]
        """
        return FixedDelayRetryStrategy(
            max_attempts, backoff_time_millis, result_predicate, exception_predicate
        )

    @staticmethod
    def exponential_backoff(
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: ResultPredicate | None,
        exception_predicate: ExceptionPredicate | None,
    ) -> AsyncRetryStrategy[Any]:
        """Return a strategy whose delay starts at `initial_delay` ms and is multiplied, up to `max_retry_delay` ms.

        >>> strategy = AsyncRetryStrategy.exponential_backoff(5, 100, 350, 2, None, has_exception_predicate)
        >>> [strategy.get_backoff_time_millis(attempt) for attempt in (1, 2, 3)]
        [100, 200, 350]
        """
        return ExponentialBackoffDelayRetryStrategy(
            max_attempts, initial_delay, max_retry_delay, multiplier, result_predicate, exception_predicate
        )


class NoRetryStrategy(AsyncRetryStrategy[OUT]):
    """Never retries."""

    def can_retry(self, current_attempts: int) -> bool:
        """Return False."""
        return False

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return -1, because there is no next try."""
        return -1

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return the predicate that no result or exception satisfies."""
        return RetryPredicate(None, None)


class FixedDelayRetryStrategy(AsyncRetryStrategy[OUT]):
    """Retries after a fixed delay; arguments as in `AsyncRetryStrategy.fixed_delay`."""

    def __init__(
        self,
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: ExceptionPredicate | None,
    ) -> None:
        _check_positive(
            "FixedDelayRetryStrategy", max_attempts=max_attempts, backoff_time_millis=backoff_time_millis
        )
        self._max_attempts = max_attempts
        self._backoff_time_millis = backoff_time_millis
        self._predicate = RetryPredicate(result_predicate, exception_predicate)

    def can_retry(self, current_attempts: int) -> bool:
        """Return whether a retry is left."""
        return current_attempts <= self._max_attempts

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the fixed delay."""
        return self._backoff_time_millis

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return the predicate of both functions."""
        return self._predicate


class ExponentialBackoffDelayRetryStrategy(AsyncRetryStrategy[OUT]):
    """Retries after growing delays; arguments as in `AsyncRetryStrategy.exponential_backoff`.

    The delay depends on the attempt alone, so concurrent calls do not affect each other's delays.
    """

    def __init__(
        self,
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: ExceptionPredicate | None,
    ) -> None:
        _check_positive(
            "ExponentialBackoffDelayRetryStrategy",
            max_attempts=max_attempts,
            initial_delay=initial_delay,
            max_retry_delay=max_retry_delay,
            multiplier=multiplier,
        )
        self._max_attempts = max_attempts
        self._initial_delay = initial_delay
        self._max_retry_delay = max_retry_delay
        self._multiplier = multiplier
        self._predicate = RetryPredicate(result_predicate, exception_predicate)

    def can_retry(self, current_attempts: int) -> bool:
        """Return whether a retry is left."""
        return current_attempts <= self._max_attempts

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the delay before the try that follows `current_attempts`."""
        delay = self._initial_delay
        for _ in range(current_attempts - 1):
            delay = int(min(delay * self._multiplier, self._max_retry_delay))
            if delay == self._max_retry_delay:
                break
        return delay

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return the predicate of both functions."""
        return self._predicate


def _check_positive(who: str, **arguments: float) -> None:
    for name, value in arguments.items():
        if value <= 0:
            raise ProgramError(f"requires {name} to be greater than zero", who=who, got=str(value))


NO_RETRY_STRATEGY: Final[AsyncRetryStrategy[Any]] = NoRetryStrategy()


class AsyncFunctionDescriptor:
    """An asynchronous function and its settings: timeout in milliseconds, calls in flight, retries, order."""

    class OutputMode(Enum):
        """Whether the results keep the order of their records."""

        ORDERED = 0
        UNORDERED = 1

    def __init__(
        self,
        async_function: AsyncFunction[Any, Any],
        timeout: Any,
        capacity: int,
        async_retry_strategy: AsyncRetryStrategy[Any],
        output_mode: AsyncFunctionDescriptor.OutputMode,
    ) -> None:
        self.async_function = async_function
        self.timeout = timeout
        self.capacity = capacity
        self.async_retry_strategy = async_retry_strategy
        self.output_mode = output_mode


def empty_result_predicate(result: list[Any] | None) -> bool:
    """Return whether a call returned nothing: None or an empty list."""
    return result is None or len(result) == 0


def has_exception_predicate(error: Exception | None) -> bool:
    """Return whether a call raised."""
    return error is not None


def exception_type_predicate(error: Exception, expected_error_type: type[Exception]) -> bool:
    """Return whether a call raised an exception of that type."""
    return isinstance(error, expected_error_type)

"""Retry strategies."""

from __future__ import annotations

import pickle

import pytest

from firesteel.common.errors import ProgramError
from firesteel.functions.async_functions import (
    AsyncFunction,
    AsyncRetryStrategy,
    ExponentialBackoffDelayRetryStrategy,
    FixedDelayRetryStrategy,
    empty_result_predicate,
    exception_type_predicate,
    has_exception_predicate,
)


def test_no_restart_never_tries_again() -> None:
    strategy = pickle.loads(pickle.dumps(AsyncRetryStrategy.no_restart()))
    assert not strategy.can_retry(1)
    assert strategy.get_backoff_time_millis(1) == -1
    assert strategy.get_retry_predicate().result_predicate() is None


def test_a_fixed_delay_ends_after_its_attempts() -> None:
    strategy = AsyncRetryStrategy.fixed_delay(2, 100, empty_result_predicate, has_exception_predicate)
    assert [strategy.can_retry(attempt) for attempt in (1, 2, 3)] == [True, True, False]
    assert strategy.get_backoff_time_millis(2) == 100
    predicate = strategy.get_retry_predicate()
    assert predicate.result_predicate() is empty_result_predicate
    assert predicate.exception_predicate() is has_exception_predicate


def test_an_exponential_delay_depends_on_the_attempt_alone() -> None:
    strategy = AsyncRetryStrategy.exponential_backoff(9, 100, 1_000, 2.5, None, None)
    assert [strategy.get_backoff_time_millis(attempt) for attempt in (1, 2, 3, 4, 5, 2)] == [
        100,
        250,
        625,
        1_000,
        1_000,
        250,
    ]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: FixedDelayRetryStrategy(0, 1, None, None), "max_attempts"),
        (lambda: FixedDelayRetryStrategy(1, 0, None, None), "backoff_time_millis"),
        (lambda: ExponentialBackoffDelayRetryStrategy(1, 1, 0, 1, None, None), "max_retry_delay"),
        (lambda: ExponentialBackoffDelayRetryStrategy(1, 1, 1, 0, None, None), "multiplier"),
    ],
)
def test_strategies_check_their_arguments(make: object, name: str) -> None:
    with pytest.raises(ProgramError, match=f"requires {name} to be greater than zero; got 0"):
        make()  # type: ignore[operator]


def test_predicates() -> None:
    assert [empty_result_predicate(result) for result in (None, [], [0])] == [True, True, False]
    assert exception_type_predicate(KeyError("x"), LookupError)
    assert not exception_type_predicate(ValueError("x"), LookupError)


def test_a_timeout_raises_unless_overridden() -> None:
    class Slow(AsyncFunction[str, str]):
        async def async_invoke(self, value: str) -> list[str]:
            return [value]

    with pytest.raises(TimeoutError, match="timed out for input: x"):
        Slow().timeout("x")

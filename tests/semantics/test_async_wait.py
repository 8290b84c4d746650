"""Asynchronous functions: what is the operator's time limit, and what a function's own failure."""

from __future__ import annotations

import asyncio

import pytest

from firesteel.common import Time, Types
from firesteel.common.errors import RecordError, UserFunctionError
from firesteel.datastream import AsyncDataStream
from firesteel.datastream.functions import AsyncFunction


def waiting(function, milliseconds=60_000):
    """The program that calls `function` for three numbers."""

    def program(env):
        numbers = env.from_collection([1, 2, 3], Types.INT())
        return AsyncDataStream.ordered_wait(numbers, function, Time.milliseconds(milliseconds), 2)

    return program


class Refused(AsyncFunction):
    async def async_invoke(self, value):
        raise TimeoutError("the service hung up")

    def timeout(self, value):
        return ["default"]


def test_a_timeout_error_of_the_function_is_its_failure(run):
    with pytest.raises(UserFunctionError, match="raised TimeoutError: the service hung up"):
        run(waiting(Refused()))


class Endless(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.Event().wait()


class EndlessWithDefault(Endless):
    def timeout(self, value):
        return [-value]


class EndlessThenFailing(Endless):
    def timeout(self, value):
        raise TimeoutError(f"gave up on {value}")


class ConvertsCancellation(AsyncFunction):
    """Turns the cancellation by the time limit into an error of its own, as client libraries do."""

    async def async_invoke(self, value):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ConnectionError("closed") from None

    def timeout(self, value):
        return [-value]


@pytest.mark.parametrize("function", [EndlessWithDefault(), ConvertsCancellation()])
def test_the_time_limit_leads_to_the_timeout_method(run_in_process, function):
    assert sorted(run_in_process(waiting(function, 1))) == [-3, -2, -1]


def test_the_time_limit_without_a_timeout_method_is_a_failure(run_in_process):
    with pytest.raises(RecordError, match=r"requires async_invoke\(\) to answer within 0.001 s"):
        run_in_process(waiting(Endless(), 1))


def test_a_timeout_error_of_the_timeout_method_is_the_functions_failure(run_in_process):
    with pytest.raises(UserFunctionError, match="raised TimeoutError: gave up on 1"):
        run_in_process(waiting(EndlessThenFailing(), 1))


class Returning(AsyncFunction):
    def __init__(self, result):
        self.result = result

    async def async_invoke(self, value):
        return self.result


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (5, "The result of AsyncFunction should be of list type"),
        (None, "The result of AsyncFunction cannot be none"),
    ],
)
def test_results_that_are_no_list_are_refused_in_pyflinks_words(run_in_process, result, problem):
    with pytest.raises(RecordError, match=problem):
        run_in_process(waiting(Returning(result)))


def test_any_iterable_is_a_list_of_results(run_in_process):
    assert sorted(run_in_process(waiting(Returning(("a", "b"))))) == ["a"] * 3 + ["b"] * 3

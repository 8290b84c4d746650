"""What can stand for a function, and what the messages say otherwise."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import cloudpickle
import pytest

from firesteel.common.errors import ProgramError
from firesteel.functions.adapt import as_function, check_function
from firesteel.functions.elements import (
    AggregateFunction,
    CoMapFunction,
    FilterFunction,
    FlatMapFunction,
    KeySelector,
    MapFunction,
    ReduceFunction,
)
from firesteel.functions.process import KeyedProcessFunction

WHO = "map 'double' (job.py:12)"


class Double(MapFunction):
    def map(self, value: Any) -> Any:
        return 2 * value


class DuckDouble:
    def map(self, value: Any) -> Any:
        return 2 * value


class CallableObject:
    def __call__(self, value: Any) -> Any:
        return 2 * value


def double(value: Any) -> Any:
    return 2 * value


@pytest.mark.parametrize(
    "function",
    [
        Double(),
        DuckDouble(),
        CallableObject(),
        double,
        lambda value: 2 * value,
        functools.partial(double),
        Double().map,
    ],
)
def test_many_things_are_a_map_function(function: Any) -> None:
    for mapper in (
        as_function(function, MapFunction, "map", WHO),
        cloudpickle.loads(cloudpickle.dumps(as_function(function, MapFunction, "map", WHO))),
    ):
        mapper.open(None)
        assert mapper.map(21) == 42
        mapper.close()


def test_an_object_of_the_class_is_itself() -> None:
    function = Double()
    assert as_function(function, MapFunction, "map", WHO) is function


def test_other_kinds() -> None:
    def words(value: str) -> Iterator[str]:
        yield from value.split()

    assert list(as_function(words, FlatMapFunction, "flat_map", WHO).flat_map("a b")) == ["a", "b"]
    assert as_function(bool, FilterFunction, "filter", WHO).filter(0) is False
    assert as_function(max, ReduceFunction, "reduce", WHO).reduce(1, 2) == 2
    assert as_function(len, KeySelector, "get_key", WHO).get_key("abc") == 3


def test_optional_methods_of_duck_typed_objects_are_kept() -> None:
    class Timed:
        def process_element(self, value: Any, ctx: Any) -> Any:
            return [value]

    function = as_function(Timed(), KeyedProcessFunction, None, WHO)
    assert function.process_element(1, None) == [1]  # type: ignore[arg-type]
    assert function.on_timer(0, None) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("function", "kind", "method", "message"),
    [
        (5, MapFunction, "map", "requires a function or a MapFunction; got an int: 5"),
        (Double, MapFunction, "map", "got the class Double\n  hint: pass an object of it: Double()"),
        (
            Double(),
            FilterFunction,
            "filter",
            "requires a function or a FilterFunction; got a MapFunction: Double",
        ),
        (
            (number for number in ()),
            FlatMapFunction,
            "flat_map",
            "got a generator that already runs: <genexpr>",
        ),
        (double, AggregateFunction, None, "requires an AggregateFunction; got the function double"),
        (double, CoMapFunction, None, "hint: pass an object of a subclass of CoMapFunction"),
        (None, ReduceFunction, "reduce", "requires a function or a ReduceFunction; got a NoneType: None"),
    ],
)
def test_messages_name_the_operator_and_what_was_got(
    function: Any, kind: Any, method: str | None, message: str
) -> None:
    for check in (as_function, check_function):
        with pytest.raises(ProgramError) as caught:
            check(function, kind, method, WHO)
        assert str(caught.value).startswith(f"{WHO} requires ")
        assert message in str(caught.value)


def test_an_async_function_is_told_where_it_belongs() -> None:
    async def fetch(value: Any) -> Any:
        return value

    with pytest.raises(ProgramError, match=r"got the async function .*fetch") as caught:
        as_function(fetch, MapFunction, "map", WHO)
    assert "AsyncDataStream" in str(caught.value)


def test_the_adapter_survives_plain_pickle() -> None:
    adapted: Callable[..., Any] = pickle.loads(pickle.dumps(as_function(double, MapFunction, "map", WHO))).map
    assert adapted(4) == 8

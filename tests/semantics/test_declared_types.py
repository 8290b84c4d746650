"""Where values are coerced to declared types: as PyFlink's workers do, between functions only where Flink serialises.

The expected values are what Flink 2.3 gives for these programs, if not said otherwise.
"""

from __future__ import annotations

import datetime as dt
import decimal

import pytest

from firesteel.common import Instant, Row, Types
from firesteel.common.errors import RecordError, TypeMismatchError
from firesteel.datastream import OutputTag
from firesteel.datastream.functions import CoMapFunction, KeyedProcessFunction, ProcessFunction

PAIR = [Types.INT(), Types.STRING()]
WIDE = 9_147_483_648

UNTOUCHED = {
    "another type": (Types.STRING(), 5),
    "too wide": (Types.INT(), WIDE),
    "float": (Types.FLOAT(), 1.1),
    "tuple as row": (Types.ROW(PAIR), (1, "a")),
    "row without names": (Types.ROW(PAIR), Row(1, "a")),
    "row with other names": (Types.ROW(PAIR), Row(b=1, a="x")),
    "tuple as list": (Types.LIST(Types.INT()), (1, 2)),
    "none": (Types.INT(), None),
    "microseconds": (Types.SQL_TIME(), dt.time(1, 2, 3, 456_789)),
}
"""Declared type, and a value that the next function gets as it is."""


def shown(value):
    return f"{type(value).__name__} {value!r}"


@pytest.mark.parametrize(("declared", "value"), UNTOUCHED.values(), ids=UNTOUCHED)
def test_a_chained_function_gets_the_object_itself(run_in_process, declared, value):
    def program(env):
        emitted = env.from_collection([0], Types.INT()).rebalance().map(lambda _: value, declared)
        return emitted.filter(lambda _: True).map(shown, Types.STRING())

    assert run_in_process(program) == [shown(value)]


SERIALISED = {
    "float": (Types.FLOAT(), 1.1, 1.100000023841858),
    "whole number as float": (Types.FLOAT(), 3, 3.0),
    "truth as int": (Types.INT(), True, 1),
    "row without names": (
        Types.ROW([Types.INT(), Types.FLOAT()]),
        Row(1, 1.1),
        Row(f0=1, f1=1.100000023841858),
    ),
    "row with the names in another order": (
        Types.ROW_NAMED(["a", "b"], PAIR),
        Row(b="x", a=1),
        Row(a=1, b="x"),
    ),
    "floats of a map": (Types.MAP(Types.STRING(), Types.FLOAT()), {"a": 1.1}, {"a": 1.100000023841858}),
    "none in an object array": (Types.BASIC_ARRAY(Types.STRING()), ["a", None], ["a", None]),
    "decimal": (Types.BIG_DEC(), decimal.Decimal("1.10"), decimal.Decimal("1.10")),
    "date": (Types.SQL_DATE(), dt.date(2020, 1, 2), dt.date(2020, 1, 2)),
    "time": (Types.SQL_TIME(), dt.time(1, 2, 3, 456_789), dt.time(1, 2, 3, 456_000)),
    "timestamp": (
        Types.SQL_TIMESTAMP(),
        dt.datetime(2020, 1, 2, 3, 4, 5, 678_901),
        dt.datetime(2020, 1, 2, 3, 4, 5, 678_000),
    ),
    "instant": (Types.INSTANT(), Instant.of_epoch_milli(1500), Instant.of_epoch_milli(1500)),
    "pickled": (Types.PICKLED_BYTE_ARRAY(), {1, 2}, {1, 2}),
}
"""Declared type, a value, and what is left of it after an exchange."""

CONVERTED = {
    "tuple as list": (Types.LIST(Types.INT()), (1, 2), [1, 2]),
    "tuple as row": (Types.ROW(PAIR), (1, "a"), Row(f0=1, f1="a")),
    "list as tuple": (Types.TUPLE(PAIR), [1, "a"], (1, "a")),
    "number as truth": (Types.BOOLEAN(), 5, True),
}
"""The same where Flink fails, or damages its stream."""


@pytest.mark.parametrize(
    ("declared", "value", "left"),
    [*SERIALISED.values(), *CONVERTED.values()],
    ids=[*SERIALISED, *CONVERTED],
)
def test_an_exchange_coerces(run_in_process, declared, value, left):
    def program(env):
        emitted = env.from_collection([0], Types.INT()).map(lambda _: value, declared)
        return emitted.filter(lambda _: True).rebalance().map(shown, Types.STRING())

    assert run_in_process(program) == [shown(left)]


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        (Types.BYTE(), 200),
        (Types.SHORT(), 43_878),
        (Types.INT(), WIDE),
        (Types.LONG(), 2**63),
        (Types.INT(), "5"),
        (Types.INT(), None),
        (Types.STRING(), 5),
        (Types.DOUBLE(), "1"),
        (Types.TUPLE(PAIR), (1,)),
        (Types.LIST(Types.INT()), [1, None]),
    ],
    ids=repr,
)
def test_an_exchange_refuses_what_does_not_fit(run_in_process, declared, value):
    def program(env):
        emitted = env.from_collection([0], Types.INT()).map(lambda _: value, declared)
        return emitted.filter(lambda _: True).rebalance().map(shown, Types.STRING())

    with pytest.raises((TypeMismatchError, RecordError)):
        run_in_process(program)


def test_the_last_type_of_a_chain_is_what_comes_out(run):
    def program(env):
        numbers = env.from_collection([1, 2, 3], Types.INT())
        texts = numbers.map(lambda number: number, Types.STRING())
        return texts.map(lambda number: number + 1).filter(lambda number: number > 2)

    assert sorted(run(program)) == [3, 4]


def first_of(build):
    """The program that shows what a function sees of `FLOAT` 1.1 behind the stream that `build` makes."""

    def program(env):
        numbers = env.from_collection([1.1], Types.DOUBLE()).map(lambda number: number, Types.FLOAT())
        return build(numbers).map(shown)

    return program


class Both(CoMapFunction):
    def map1(self, value):
        return shown(value)

    map2 = map1


class Aside(ProcessFunction):
    tag = OutputTag("aside", Types.FLOAT())

    def process_element(self, value, ctx):
        yield self.tag, 1.1


class Counting(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield 1.1


ACROSS = {
    "a key": lambda floats: floats.key_by(lambda number: 0).map(lambda number: number),
    "an exchange": lambda floats: floats.rebalance(),
    "two streams": lambda floats: floats.connect(floats).map(Both()),
    "two readers": lambda floats: floats.union(floats),
    "a new chain": lambda floats: floats.filter(lambda _: True).start_new_chain(),
    "a side output": lambda floats: floats.process(Aside()).get_side_output(Aside.tag),
}


@pytest.mark.parametrize("build", ACROSS.values(), ids=ACROSS)
def test_what_serialises(run_in_process, build):
    assert all("1.100000023841858" in value for value in run_in_process(first_of(build)))


WITHIN = {
    "nothing between": lambda floats: floats,
    "a forward": lambda floats: floats.forward(),
    "a filter": lambda floats: floats.filter(lambda _: True),
    "behind a key": lambda floats: floats.key_by(lambda number: 0).process(Counting(), Types.FLOAT()),
}


@pytest.mark.parametrize("build", WITHIN.values(), ids=WITHIN)
def test_what_does_not_serialise(run_in_process, build):
    assert run_in_process(first_of(build)) == ["float 1.1"]


NARROWED = {
    "byte": (Types.BYTE(), 200, -56),
    "short": (Types.SHORT(), 43_878, -21_658),
    "int": (Types.INT(), -WIDE, -557_549_056),
    "tuple": (Types.TUPLE([Types.BYTE(), Types.INT()]), (200, WIDE), (-56, 557_549_056)),
    "map": (Types.MAP(Types.BYTE(), Types.SHORT()), {300: 70_000}, {44: 4464}),
    "array": (Types.BASIC_ARRAY(Types.SHORT()), [70_000, None], [4464, None]),
    "float in a map": (Types.MAP(Types.STRING(), Types.FLOAT()), {"a": 1.1}, {"a": 1.1}),
}
"""Declared type, a value of a collection, and what is collected."""


@pytest.mark.parametrize(("declared", "value", "collected"), NARROWED.values(), ids=NARROWED)
def test_a_collection_is_cut_to_its_type(run_in_process, declared, value, collected):
    assert run_in_process(lambda env: env.from_collection([value], declared)) == [collected]


@pytest.mark.parametrize(("declared", "value"), [(Types.LONG(), 2**63), (Types.INT(), "1")], ids=repr)
def test_a_collection_that_does_not_fit_is_refused(run_in_process, declared, value):
    with pytest.raises(TypeMismatchError):
        run_in_process(lambda env: env.from_collection([value], declared))

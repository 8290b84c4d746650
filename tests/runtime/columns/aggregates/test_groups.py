"""Aggregates are kept up to date: in any epochs, phases and parallelism, the table is that of the rows."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.logical_types import (
    STRING,
    BigIntType,
    BooleanType,
    DecimalType,
    DoubleType,
    IntType,
    TinyIntType,
)
from firesteel.common.types import RowKind
from firesteel.functions.columns.aggregates import Aggregation, GroupAggregate
from firesteel.runtime.columns.aggregates import computed, gathering, held
from firesteel.runtime.columns.aggregates.form import Form
from firesteel.runtime.columns.aggregates.operators import given as given_of
from firesteel.state.arrangements import shelf
from tests.runtime.columns.aggregates.harness import Query, Table, aggregate, batch_of, call, row_of
from tests.runtime.columns.aggregates.model import Model

KEY, TEXT, NUMBER, WHEN, PRICE, WIDE = range(6)
INPUT = row_of(IntType(), STRING, BigIntType(), BooleanType(), DecimalType(10, 2), DecimalType(38, 2))
INSERT, DELETE = RowKind.INSERT.value, RowKind.DELETE.value

words = st.none() | st.sampled_from(["", "a", "b", "Zürich", 'say "x"'])
numbers = st.none() | st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)
prices = st.none() | st.decimals(-1000, 1000, places=2)
wide = st.none() | st.sampled_from([Decimal(10) ** 35 * 9, Decimal("-1.25"), Decimal("7.01")])
rows = st.tuples(st.none() | st.integers(0, 3), words, numbers, st.none() | st.booleans(), prices, wide)
epochs = st.lists(st.lists(st.lists(st.tuples(st.integers(0, 3), rows), max_size=6), max_size=3), max_size=4)


def calls(*functions: str, of: int, **more: Any) -> list[Aggregation]:
    return [call(INPUT, function, of, **more) for function in functions]


def check(
    spec: GroupAggregate, given_epochs: Sequence[Any], parallelism: int, *, local: bool, bounded: bool = False
) -> None:
    """Run random changes: a kind above 0 adds the row, 0 takes back an earlier one, if there is one."""
    query, model = Query(spec, parallelism, local=local, bounded=bounded), Model(spec)
    table = Table(len(spec.keys), upsert=not spec.update_before)
    for number, batches in enumerate(given_epochs):
        made = []
        for batch in batches:
            changes = []
            for kind, row in batch:
                if kind or not spec.retracts or not model.rows:
                    model.change(True, row)
                    changes.append((INSERT, row))
                else:
                    old = model.rows[len(changes) % len(model.rows)]
                    model.change(False, old)
                    changes.append((DELETE, old))
            if changes:
                made.append(batch_of(INPUT, changes))
        final = number == len(given_epochs) - 1
        table.apply(query.epoch(made, final=final))
        if not bounded or final:
            assert_same(table.rows, model.table())


def assert_same(found: dict[Any, Any], expected: dict[Any, Any]) -> None:
    assert found.keys() == expected.keys()
    for key, row in expected.items():
        assert len(found[key]) == len(row)
        for one, two in zip(found[key], row, strict=True):
            if isinstance(two, float):
                assert one == pytest.approx(two, rel=1e-9, abs=1e-9)
            elif isinstance(two, str) and two[:1] == "{":
                assert json.loads(one) == json.loads(two)
            elif isinstance(
                one, tuple
            ):  # where a value is taken back that is there twice, their order is open
                assert Counter(one) == Counter(two)
            else:
                assert one == two


LINEAR = [
    *calls("COUNT", "SUM", "$SUM0", "AVG", of=NUMBER),
    *calls("SUM", "AVG", of=PRICE),
    *calls("SUM", of=WIDE),
    call(INPUT, "COUNT"),
    call(INPUT, "COUNT", TEXT, NUMBER),
    call(INPUT, "SUM", NUMBER, filter=WHEN),
]
EXTREMES = [
    *calls("MIN", "MAX", of=NUMBER),
    *calls("MIN", "MAX", of=TEXT),
    *calls("MIN", "MAX", of=PRICE),
    *calls("MAX", of=KEY),
    call(INPUT, "MIN", NUMBER, filter=WHEN, distinct=True),
]
DISTINCT = [
    *calls("COUNT", "SUM", "AVG", of=NUMBER, distinct=True),
    *calls("COUNT", of=TEXT, distinct=True),
    *calls("SUM", of=PRICE, distinct=True),
    *calls("APPROX_COUNT_DISTINCT", of=TEXT),
    call(INPUT, "COUNT", TEXT, NUMBER, distinct=True),
    call(INPUT, "COUNT", TEXT, filter=WHEN, distinct=True),
    call(INPUT, "SUM", NUMBER, filter=WHEN, distinct=True),
    call(INPUT, "COUNT"),
]
ORDERED = [
    *calls("FIRST_VALUE", "LAST_VALUE", "LISTAGG", of=TEXT),
    *calls("FIRST_VALUE", "LAST_VALUE", of=PRICE),
    call(INPUT, "LAST_VALUE", NUMBER, filter=WHEN),
]
CONTENTS = [
    *calls("COLLECT", "ARRAY_AGG", "LISTAGG", of=TEXT),
    *calls("FIRST_VALUE", "LAST_VALUE", "ARRAY_AGG", of=NUMBER),
    *calls("COLLECT", of=PRICE),
    call(INPUT, "ARRAY_AGG", PRICE, filter=WHEN),
]
ALL = {"linear": LINEAR, "extremes": EXTREMES, "distinct": DISTINCT, "ordered": ORDERED, "contents": CONTENTS}
several = pytest.mark.parametrize(
    "names", ["linear", "extremes", "distinct", "linear extremes distinct contents"]
)


def of(names: str) -> list[Aggregation]:
    return [call for name in names.split() for call in ALL[name]]


@several
@given(epochs, st.integers(1, 3), st.booleans(), st.booleans())
@settings(max_examples=15, deadline=None)
def test_rows_come_and_go(
    names: str, given_epochs: Any, parallelism: int, local: bool, update_before: bool
) -> None:
    if "contents" in names:  # the order of values is that of one subtask
        parallelism = 1
    spec = aggregate(INPUT, [KEY], *of(names), retracts=True, update_before=update_before)
    check(spec, given_epochs, parallelism, local=local)


@pytest.mark.parametrize("names", ["linear", "extremes", "distinct"])
@given(epochs, st.integers(1, 3), st.booleans(), st.booleans())
@settings(max_examples=12, deadline=None)
def test_rows_come(names: str, given_epochs: Any, parallelism: int, local: bool, bounded: bool) -> None:
    spec = aggregate(INPUT, [KEY, TEXT], *of(names))
    check(spec, given_epochs, parallelism, local=local, bounded=bounded)


@pytest.mark.parametrize("names", ["ordered", "linear ordered", "distinct ordered", "contents"])
@given(epochs, st.booleans(), st.booleans())
@settings(max_examples=12, deadline=None)
def test_rows_come_in_order(names: str, given_epochs: Any, local: bool, bounded: bool) -> None:
    spec = aggregate(INPUT, [KEY], *of(names))
    check(spec, given_epochs, 1, local=local, bounded=bounded)


@given(epochs, st.booleans())
@settings(max_examples=10, deadline=None)
def test_there_can_be_no_keys(given_epochs: Any, local: bool) -> None:
    spec = aggregate(INPUT, [], *LINEAR, *EXTREMES, *DISTINCT, retracts=True)
    check(spec, given_epochs, 2, local=local)


@given(epochs, st.integers(1, 3), st.booleans())
@settings(max_examples=10, deadline=None)
def test_there_can_be_no_aggregations(given_epochs: Any, parallelism: int, retracts: bool) -> None:
    check(aggregate(INPUT, [TEXT, PRICE], retracts=retracts), given_epochs, parallelism, local=True)


def test_the_only_group_of_an_empty_table_exists_in_batch_mode() -> None:
    spec = aggregate(INPUT, [], *calls("COUNT", "SUM", "MIN", "AVG", "VAR_POP", "COLLECT", of=NUMBER))
    ((row,),) = (batch.rows.to_pylist() for batch in Query(spec, bounded=True).epoch([], final=True))
    assert list(row.values()) == [0, None, None, None, None, []]
    assert Query(spec).epoch([], final=True) == []


FLOATS = row_of(IntType(), DoubleType())
floats = st.none() | st.floats(-1e6, 1e6)


@given(st.lists(st.lists(st.tuples(st.integers(0, 2), floats), max_size=20), max_size=3), st.booleans())
@settings(max_examples=15, deadline=None)
def test_variances(given_epochs: Any, local: bool) -> None:
    functions = ("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP", "AVG", "MIN", "MAX")
    spec = aggregate(FLOATS, [0], *(call(FLOATS, function, 1) for function in functions))
    query, model, table = Query(spec, 2, local=local), Model(spec), Table(1)
    for epoch in given_epochs:
        for row in epoch:
            model.change(True, row)
        table.apply(query.epoch([batch_of(FLOATS, [(INSERT, row) for row in epoch])] if epoch else []))
        for key, expected in model.table().items():
            assert table.rows[key] == pytest.approx(expected, rel=1e-6, abs=1e-3)


def test_values_of_a_variance_are_taken_back() -> None:
    spec = aggregate(FLOATS, [0], call(FLOATS, "VAR_POP", 1), retracts=True)
    query, table = Query(spec), Table(1)
    for epoch, variance in [
        ([(INSERT, (1, 1e6 + 1)), (INSERT, (1, 1e6 + 3)), (INSERT, (1, 9.0)), (DELETE, (1, 9.0))], 1.0),
        ([(DELETE, (1, 1e6 + 3)), (INSERT, (1, 1e6 + 5))], 4.0),
        ([(DELETE, (1, 1e6 + 1))], 0.0),
    ]:
        table.apply(query.epoch([batch_of(FLOATS, epoch)]))
        assert table.rows[1,][1] == pytest.approx(variance, abs=1e-3)


def test_floating_point_numbers_are_ordered_as_in_java() -> None:
    spec = aggregate(FLOATS, [0], call(FLOATS, "MIN", 1), call(FLOATS, "MAX", 1))
    values = [0.0, -0.0, float("nan"), float("-inf")]
    batches = Query(spec).epoch([batch_of(FLOATS, [(INSERT, (1, value)) for value in values])])
    (row,) = batches[0].rows.to_pylist()
    assert str(row) == "{'k0': 1, 'r0': -inf, 'r1': nan}"


def test_integers_wrap_in_their_type() -> None:
    tiny = row_of(IntType(), TinyIntType())
    spec = aggregate(tiny, [0], call(tiny, "SUM", 1), call(tiny, "AVG", 1))
    batches = Query(spec).epoch([batch_of(tiny, [(INSERT, (1, value)) for value in (100, 100, 1)])])
    assert batches[0].rows.to_pylist() == [{"k0": 1, "r0": -55, "r1": 67}]


def test_a_result_that_stays_is_no_change() -> None:
    spec = aggregate(FLOATS, [0], call(FLOATS, "MAX", 1))
    query = Query(spec)
    query.epoch([batch_of(FLOATS, [(INSERT, (1, 5.0))])])
    assert query.epoch([batch_of(FLOATS, [(INSERT, (1, 4.0))])]) == []


def test_values_that_are_distinct_under_several_conditions_are_kept_once() -> None:
    form = Form(aggregate(INPUT, [KEY], *DISTINCT))
    assert [[(store.arguments, store.condition) for store in each.stores] for each in form.shared] == [
        [((NUMBER,), None), ((NUMBER,), WHEN)],
        [((TEXT,), None), ((TEXT,), WHEN)],
        [((PRICE,), None)],
        [((TEXT, NUMBER), None)],
    ]
    assert [each.name for each in form.shared] == ["distinct-0", "distinct-1", "distinct-2", "distinct-3"]


def test_values_of_several_columns_are_added_up_apart() -> None:
    form = Form(
        aggregate(
            INPUT, [KEY], *calls("COUNT", of=TEXT, distinct=True), *calls("COUNT", of=NUMBER, distinct=True)
        )
    )
    rows = [(INSERT, (1, f"t{place % 10}", place // 10, None, None, None)) for place in range(100)]
    lifted = form.lift(given_of(batch_of(INPUT, rows)))
    assert form.combine(lifted).rows.num_rows == form.shrink(lifted).num_rows == 1 + 10 + 10


def test_many_keys_do_not_wait_for_the_end_of_the_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firesteel.runtime.columns.aggregates.gathering.FEW", 8)
    monkeypatch.setattr("firesteel.runtime.columns.aggregates.gathering.MANY", 32)
    row = row_of(IntType(), BigIntType())
    spec = aggregate(row, [0], call(row, "SUM", 1), call(row, "COUNT", 1, distinct=True))
    for local in (False, True):
        query, model, table = Query(spec, 2, local=local), Model(spec), Table(1)
        for number in range(3):
            made = []
            for start in range(0, 400, 20):
                batch = [((start + place) * 7919 % 150, number + start) for place in range(20)]
                for each in batch:
                    model.change(True, each)
                made.append(batch_of(row, [(INSERT, each) for each in batch]))
            changes = query.epoch(made)
            table.apply(changes)
            assert table.rows == model.table()
        assert sum(map(len, changes)) > 150


def test_an_aggregate_over_an_aggregate() -> None:
    counts = aggregate(INPUT, [TEXT], call(INPUT, "COUNT"), retracts=True)
    outer = counts.output
    spec = aggregate(
        outer, [1], call(outer, "COUNT"), call(outer, "MAX", 0), call(outer, "COLLECT", 0), retracts=True
    )
    inner, query, table = Query(counts, 2), Query(spec, 2, local=True), Table(1)
    for words_of_epoch, expected in [
        (["a", "a", "b", None], {2: (1, "a", (("a", 1),)), 1: (2, "b", (("b", 1),))}),
        (["b", "c"], {2: (2, "b", (("a", 1), ("b", 1))), 1: (2, "c", (("c", 1),))}),
        (["a", "b", "c"], {3: (2, "b", (("a", 1), ("b", 1))), 2: (1, "c", (("c", 1),)), 1: (1, None, ())}),
    ]:
        batch = batch_of(INPUT, [(INSERT, (1, word, 1, None, None, None)) for word in words_of_epoch])
        table.apply(query.epoch(inner.epoch([batch])))
        assert {
            key: (row[1], row[2], tuple(sorted(row[3]))) for (key,), row in table.rows.items()
        } == expected


def test_groups_expire() -> None:
    spec = aggregate(
        FLOATS, [0], call(FLOATS, "SUM", 1), call(FLOATS, "COUNT", 1, distinct=True), time_to_live=10
    )
    query = Query(spec)

    def results(value: float, now: int) -> list[tuple[float, int, int]]:
        return [
            (row["r0"], row["r1"], kind)
            for batch in query.epoch([batch_of(FLOATS, [(INSERT, (1, value))])], now)
            for row, kind in zip(batch.rows.to_pylist(), batch.all_kinds().tolist(), strict=True)
        ]

    assert results(1.0, 100) == [(1.0, 1, 0)]
    assert results(0.0, 109) == [(1.0, 1, 1), (1.0, 2, 2)]
    assert results(0.0, 118) == [(1.0, 2, 1), (1.0, 2, 2)]
    assert results(1.0, 140) == [(1.0, 1, 0)]


NUMBERS = row_of(BigIntType(), BigIntType(), DecimalType(12, 2), STRING)
TOTALS = [
    call(NUMBERS, "SUM", 1),
    call(NUMBERS, "SUM", 2),
    call(NUMBERS, "COUNT"),
    call(NUMBERS, "MAX", 3),
    call(NUMBERS, "AVG", 2),
]


def numbered(keys: int, rows: int, seed: int) -> list[tuple[Any, ...]]:
    chance = random.Random(seed)
    return [
        (
            chance.choice([None, *range(keys)]),
            chance.choice([None, chance.getrandbits(63)]),
            chance.choice([None, Decimal(chance.randrange(-(10**12), 10**12)) / 100]),
            chance.choice([None, "", "x", "é"]),
        )
        for _ in range(rows)
    ]


@pytest.mark.parametrize("keys", [3, 400])
@pytest.mark.parametrize("local", [True, False], ids=["two phases", "one phase"])
def test_groups_of_batch_mode_need_not_fit_into_memory(
    keys: int, local: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, value in (
        *((gathering, "FEW", 40), (gathering, "MANY", 100), (held, "MANY", 100), (held, "IN_MEMORY", 3_000)),
        *((computed, "ROWS", 90), (computed, "_AGAIN", 200), (computed, "FEW", 40), (shelf, "IN_MEMORY", 0)),
    ):
        monkeypatch.setattr(module, name, value)
    spec, rows = aggregate(NUMBERS, [0], *TOTALS), numbered(keys, 1_500, keys)
    model, query = Model(spec), Query(spec, 2, local=local, bounded=True)
    for row in rows:
        model.change(True, row)
    batches = [
        batch_of(NUMBERS, [(INSERT, row) for row in rows[start : start + 60]])
        for start in range(0, 1_500, 60)
    ]
    table = Table(1)
    table.apply(query.epoch(batches, final=True))
    assert_same(table.rows, model.table())


def test_sums_beyond_the_kernels_digits_are_added_up_row_by_row() -> None:
    values = [Decimal(6) * 10**35] * 300 + [Decimal(-6) * 10**35] * 300 + [Decimal("1.25")]
    rows = [(1, None, None, None, None, value) for value in values]
    found = Query(aggregate(INPUT, [KEY], *calls("SUM", of=WIDE)), local=True, bounded=True).epoch(
        [batch_of(INPUT, [(INSERT, row) for row in rows])], final=True
    )
    assert [batch.rows.to_pylist() for batch in found] == [[{"k0": 1, "r0": Decimal("1.25")}]]

"""Regular joins of tables that change, beside a join of lists that is made anew after each epoch."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.functions.columns.joins import Join, JoinKind
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.joins import operator as joins
from firesteel.runtime.columns.joins import pairs, sides
from firesteel.runtime.columns.joins.operator import FinalJoinOperator, JoinOperator
from tests.runtime.columns.columnar import Harness
from tests.runtime.columns.joins.lists import (
    DELETE,
    INSERT,
    KINDS,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Row,
    apply,
    batch,
    model,
    random_row,
    spec,
)


def random_changes(side: int, table: list[Row], chance: random.Random) -> list[tuple[int, Row]]:
    changes: list[tuple[int, Row]] = []
    for _ in range(chance.randrange(9)):
        if table and chance.random() < 0.45:
            row = chance.choice(table)
            table.remove(row)
            changes.append((chance.choice([UPDATE_BEFORE, DELETE]), row))
        else:
            row = random_row(side, chance)
            table.append(row)
            changes.append((chance.choice([INSERT, UPDATE_AFTER]), row))
    return changes


@pytest.mark.parametrize("small", [True, False], ids=["in small parts", "at once"])
@pytest.mark.parametrize("smaller", [True, False], ids=["condition", "keys alone"])
@pytest.mark.parametrize(
    ("keys", "null_safe"),
    [(True, False), (True, True), (False, False)],
    ids=["keys", "NULL = NULL", "no keys"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_the_result_is_the_join_of_both_tables(
    kind: JoinKind,
    keys: bool,
    null_safe: bool,
    smaller: bool,
    small: bool,
    thorough: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if small:
        monkeypatch.setattr(joins, "_KEYS_AT_ONCE", 2)
        monkeypatch.setattr(sides, "_ROWS_AT_ONCE", 3)
        monkeypatch.setattr(joins, "_MOST_SENT", 5)
        monkeypatch.setattr(joins, "_MOST_WAITING", 4)
        monkeypatch.setattr(pairs, "MOST", 3)
    chance = random.Random(f"{kind}{keys}{null_safe}{smaller}")
    check(spec(kind, keys=keys, null_safe=null_safe, smaller=smaller), chance, 40 if thorough else 12)


@given(
    kind=st.sampled_from(KINDS),
    keys=st.booleans(),
    null_safe=st.booleans(),
    smaller=st.booleans(),
    chance=st.randoms(use_true_random=False),
)
def test_any_changes_are_joined(
    kind: JoinKind, keys: bool, null_safe: bool, smaller: bool, chance: random.Random
) -> None:
    check(spec(kind, keys=keys, null_safe=null_safe, smaller=smaller), chance, 6)


def check(join: Join, chance: random.Random, epochs: int) -> None:
    """Join tables that change, and compare the result with the model after each epoch; some are tried again."""
    run = Harness(partial(JoinOperator, join), keys=join.left_keys, second_keys=join.right_keys)
    tables: tuple[list[Row], list[Row]] = ([], [])
    shown: Counter[Row] = Counter()
    for _ in range(epochs):
        steps = [
            batch(side, changes)
            for side in chance.sample([0, 1, 0, 1], chance.randrange(5))
            if (changes := random_changes(side, tables[side], chance))
        ]
        if chance.random() < 0.15:
            run.epoch(*steps, lost=True)
            run.renew()
        apply(shown, run.rows(*steps))
        assert +shown == model(join, *tables)
        if chance.random() < 0.2:
            run.renew(chance.choice([1, 2, 3]) if join.left_keys else 1)


@pytest.mark.parametrize("smaller", [True, False])
@pytest.mark.parametrize("keys", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_inputs_that_end_give_final_rows_only(kind: JoinKind, keys: bool, smaller: bool) -> None:
    chance = random.Random(f"{kind}{keys}{smaller}")
    join = spec(kind, keys=keys, null_safe=False, smaller=smaller)
    run = Harness(partial(FinalJoinOperator, join), keys=join.left_keys, second_keys=join.right_keys)
    tables: tuple[list[Row], list[Row]] = ([], [])
    shown: Counter[Row] = Counter()
    for epoch in range(6):
        steps = []
        for side in (0, 1):
            rows = [random_row(side, chance) for _ in range(chance.randrange(1, 9))]
            tables[side].extend(rows)
            steps.append(batch(side, [(INSERT, row) for row in rows]))
        sent = run.rows(*steps, final=epoch == 5)
        assert all(kind == INSERT for kind, *_ in sent)
        apply(shown, sent)
        run.renew(1 if not keys else chance.choice([1, 2]))
    assert shown == model(join, *tables)


def test_what_does_not_change_is_not_sent() -> None:
    join = spec("LEFT", keys=True, null_safe=False, smaller=False)
    run = Harness(partial(JoinOperator, join))
    first: Row = (1, 1, "a")
    run.rows(batch(0, [(INSERT, first)]), batch(1, [(INSERT, (7, 1))]))
    assert run.rows(batch(0, [(DELETE, first), (INSERT, first)])) == []
    assert run.rows(batch(1, [(DELETE, (7, 1)), (INSERT, (8, 1))])) == [
        (DELETE, *first, 7, 1),
        (INSERT, *first, 8, 1),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_have_expired_meet_nobody(kind: JoinKind) -> None:
    join = spec(kind, keys=True, null_safe=False, smaller=False, live=100)
    run = Harness(partial(JoinOperator, join))
    left, right = (1, 1, "a"), (7, 1)
    run.rows(batch(0, [(INSERT, left)]), now=0)
    run.rows(batch(1, [(INSERT, right)]), now=60)
    sent = run.rows(batch(1, [(INSERT, (8, 1))]), now=130)
    apart: dict[str, list[Row]] = {"RIGHT": [(INSERT, None, None, None, 8, 1)]}
    # The row of a side that counts partners was written when it got one, and so lives until 160.
    met: dict[str, list[Row]] = {"LEFT": [(INSERT, *left, 8, 1)], "FULL": [(INSERT, *left, 8, 1)]}
    assert sent == {**apart, **met}.get(kind, [])
    # What has expired cannot go: nobody misses it.
    assert run.rows(batch(0, [(DELETE, left)]), now=500) == []


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_a_union_may_say_that_a_column_is_never_null(kind: JoinKind) -> None:
    join = spec(kind, keys=True, null_safe=False, smaller=False)
    run = Harness(partial(JoinOperator, join))
    one, other = batch(0, [(INSERT, (1, 1, "a"))])[1], batch(0, [(INSERT, (2, 1, "b"))])[1]
    strict = pa.schema([field.with_nullable(False) for field in other.rows.schema])
    other = ColumnBatch(pa.RecordBatch.from_arrays(other.rows.columns, schema=strict))
    shown: Counter[Row] = Counter()
    apply(shown, run.rows((0, one), (0, other), batch(1, [(INSERT, (7, 1))])))
    assert +shown == model(join, [(1, 1, "a"), (2, 1, "b")], [(7, 1)])

"""Joins of inputs that end, beside a join of lists; one side stays, and the other meets it."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial

import pytest

from firesteel.functions.columns.joins import JoinKind, Side
from firesteel.runtime.columns.joins import hashed, pairs, partitions
from firesteel.runtime.columns.joins.hashed import HashJoinOperator
from tests.runtime.columns.columnar import Harness
from tests.runtime.columns.joins.lists import INSERT, KINDS, Row, batch, model, random_row, spec

SIDES: tuple[Side, Side] = (0, 1)


@pytest.mark.parametrize("in_memory", [1 << 20, 0], ids=["in memory", "on the disk"])
@pytest.mark.parametrize("first", [True, False], ids=["first", "waiting"])
@pytest.mark.parametrize("build", SIDES, ids=["left stays", "right stays"])
@pytest.mark.parametrize("smaller", [True, False], ids=["condition", "keys alone"])
@pytest.mark.parametrize(
    ("keys", "null_safe"),
    [(True, False), (True, True), (False, False)],
    ids=["keys", "NULL = NULL", "no keys"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_the_result_is_the_join_of_both_inputs(
    kind: JoinKind,
    keys: bool,
    null_safe: bool,
    smaller: bool,
    build: Side,
    first: bool,
    in_memory: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hashed, "_ENOUGH", 3)
    monkeypatch.setattr(hashed, "IN_MEMORY", in_memory)
    monkeypatch.setattr(partitions, "_BUFFERED", 100)
    monkeypatch.setattr(pairs, "MOST", 3)
    chance = random.Random(f"{kind}{keys}{null_safe}{smaller}{build}{first}")
    join = spec(kind, keys=keys, null_safe=null_safe, smaller=smaller)
    for parallelism in (1, 3) if keys else (1,):
        tables: tuple[list[Row], list[Row]] = ([], [])
        order = [side for side in SIDES for _ in range(chance.randrange(4))]
        if first:
            order.sort(key=lambda side: side != build)
        else:
            chance.shuffle(order)
        steps = []
        for side in order:
            rows = [random_row(side, chance) for _ in range(chance.randrange(1, 9))]
            tables[side].extend(rows)
            steps.append(batch(side, [(INSERT, row) for row in rows]))
        made = partial(HashJoinOperator, join, build, first=first)
        run = Harness(made, join.left_keys, parallelism, second_keys=join.right_keys)
        sent = run.rows(*steps, final=True)
        assert all(kind == INSERT for kind, *_ in sent)
        assert Counter(tuple(row) for _, *row in sent) == model(join, *tables)


def test_the_watermark_follows_the_rows() -> None:
    join = spec("INNER", keys=True, null_safe=False, smaller=False)
    run = Harness(partial(HashJoinOperator, join, 1, first=True))
    right, left = batch(1, [(INSERT, (7, 1))]), batch(0, [(INSERT, (1, 2, "a"))])
    (sent,) = run.epoch(right, left, 5_000, final=True)
    assert [type(item) for item in sent] == [tuple, int]

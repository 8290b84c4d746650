"""OVER by values over rows that come and go gives, after every epoch, what it gives over the rows that are there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.logical_types import BigIntType, RowType, VarCharType
from firesteel.common.logical_types.constructed import Field
from firesteel.common.types import RowKind
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.sorting import SortColumn
from firesteel.functions.columns.windows import OverPartitions, PartitionFrame
from firesteel.runtime.columns.batch import DELETE, INSERT, ColumnBatch
from firesteel.runtime.columns.over.batch import OverPartitionsOperator
from firesteel.runtime.columns.over.blocks import BlockedRows
from firesteel.runtime.columns.over.changes import OverChangesOperator
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.runtime.columns.columnar import Harness
from tests.runtime.columns.windows.test_windows_model import INPUT, batch_of, plain

BIGINT = BigIntType()
CALLS = (
    Aggregation("COUNT", (), (), BIGINT, "COUNT(*)"),
    Aggregation("SUM", (2,), (BIGINT,), BIGINT, "SUM(v)"),
    Aggregation("LAST_VALUE", (2,), (BIGINT,), BIGINT, "LAST_VALUE(v)"),
)
OUTPUT = RowType((*INPUT.fields, *(Field(call.shown, BIGINT) for call in CALLS)), nullable=False)

Row = tuple[str | None, int, int | None]
rows = st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 2), st.none() | st.integers(-3, 3))
epochs = st.lists(st.lists(rows | st.integers(0, 30), max_size=8), min_size=1, max_size=5)


def results(there: list[Row], keys: tuple[int, ...], *, by_rows: bool) -> Counter[tuple[Any, ...]]:
    """Return the rows, which are in the order in which they came, with their results."""
    found = Counter[tuple[Any, ...]]()
    for key in {row[0] if keys else None for row in there}:
        mine = [row for row in there if not keys or row[0] == key]
        mine.sort(key=lambda row: (row[2] is not None, row[2] or 0))
        for place, row in enumerate(mine):
            last = place if by_rows else max(at for at, other in enumerate(mine) if other[2] == row[2])
            some = [value for _, _, value in mine[: last + 1] if value is not None]
            total, latest = (sum(some), some[-1]) if some else (None, None)
            found[(*row, last + 1, total, latest)] += 1
    return found


def changed(changes: list[tuple[Row, int]]) -> ColumnBatch:
    kinds = np.array([kind for _, kind in changes], np.int8)
    return ColumnBatch(batch_of([row for row, _ in changes]), kinds)


@pytest.mark.parametrize("by_rows", [True, False], ids=["rows", "range"])
@pytest.mark.parametrize("keys", [(0,), ()], ids=["by key", "all together"])
@given(epochs, st.integers(1, 3), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_results_follow_the_rows(
    keys: tuple[int, ...], by_rows: bool, given: list[Any], parallelism: int, random: Any
) -> None:
    frame = PartitionFrame(by_rows, None, 0)
    over = OverPartitions(
        INPUT, OUTPUT, keys, (SortColumn(2, True, True),), tuple((call, frame) for call in CALLS)
    )
    harness = Harness(lambda: OverChangesOperator(over), keys, parallelism if keys else 1)
    there: list[Row] = []
    table = Counter[tuple[Any, ...]]()
    for steps in given:
        follow(harness, there, table, steps, random, parallelism=3 if keys else 1)
        assert +table == results(there, keys, by_rows=by_rows)


def follow(
    harness: Harness,
    there: list[Row],
    table: Counter[tuple[Any, ...]],
    steps: list[Any],
    random: Any,
    parallelism: int,
) -> None:
    """Let rows come and go (numbers say which) in an epoch, which may be lost, or run elsewhere."""
    changes: list[tuple[Row, int]] = []
    for step in steps:
        if not isinstance(step, int):
            there.append(step)
            changes.append((step, INSERT))
        elif there:
            gone = there[step % len(there)]
            there.remove(gone)
            changes.append((gone, DELETE))
    batches = [changed(changes)] if changes else []
    if random.random() < 0.2:
        harness.epoch(*batches, lost=True)
    if random.random() < 0.2:
        harness.renew(random.randint(1, parallelism))
    for kind, *row in harness.rows(*batches):
        (key,) = plain([(kind, *row)])
        table[key] += 1 if kind == INSERT else -1
        assert table[key] >= 0


TEXT = VarCharType(9)
ORDERS = [
    (SortColumn(2, True, True),),
    (SortColumn(2, False, False),),
    (SortColumn(2, True, False),),
    (SortColumn(0, False, True), SortColumn(2, True, True)),
    (SortColumn(2, False, True), SortColumn(1, True, True)),
    (),
]
FRAMES = [
    PartitionFrame(True, -2, 0),
    PartitionFrame(True, -1, 2),
    PartitionFrame(True, -3, -2),
    PartitionFrame(True, 1, 3),
    PartitionFrame(True, 0, None),
    PartitionFrame(True, None, 0),
    PartitionFrame(True, None, 2),
    PartitionFrame(False, None, 0),
    PartitionFrame(False, None, 1),
    PartitionFrame(False, 0, 0),
    PartitionFrame(False, -1, 0),
    PartitionFrame(False, -2, 1),
    PartitionFrame(False, -3, -2),
    PartitionFrame(False, None, None),
]
NEAR = (
    *CALLS,
    Aggregation("MIN", (2,), (BIGINT,), BIGINT, "MIN(v)"),
    Aggregation("COUNT", (2,), (BIGINT,), BIGINT, "COUNT(DISTINCT v)", distinct=True),
    Aggregation("LISTAGG", (0,), (TEXT,), TEXT, "LISTAGG(k)"),
)
LAG = Aggregation("LAG", (2,), (BIGINT,), BIGINT, "LAG(v)")
LEAD = Aggregation("LEAD", (2,), (BIGINT,), BIGINT, "LEAD(v)")
RANKS = tuple(Aggregation(name, (), (), BIGINT, f"{name}()") for name in ("ROW_NUMBER", "RANK", "DENSE_RANK"))


def over_of(
    keys: tuple[int, ...], order: tuple[SortColumn, ...], framed: list[tuple[Aggregation, PartitionFrame]]
) -> OverPartitions:
    fields = [Field(f"r{place}", call.type) for place, (call, _) in enumerate(framed)]
    return OverPartitions(
        INPUT, RowType((*INPUT.fields, *fields), nullable=False), keys, order, tuple(framed)
    )


def in_batch(over: OverPartitions, there: list[Row]) -> Counter[tuple[Any, ...]]:
    """Return what BATCH mode answers for rows in the order in which they came."""
    harness = Harness(lambda: OverPartitionsOperator(over), over.keys)
    return plain(harness.rows(*([batch_of(there)] if there else []), final=True))


@pytest.mark.parametrize("keys", [(0,), ()], ids=["by key", "all together"])
@given(st.data(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_any_window_follows_the_rows_as_batch_has_it(
    keys: tuple[int, ...], data: st.DataObject, random: Any
) -> None:
    order = data.draw(st.sampled_from(ORDERS))
    suited = [frame for frame in FRAMES if frame.rows or len(order) == 1 or not (frame.lower or frame.upper)]
    if data.draw(st.booleans()):
        suited = [frame for frame in suited if frame.lower is None and frame.upper is not None]
    framed = [
        (call, data.draw(st.sampled_from(suited)))
        for call in data.draw(st.lists(st.sampled_from(NEAR), min_size=1, max_size=3))
    ]
    if data.draw(st.booleans()):
        framed += [(call, PartitionFrame(True, -1, 1)) for call in (LAG, LEAD)]
    ranked = data.draw(st.integers(0, 3)) if order else 3
    if ranked < 2:
        ranks = [(call, PartitionFrame(call.function == "ROW_NUMBER", None, 0)) for call in RANKS]
        framed = ranks if ranked else framed + ranks
    over = over_of(keys, order, framed)
    harness = Harness(lambda: OverChangesOperator(over), keys, data.draw(st.integers(1, 3)) if keys else 1)
    there: list[Row] = []
    table = Counter[tuple[Any, ...]]()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(BlockedRows, "size", data.draw(st.sampled_from([1, 2, 4, 256])))
        for steps in data.draw(
            st.lists(st.lists(rows | st.integers(0, 60), max_size=25), min_size=1, max_size=8)
        ):
            follow(harness, there, table, steps, random, parallelism=3 if keys else 1)
            assert +table == in_batch(over, there)


@pytest.mark.parametrize("calls", [RANKS, CALLS[:2]], ids=["ranks", "sums"])
@pytest.mark.parametrize("order", ORDERS[1:4], ids=str)
def test_a_change_at_the_end_of_a_partition_does_not_read_all_of_it(
    order: tuple[SortColumn, ...], calls: tuple[Aggregation, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    over = over_of((), order, [(call, PartitionFrame(False, None, 0)) for call in calls])
    harness = Harness(lambda: OverChangesOperator(over), ())
    ahead = order[-1].ascending
    rows: list[Row] = [("a", 0, number if ahead else -number) for number in range(2000)]
    harness.rows(
        *(changed([(row, INSERT) for row in rows[start : start + 500]]) for start in range(0, 2000, 500))
    )
    read = []
    given = BlockedRows.read

    def counted(self: BlockedRows, *wanted: Any) -> Any:
        found = given(self, *wanted)
        read.append(found[0].num_rows)
        return found

    monkeypatch.setattr(BlockedRows, "read", counted)
    last: Row = ("a", 0, 3000 if ahead else -3000)
    (sent,) = harness.rows(changed([(last, INSERT)]))
    assert sent[-len(calls) :] == (
        (2001, 2001, 2001) if calls is RANKS else (2001, sum(row[2] or 0 for row in [*rows, last]))
    )
    assert sum(read) < 1200


def table_of(mode: str, path: Path, **options: int) -> Counter[tuple[Any, ...]]:
    env = TableEnvironment.create(getattr(EnvironmentSettings, f"in_{mode}_mode")())
    env.execute_sql(
        f"CREATE TABLE t (a INT, b INT) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"
    )
    query = (
        "SELECT a, b, n, SUM(n) OVER w, AVG(b) OVER w, RANK() OVER w "
        "FROM (SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b) WINDOW w AS (PARTITION BY a ORDER BY n)"
    )
    if mode == "batch":  # there, as in Flink, RANK is that of the first row of equal ones
        query = query.replace("RANK()", "COUNT(*)")
    table = Counter[tuple[Any, ...]]()
    with executing("process", **options), env.execute_sql(query).collect() as results:
        for row in results:
            table[tuple(row)] += 1 if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER) else -1
    return +table


@pytest.mark.parametrize(("parallelism", "records"), [(1, 7), (2, 5), (3, 1000)])
def test_over_groups_that_change_the_table_is_that_of_batch(
    parallelism: int, records: int, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("".join(f"{n % 4},{n * n % 11}\n" for n in range(120)))
    found = table_of("streaming", tmp_path, parallelism=parallelism, epoch_records=records)
    assert found == table_of("batch", tmp_path, parallelism=1)

"""Rows of Parquet that a source leaves out one by one: those for which a condition is not TRUE, and no others."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.connectors.files import parquet_reading
from firesteel.connectors.files.parquet_files import ParquetColumns
from firesteel.connectors.files.row_filters import rows_that_may_meet, sifted
from firesteel.connectors.files.source import FileSource
from firesteel.functions.columns.pushdowns import Comparison, Condition, Junction, Like, NullTest
from firesteel.functions.source import UNLIMITED
from tests.connectors.conditions import holds

DAY = dt.date(2026, 1, 1)
COLUMNS = {
    "n": st.integers(-5, 5),
    "s": st.sampled_from(["", "a", "ab", "b\n", "a%", "é😀", "zz"]),
    "d": st.integers(-300, 300).map(lambda cents: Decimal(cents) / 100),
    "x": st.integers(0, 5).map(lambda days: DAY + dt.timedelta(days)),
    "f": st.sampled_from([0.0, -0.0, 1.5, -2.0]),
    "b": st.booleans(),
}
TYPES = {
    "n": pa.int16(),
    "s": pa.string(),
    "d": pa.decimal128(6, 2),
    "x": pa.date32(),
    "f": pa.float64(),
    "b": pa.bool_(),
}
Rows = list[dict[str, Any]]

rows = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, values in COLUMNS.items()}), max_size=30
)
operators = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
comparisons = st.sampled_from([*COLUMNS]).flatmap(
    lambda name: st.builds(Comparison, st.just(name), operators, COLUMNS[name])
)
tests = st.builds(NullTest, st.sampled_from([*COLUMNS]), st.booleans())
patterns = st.builds(Like, st.just("s"), st.sampled_from(["a%", "%", "%a%", "é%", "b%", "ab", "%😀"]))
conditions: st.SearchStrategy[Condition] = st.recursive(
    comparisons | tests | patterns,
    lambda parts: st.builds(
        Junction, st.lists(parts, min_size=1, max_size=3).map(tuple), any_of=st.booleans()
    ),
    max_leaves=6,
)


def columns(given: Rows) -> dict[str, pa.Array]:
    return {name: pa.array([row[name] for row in given], kind) for name, kind in TYPES.items()}


@given(rows, conditions)
def test_a_condition_is_true_of_the_same_rows_whether_texts_are_coded_or_not(
    given: Rows, condition: Condition
) -> None:
    plain = columns(given)
    expected = [holds(condition, row) for row in given]
    for texts in (plain["s"], plain["s"].dictionary_encode()):
        found = rows_that_may_meet(condition, {**plain, "s": texts})
        assert found is not None
        assert [one is True for one in found.to_pylist()] == expected


UNKNOWN = Like("s", "a_")
KNOWN = Comparison("n", ">", 1)


@pytest.mark.parametrize(
    "condition",
    [
        UNKNOWN,
        Comparison("other", "=", 1),
        Comparison("n", "<", 40_000),
        Comparison("n", "=", "1"),
        Comparison("d", "<", Decimal("1.005")),
        Comparison("x", ">", dt.datetime(2026, 1, 1, 5)),
        Comparison("t", "<", dt.datetime(2026, 1, 1, 5, 0, 0, 1)),
        Comparison("t", "<", dt.datetime(2026, 1, 1, 5, tzinfo=dt.UTC)),
        Comparison("z", "<", dt.datetime(2026, 1, 1, 5)),
        Comparison("f", "=", float("nan")),
        Like("n", "1%"),
        Junction((KNOWN, UNKNOWN), any_of=True),
        Junction((UNKNOWN,)),
    ],
)
def test_what_cannot_be_told_rules_out_no_row(condition: Condition) -> None:
    times = {"t": pa.array([None], pa.timestamp("ms")), "z": pa.array([None], pa.timestamp("us", "UTC"))}
    assert rows_that_may_meet(condition, {**columns([dict.fromkeys(COLUMNS)]), **times}) is None


def test_the_rest_of_a_condition_still_rules_out_rows() -> None:
    numbers = {"n": pa.array([0, 1, 2, None]), "s": pa.array(["ab", "b", "c", "ab"])}
    found = rows_that_may_meet(Junction((UNKNOWN, KNOWN)), numbers)
    assert found is not None
    assert found.to_pylist() == [False, False, True, None]


@given(rows, conditions)
def test_rows_are_sifted_part_by_part(given: Rows, condition: Condition) -> None:
    batch = pa.record_batch({"at": pa.array(range(len(given)), pa.int64()), **columns(given)})
    left = sifted(batch, condition).column("at").to_pylist()
    met = {at for at, row in enumerate(given) if holds(condition, row)}
    assert met <= set(left)
    assert left == sorted(set(left))
    assert len(met) == len(left) or 2 * len(met) > len(left)


def read(path: Path, schema: pa.Schema, condition: Condition | None, *cuts: int) -> list[pa.RecordBatch]:
    source = FileSource([path], ParquetColumns(schema, condition), splittable=False)
    [split] = source.splits(frozenset())
    ranges = zip([0, *cuts], [*cuts, UNLIMITED], strict=True)
    return [
        batch
        for start, end in ranges
        for batches in source.read(split, start, min(end, split.end or 0))
        for batch in batches
    ]


SCHEMA = pa.schema({"s": pa.string(), "n": pa.int64()})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of ten thousand rows in row groups of a thousand: the text of every tenth row is `ten`."""
    path = tmp_path / "a.parquet"
    texts = ["ten" if number % 10 == 0 else f"{number % 7}" for number in range(10_000)]
    pq.write_table(pa.table({"n": range(10_000), "s": texts}), path, row_group_size=1000)
    return path


@pytest.mark.parametrize("cuts", [(), (1, 2, 500, 1000, 2500), (9_999,)])
def test_few_rows_of_many_row_groups_come_together(file: Path, cuts: tuple[int, ...]) -> None:
    found = read(file, SCHEMA, Comparison("s", "=", "ten"), *cuts)
    assert len(found) <= len(cuts) + 1
    assert all(batch.schema == SCHEMA for batch in found)
    table = pa.Table.from_batches(found)
    if not cuts:
        assert table.column("n").to_pylist() == [*range(0, 10_000, 10)]
    assert set(range(0, 10_000, 10)) <= set(table.column("n").to_pylist())


def test_rows_of_a_condition_that_most_rows_meet_are_not_copied(file: Path) -> None:
    found = pa.Table.from_batches(read(file, SCHEMA, Comparison("s", "<>", "ten")))
    assert found.equals(pa.Table.from_batches(read(file, SCHEMA, None)))
    assert found.column("n").to_pylist() == [*range(10_000)]


def test_a_condition_that_no_row_meets_gives_no_batch(file: Path) -> None:
    assert read(file, SCHEMA, Comparison("s", "=", "te"), 17, 3000) == []


def test_texts_that_are_stored_once_are_written_out_in_short_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_reading, "_BATCH_BYTES", 8 << 20)
    path = tmp_path / "a.parquet"
    written = pa.table({"s": ["long" * 250, None, "other"] * 10_000, "n": range(30_000)})
    pq.write_table(written, path)
    assert path.stat().st_size < 1 << 20
    found = read(path, SCHEMA, None)
    assert max(batch.nbytes for batch in found) <= 8 << 20
    assert pa.Table.from_batches(found).equals(written)


def test_texts_of_a_chunk_whose_dictionary_was_full_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = [f"{number % 3}" for number in range(9000)] + [f"text {number}" for number in range(3000)]
    written = pa.table({"s": texts, "n": range(12_000)})
    pq.write_table(written, path, dictionary_pagesize_limit=1000, data_page_size=1000)
    assert pa.Table.from_batches(read(path, SCHEMA, None, 8999, 9001)).equals(written)
    [found] = read(path, SCHEMA, Like("s", "text 29%"))
    assert found.column("n").to_pylist() == [9029, *range(9290, 9300), *range(11_900, 12_000)]

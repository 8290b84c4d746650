"""Arrangements against a model: a dict for upserts, a counter for multisets; also if all hashes collide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.hashing import Words, hash_columns
from firesteel.state.arrangements.layout import Kind, Layout

ROWS = pa.schema(
    [("time", pa.int64()), ("name", pa.string()), ("number", pa.float64()), ("value", pa.int64())]
)

Row = tuple[int, str | None, float | None, int]
Step = tuple[str, list[Row]]


def colliding(columns: Sequence[pa.Array]) -> Words:
    """Return one of three hashes."""
    return hash_columns(columns) % np.uint64(3)


def same_high_bits(columns: Sequence[pa.Array]) -> Words:
    """Return hashes that differ in their low bits only."""
    return hash_columns(columns) % np.uint64(7) + np.uint64(1 << 60)


HASHES: list[Callable[[Sequence[pa.Array]], Words]] = [hash_columns, colliding, same_high_bits]
KEYS = ("name", "number")

row = st.tuples(
    st.integers(-2, 2),
    st.sampled_from(["a", "b", "c", None]),
    st.sampled_from([0.0, 1.5, None]),
    st.integers(0, 3),
)
step = st.tuples(
    st.sampled_from(["put", "delete", "drop", "read", "commit", "settle", "wait"]), st.lists(row, max_size=6)
)
history = st.lists(step, max_size=12)
ROWS_OF_CHUNKS = st.sampled_from([1, 2, 3, 1000])


@st.composite
def layouts(draw: st.DrawFn, kind: Kind) -> Layout:
    return Layout(
        ROWS,
        KEYS,
        kind,
        leading=draw(st.sampled_from([None, "time"])),
        time_to_live=draw(st.sampled_from([None, 3, 8])),
        hashed=draw(st.sampled_from(HASHES)),
    )


def batch_of(rows: Sequence[Row]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) or [()] * 4
    return pa.RecordBatch.from_arrays(
        [pa.array(column, kind) for column, kind in zip(columns, ROWS.types, strict=True)], schema=ROWS
    )


def rows_in(batch: pa.RecordBatch) -> list[Row]:
    return list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def key_of(layout: Layout, given: Row) -> tuple[Any, ...]:
    return given[:3] if layout.leading else given[1:3]


def distinct_keys(layout: Layout, rows: Sequence[Row]) -> list[Row]:
    return list({key_of(layout, given): given for given in rows}.values())


class Life:
    """The rows of a model by when they were last written; `now` is the time."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.now = layout, 0
        self.written = dict[Any, int]()

    def write(self, what: Any) -> None:
        self.written[what] = self.now

    def lives(self, what: Any) -> bool:
        limit = self.layout.time_to_live
        return what in self.written and (limit is None or self.now < self.written[what] + limit)

    def wait(self, arrangement: Arrangement, milliseconds: int) -> None:
        arrangement.changes()
        self.now += milliseconds
        arrangement.advance(self.now)


@given(history, layouts(Kind.UPSERT), ROWS_OF_CHUNKS)
def test_upserts_are_a_dict(steps: list[Step], layout: Layout, chunk_rows: int) -> None:
    arrangement, rows_of_keys = Arrangement(layout, chunk_rows=chunk_rows), dict[tuple[Any, ...], Row]()
    life = Life(layout)
    for name, rows in steps:
        model = {key: found for key, found in rows_of_keys.items() if life.lives(key)}
        match name:
            case "put":
                arrangement.put(batch_of(rows))
                for given in rows:
                    model[key_of(layout, given)] = given
                    life.write(key_of(layout, given))
            case "delete":
                arrangement.delete(batch_of(rows))
                for given in rows:
                    model.pop(key_of(layout, given), None)
            case "drop" if layout.leading and rows:
                limit = rows[0][0]
                arrangement.drop_up_to(limit)
                model = {key: found for key, found in model.items() if found[0] > limit}
            case "read":
                wanted = distinct_keys(layout, rows)
                found = arrangement.get(batch_of(wanted))
                got = dict(zip(found.keys.tolist(), rows_in(found.rows), strict=True))
                known = {place: model.get(key_of(layout, given)) for place, given in enumerate(wanted)}
                assert got == {place: found for place, found in known.items() if found is not None}
            case "commit":
                arrangement.changes()
            case "settle":
                arrangement.settle()
            case "wait":
                life.wait(arrangement, len(rows))
        rows_of_keys = model
        there = [found for key, found in model.items() if life.lives(key)]
        assert sorted(everything(arrangement), key=repr) == sorted(there, key=repr)
        if layout.leading:
            below = [given for given in there if given[0] <= 0]
            assert sorted(rows_in(arrangement.up_to(0)), key=repr) == sorted(below, key=repr)


@given(history, layouts(Kind.MULTISET), ROWS_OF_CHUNKS)
def test_multisets_are_counters(steps: list[Step], layout: Layout, chunk_rows: int) -> None:
    arrangement, counts, life = Arrangement(layout, chunk_rows=chunk_rows), Counter[Row](), Life(layout)
    for name, rows in steps:
        model = Counter({found: count for found, count in counts.items() if life.lives(found)})
        match name:
            case "put":
                arrangement.put(batch_of(rows))
                model.update(rows)
                for given in rows:
                    life.write(given)
            case "delete":
                there = [given for given in rows if model[given] >= rows.count(given)]
                arrangement.delete(batch_of(there))
                model.subtract(there)
                for given in there:
                    life.write(given)
            case "drop" if layout.leading and rows:
                limit = rows[0][0]
                arrangement.drop_up_to(limit)
                model = Counter({found: count for found, count in model.items() if found[0] > limit})
            case "read":
                wanted = distinct_keys(layout, rows)
                found = arrangement.of(batch_of(wanted))
                got = sorted(
                    zip(found.keys.tolist(), rows_in(found.rows), found.weights.tolist(), strict=True),
                    key=repr,
                )
                known = [
                    (place, given, count)
                    for place, want in enumerate(wanted)
                    for given, count in model.items()
                    if count and key_of(layout, given) == key_of(layout, want)
                ]
                assert got == sorted(known, key=repr)
            case "commit":
                arrangement.changes()
            case "settle":
                arrangement.settle()
            case "wait":
                life.wait(arrangement, len(rows))
        counts = model
        living = [found for found, count in model.items() if count and life.lives(found)]
        assert sorted(everything(arrangement), key=repr) == sorted(living, key=repr)


@given(history, layouts(Kind.UPSERT) | layouts(Kind.MULTISET), ROWS_OF_CHUNKS)
def test_changes_of_epochs_make_the_same_arrangement(
    steps: list[Step], layout: Layout, chunk_rows: int
) -> None:
    arrangement, copy = Arrangement(layout, chunk_rows=chunk_rows), Arrangement(layout, chunk_rows=chunk_rows)
    upsert, now = layout.kind is Kind.UPSERT, 0
    for name, rows in steps:
        if name == "put" or (name == "delete" and upsert):
            arrangement.change(batch_of(rows), np.full(len(rows), 1 if name == "put" else -1))
        elif name == "drop" and layout.leading and rows:
            arrangement.drop_up_to(rows[0][0])
        elif name == "commit":
            copy.load(arrangement.changes())
        elif name == "wait":
            now += len(rows)
            copy.load(arrangement.changes())
            arrangement.advance(now)
    copy.load(arrangement.changes())
    copy.advance(now)
    assert everything(copy) == everything(arrangement)


def everything(arrangement: Arrangement) -> list[Row]:
    return [found for batch in arrangement.rows() for found in rows_in(batch)]


def test_nan_is_one_key_and_the_zeros_are_two() -> None:
    arrangement = Arrangement(Layout(ROWS, KEYS))
    nan = float("nan")
    for value, number in enumerate([nan, 0.0, -0.0, nan]):
        arrangement.put(batch_of([(0, "a", number, value)]))
    found = arrangement.get(batch_of([(0, "a", nan, 0), (0, "a", 0.0, 0), (0, "a", -0.0, 0)]))
    assert sorted(zip(found.keys.tolist(), found.rows["value"].to_pylist(), strict=True)) == [
        (0, 3),
        (1, 1),
        (2, 2),
    ]


def test_a_layout_refuses_columns_that_it_does_not_have() -> None:
    with pytest.raises(ValueError, match="no columns"):
        Layout(ROWS, ("nobody",))
    with pytest.raises(ValueError, match="reserved"):
        Layout(pa.schema([("$hash", pa.int64())]), ())
    with pytest.raises(ValueError, match="leading"):
        Layout(ROWS, ("time",), leading="time")
    with pytest.raises(ValueError, match="time to live"):
        Layout(ROWS, ("time",), time_to_live=0)


def test_a_change_that_comes_to_nothing_is_searched_all_the_same() -> None:
    arrangement = Arrangement(Layout(ROWS, KEYS, Kind.MULTISET))
    rows = pa.RecordBatch.from_pylist([{"time": 1, "name": "a", "number": 1.0, "value": 1}] * 2, ROWS)
    arrangement.change(rows, np.array([1, -1]))
    assert not len(arrangement.of(rows.slice(0, 1).select(KEYS)).keys)


@given(layouts(Kind.MULTISET), history, st.integers(1, 4))
def test_rows_of_keys_in_parts_are_those_at_once(layout: Layout, steps: list[Step], most: int) -> None:
    arrangement = Arrangement(layout, chunk_rows=3)
    for name, rows in steps:
        if name == "commit":
            arrangement.changes()
        elif rows:
            (arrangement.delete if name == "delete" else arrangement.put)(batch_of(rows))
    keys = pa.RecordBatch.from_pydict(
        {"time": [0, 1, 0], "name": ["a", "b", None], "number": [1.5, None, 0.0]},
        schema=ROWS.remove(3),
    )
    wanted = keys if layout.leading else keys.drop_columns(["time"])

    def plain(found: list[Any]) -> Counter[Any]:
        return Counter(
            {
                (key, *row.values()): weight
                for part in found
                for key, row, weight in zip(
                    part.keys.tolist(), part.rows.to_pylist(), part.weights.tolist(), strict=True
                )
            }
        )

    parts = [*arrangement.in_parts(wanted, most)]
    assert plain(parts) == plain([arrangement.of(wanted)])
    assert sum(part.rows.num_rows for part in parts) == arrangement.of(wanted).rows.num_rows


def test_the_rows_of_one_key_are_read_in_parts() -> None:
    layout = Layout(pa.schema([("k", pa.int64()), ("v", pa.int64())]), ("k",), Kind.MULTISET)
    arrangement = Arrangement(layout)
    for start in range(0, 10_000, 2_500):
        values = np.arange(start, start + 2_500)
        arrangement.put(pa.RecordBatch.from_pydict({"k": np.zeros(2_500, np.int64), "v": values}))
        arrangement.changes()
    sizes = [
        part.rows.num_rows for part in arrangement.in_parts(pa.RecordBatch.from_pydict({"k": [0]}), 1_000)
    ]
    assert len(sizes) == 10
    assert sum(sizes) == 10_000
    assert max(sizes) < 1_200

"""The hash of columns: it never changes, and does not depend on how a column is stored."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.state.arrangements.columns import same_rows
from firesteel.state.arrangements.hashing import LONGEST, first_hash, hash_columns, key_groups

GOLDEN = [
    (
        pa.array([0, -1, None, 2**62]),
        ["0xe220a8397b1dcdaf", "0xe4d971771b652c20", "0xa7fb0c1b3a8d23e", "0xaa50ea8e0fa9eb"],
    ),
    (
        pa.array([0.0, -0.0, math.nan, None, 1.5]),
        [
            "0xe220a8397b1dcdaf",
            "0x481ec0a212a9f3db",
            "0xc72971d82e15bb46",
            "0xa7fb0c1b3a8d23e",
            "0xd6dab18e1392608a",
        ],
    ),
    (pa.array([True, False]), ["0x910a2dec89025cc1", "0xe220a8397b1dcdaf"]),
    (
        pa.array(["", "a", "exactly8", "nine chars", "x" * 200]),
        [
            "0xa706dd2f4d197e6f",
            "0xc65453bac8da37f7",
            "0x2a31b4b7b1120265",
            "0xe93b6ec340097864",
            "0x41df90b64912ac5",
        ],
    ),
    (pa.array([decimal.Decimal("1.50")], pa.decimal128(10, 2)), ["0x85db4a006873013c"]),
    (pa.array([dt.datetime(2024, 1, 2, 3, 4, 5)], pa.timestamp("ms")), ["0xae32adee8dbcdd54"]),
    (pa.array([dt.date(2024, 1, 2)]), ["0x596cad38c0cd30d6"]),
    (pa.array([[1, None], [], None]), ["0xabe552c0227ae257", "0xa706dd2f4d197e6f", "0xa7fb0c1b3a8d23e"]),
    (pa.array([[("b", 1), ("a", None)]], pa.map_(pa.string(), pa.int32())), ["0x6b847a5680600198"]),
    (pa.array([{"a": 1, "b": "x"}, None]), ["0x860eb442aea2a43", "0xa86bb89fbf75f02f"]),
]


@pytest.mark.parametrize(("column", "hashes"), GOLDEN)
def test_hashes_in_checkpoints_stay_valid(column: pa.Array, hashes: list[str]) -> None:
    assert [hex(value) for value in hash_columns([column]).tolist()] == hashes


def test_equal_numbers_of_any_width_have_one_hash() -> None:
    values = [1, -7, None, 0]
    hashes = [hash_columns([pa.array(values, kind)]).tolist() for kind in (pa.int8(), pa.int32(), pa.int64())]
    assert hashes[0] == hashes[1] == hashes[2]


def test_the_order_of_columns_matters_and_null_is_no_zero() -> None:
    a, b = pa.array([1, 0]), pa.array([2, None])
    assert hash_columns([a, b])[0] != hash_columns([b, a])[0]
    assert hash_columns([pa.array([0])])[0] != hash_columns([pa.array([None], pa.int64())])[0]


def test_zeros_at_the_end_of_binary_values_count() -> None:
    assert (
        len(set(hash_columns([pa.array([b"", b"\x00", b"\x00\x00", b"\x00" * 8, b"\x00" * 9])]).tolist()))
        == 5
    )


LISTS = pa.list_(pa.list_(pa.string()))
MAPS = pa.map_(pa.string(), pa.struct([("x", pa.float64())]))
texts = st.sampled_from(["", "a", "b", None])
lists = st.none() | st.lists(st.none() | st.lists(texts, max_size=3), max_size=3)
maps = st.none() | st.lists(
    st.tuples(st.sampled_from("abcd"), st.none() | st.sampled_from([0.0, 1.0]).map(lambda x: {"x": x})),
    max_size=3,
    unique_by=lambda entry: entry[0],
)


@pytest.mark.parametrize(("kind", "values"), [(LISTS, lists), (MAPS, maps)], ids=["lists", "maps"])
@given(st.data())
def test_lists_and_maps_are_equal_if_their_elements_are(
    kind: pa.DataType, values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    left = data.draw(st.lists(values, min_size=1, max_size=6))
    right = [data.draw(st.just(value) | values) for value in left]
    if kind is MAPS:
        right = [value and data.draw(st.permutations(value)) for value in right]
    start = data.draw(st.integers(0, len(left) - 1))
    columns = [pa.array(column, kind).slice(start) for column in (left, right)]
    one, other = (pa.RecordBatch.from_arrays([column], ["it"]) for column in columns)
    as_sets = [
        [value and sorted(value, key=repr) if kind is MAPS else value for value in column[start:]]
        for column in (left, right)
    ]
    expected = [mine == others for mine, others in zip(*as_sets, strict=True)]
    assert same_rows(one, other, ["it"]).tolist() == expected
    first, second = (hash_columns([column]).tolist() for column in columns)
    assert [mine == others for mine, others in zip(first, second, strict=True)] == expected


def test_a_union_cannot_be_a_key() -> None:
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    with pytest.raises(TypeError, match="cannot be keys"):
        hash_columns([union])


def test_texts_that_are_there_again_and_again_have_the_same_hashes() -> None:
    texts = ["a", None, "", "long" * LONGEST, "b"]
    many = pa.array(texts * 1000, pa.string())
    assert hash_columns([many]).tolist() == hash_columns([pa.array(texts, pa.string())]).tolist() * 1000
    nothing = pa.nulls(5000, pa.string())
    assert set(hash_columns([nothing]).tolist()) == set(hash_columns([nothing.slice(0, 1)]).tolist())


@given(
    st.lists(st.none() | st.text(max_size=20) | st.just("y" * (LONGEST + 1)), min_size=1, max_size=30),
    st.data(),
)
def test_a_text_has_one_hash_wherever_it_lies(texts: list[str | None], data: st.DataObject) -> None:
    column = pa.array(texts, pa.string())
    hashes = hash_columns([column])
    start = data.draw(st.integers(0, len(texts) - 1))
    assert hash_columns([column.slice(start)]).tolist() == hashes[start:].tolist()
    assert hash_columns([column.cast(pa.large_string())]).tolist() == hashes.tolist()
    assert hash_columns([column.dictionary_encode()]).tolist() == hashes.tolist()
    for text, value in zip(texts, hashes, strict=True):
        assert hash_columns([pa.array([text], pa.string())])[0] == value
    distinct = dict(zip(texts, hashes.tolist(), strict=True))
    assert len(set(distinct.values())) == len(distinct)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1), st.sampled_from([1, 3, 128, 720, 32768]))
def test_key_groups_rise_with_hashes(values: list[int], max_parallelism: int) -> None:
    hashes = np.array(sorted(values), np.uint64)
    groups = key_groups(hashes, max_parallelism)
    assert (np.diff(groups) >= 0).all()
    for value, group in zip(sorted(values), groups.tolist(), strict=True):
        assert first_hash(group, max_parallelism) <= value < first_hash(group + 1, max_parallelism)


def test_key_groups_are_even() -> None:
    groups = key_groups(hash_columns([pa.array(np.arange(128_000))]), 128)
    counts = np.bincount(groups, minlength=128)
    assert counts.min() > 850
    assert counts.max() < 1150

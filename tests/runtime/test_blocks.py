"""Blocks carry records, timestamps, keys and the places of watermarks unchanged."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import SerializationError
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.blocks import decode_block, encode_block

plain = st.one_of(
    st.none(), st.integers(), st.text(), st.binary(), st.tuples(st.text(), st.floats(allow_nan=False))
)
stamps = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.tuples(plain, stamps, st.text()), max_size=30), st.data())
def test_a_block_comes_back_as_it_was(records, data):
    values, timestamps, keys = (
        (list(column) for column in zip(*records, strict=True)) if records else ([], [], [])
    )
    marks = data.draw(st.lists(st.tuples(st.integers(0, len(values)), st.none() | stamps), max_size=3))
    batch, found = decode_block(encode_block(RowBatch(values, timestamps, keys), marks))
    assert (batch.values, batch.timestamps, batch.keys, found) == (values, timestamps, keys, marks)


@given(st.lists(st.tuples(plain, st.none() | stamps), min_size=1, max_size=30))
def test_records_without_a_timestamp_travel_beside_records_with_one(records):
    values, timestamps = (list(column) for column in zip(*records, strict=True))
    assert decode_block(encode_block(RowBatch(values, timestamps), []))[0].timestamps == timestamps


def test_values_of_a_local_class_travel():
    class Point:
        def __init__(self, x):
            self.x = x

    batch, _ = decode_block(encode_block(RowBatch([Point(1)]), []))
    assert batch.values[0].x == 1


def test_a_record_that_cannot_be_pickled_is_named():
    with pytest.raises(SerializationError, match="got a lock") as raised:
        encode_block(RowBatch([1, threading.Lock()]), [])
    assert "<unlocked _thread.lock" in raised.value.details


@given(st.lists(st.tuples(st.integers(0, 9), st.none() | stamps), max_size=3))
def test_marks_travel_without_records(marks):
    assert decode_block(encode_block(None, marks)) == (None, marks)

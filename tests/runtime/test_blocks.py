"""Blocks carry records, timestamps, keys and the places of watermarks unchanged."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import SerializationError
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
    assert decode_block(encode_block(values, timestamps, keys, marks)) == (values, timestamps, keys, marks)


@given(st.lists(st.tuples(plain, st.none() | stamps), min_size=1, max_size=30))
def test_records_without_a_timestamp_travel_beside_records_with_one(records):
    values, timestamps = (list(column) for column in zip(*records, strict=True))
    assert decode_block(encode_block(values, timestamps, None, []))[1] == timestamps


def test_values_of_a_local_class_travel():
    class Point:
        def __init__(self, x):
            self.x = x

    values, *_ = decode_block(encode_block([Point(1)], None, None, []))
    assert values[0].x == 1


def test_a_record_that_cannot_be_pickled_is_named():
    with pytest.raises(SerializationError, match="got a lock"):
        encode_block([1, threading.Lock()], None, None, [])

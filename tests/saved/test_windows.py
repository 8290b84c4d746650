"""Windows as columns of saved state: each is read as data, and written as the same window again."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common import Types
from firesteel.common.errors import ProgramError, TypeMismatchError
from firesteel.functions.windows import WINDOW_CODEC, CountWindow, GlobalWindow, TimeWindow, Window
from firesteel.saved.entries import StoredRow
from firesteel.saved.row_columns import RowColumns, RowTypes
from firesteel.saved.row_writing import RowWriter, Written
from firesteel.saved.windows import WINDOW, is_window_type, window_column, window_of
from firesteel.state.keys.composite import WindowedComposer
from firesteel.state.keys.groups import state_key
from firesteel.state.values.codecs import ValueCodec

LONG = st.integers(-(1 << 63), (1 << 63) - 1)


class Shard(NamedTuple):
    """A window of a program: no subclass, as PyFlink's own are none."""

    number: int
    text: str


class Misleading(Window):
    """A window that looks like others: its fields and its text are theirs, its class is not."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end

    def max_timestamp(self) -> int:
        return self.end

    def __repr__(self) -> str:
        return "CountWindow(id=3)"

    def __eq__(self, other: object) -> bool:
        return type(other) is Misleading and (self.start, self.end) == (other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.start, self.end))


WINDOWS = [TimeWindow(-5, 5), CountWindow(3), GlobalWindow.get(), Shard(1, "a"), Misleading(1, 2)]


@pytest.mark.parametrize("window", WINDOWS, ids=repr)
def test_every_window_survives_its_column(window):
    [stored] = pa.array([window_column(window)], WINDOW).to_pylist()
    assert window_of(stored) == window
    assert type(window_of(stored)) is type(window)
    assert stored["text"] == repr(window)


@given(LONG, LONG)
def test_time_and_count_windows_keep_their_numbers(one, other):
    for window in (TimeWindow(one, other), CountWindow(one)):
        [stored] = pa.array([window_column(window)], WINDOW).to_pylist()
        assert window_of(stored) == window


def test_the_text_is_not_read():
    assert window_of({"kind": "count", "id": 3, "text": "GlobalWindow"}) == CountWindow(3)
    assert window_of({"start": None, "end": None, "text": "CountWindow(id=3)"}) is None


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "time", "start": 1, "end": None},
        {"kind": "count", "start": 1, "end": 2},
        {"kind": "other", "raw": None},
        {"kind": "tumbling", "start": 1, "end": 2},
        {"kind": None, "start": 1, "end": None},
        {},
    ],
    ids=repr,
)
def test_a_struct_that_describes_no_window_is_none(value):
    assert window_of(value) is None


def test_a_struct_of_start_and_end_is_a_time_window():
    assert is_window_type(pa.struct([("start", pa.int64()), ("end", pa.int64())]))
    assert window_of({"start": 0, "end": 5}) == TimeWindow(0, 5)


SCHEMA = {"scope": "windowed", "kind": "value", "name": "n", "id": 7, "type": {"type": "INT"}}
WHO = "state 'n'"


@pytest.mark.parametrize("window", WINDOWS, ids=repr)
def test_what_was_read_is_written_to_the_same_key(window):
    key = state_key("ann")
    columns = RowColumns(SCHEMA, RowTypes(), WHO)
    encoded = ValueCodec(Types.INT(), WHO).encode(5)
    [batch] = columns.batches([StoredRow(key, window, None, encoded, None)])
    frame = batch.select(["key_raw", "namespace", "value"])
    writer = RowWriter(Written(SCHEMA, None, 128, 0), frame.schema, WINDOW_CODEC, WHO)
    [(composite, _)] = writer.entries(frame)
    assert composite == WindowedComposer(7, 128, WINDOW_CODEC)((key, window))


def test_a_namespace_of_another_type_is_refused_with_what_is_required():
    columns = pa.schema([("key", pa.string()), ("value", pa.int32()), ("namespace", pa.string())])
    with pytest.raises(ProgramError, match="requires a struct with start and end, or with kind, in column"):
        RowWriter(Written(SCHEMA, None, 128, 0), columns, WINDOW_CODEC, WHO)
    columns = columns.set(2, pa.field("namespace", pa.struct([("kind", pa.string())])))
    batch = pa.RecordBatch.from_pylist(
        [{"key": "a", "value": 1, "namespace": {"kind": "count"}}], schema=columns
    )
    writer = RowWriter(Written(SCHEMA, None, 128, 0), columns, WINDOW_CODEC, WHO)
    with pytest.raises(TypeMismatchError, match=r"requires a window in column 'namespace'; got .*count"):
        [*writer.entries(batch)]

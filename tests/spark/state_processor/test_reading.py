"""State read as DataFrames, on Spark."""

from __future__ import annotations

import shutil

import pytest
from pyspark.errors import PythonException
from pyspark.sql import functions as F

from firesteel.common import Types
from firesteel.common.errors import ProgramError, StateError
from firesteel.state_processor import (
    SavepointReader,
    load_object,
)
from tests.spark.state_processor.frames import KINDS, tuples
from tests.state import kinds

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def test_every_kind_of_keyed_state_is_read_as_its_type(state, spark):
    reader = SavepointReader.read(state, spark=spark)
    expected = kinds.expected()

    def read(name):
        return reader.read_keyed_state(KINDS, name)

    for name in ("count", "highest", "anything"):
        assert tuples(read(name), "key", "value") == expected[name]
    assert tuples(read("amounts"), "key", "map_key", "value") == expected["amounts"]
    assert [(key, tuple(value)) for key, value in tuples(read("mean"), "key", "value")] == expected["mean"]
    visits = tuples(read("visits"), "key", "position", "value")
    assert [(key, at, tuple(value)) for key, at, value in visits] == expected["visits"]
    assert tuples(read("last"), "key", "value", "last_access") == [
        (*row, kinds.NOW) for row in expected["last"]
    ]
    objects = read("anything").select("key", "value_raw").collect()
    assert {key: repr(load_object(raw)) for key, raw in objects} == dict(expected["anything"])


def test_elements_of_a_list_have_their_positions(state, spark):
    visits = SavepointReader.read(state, spark=spark).read_keyed_state(KINDS, "visits")
    positions = visits.groupBy("key").agg(F.sort_array(F.collect_list("position")).alias("at")).collect()
    assert len(positions) == 11
    assert all(row.at == list(range(len(row.at))) for row in positions)


def test_broadcast_windows_timers_and_positions_are_read(state, spark):
    reader = SavepointReader.read(state, epoch=2, spark=spark)
    assert tuples(reader.read_broadcast_state("limits", "rules"), "map_key", "value") == [
        ("high", 5), ("low", None), ("mid", 3)
    ]  # fmt: skip
    windows = reader.read_window_state("sizes").select("key", "namespace.start", "namespace.end", "value")
    # Only 60 of the events have been read, so those of the second window, from 5 s on, wait.
    waiting = sorted((key, 5000, 10000, repr((key, number, at))) for key, number, at in kinds.EVENTS[50:60])
    assert tuples(windows, "*") == waiting
    timers = reader.read_timers(KINDS)
    assert tuples(timers, "key", "timestamp") == sorted(
        (key, 1_000_000 + at) for key, at, _ in kinds.EVENTS[:60]
    )
    [(_, read)] = tuples(reader.positions().where("not finished"), "split", "position")
    assert read == 60
    assert {row.scope for row in reader.states().collect()} == {
        "keyed", "windowed", "broadcast", "timers", "operator"
    }  # fmt: skip
    assert reader.watermarks().where(f"operator_id = '{KINDS.operator_id}'").count() == 2


def test_operator_list_state_is_read_by_subtask(state, spark):
    seen = SavepointReader.read(state, spark=spark).read_list_state("seen", "seen")
    assert sorted(row.value for row in seen.collect()) == [number for _, number, _ in kinds.EVENTS]
    parts = seen.groupBy("subtask").agg(F.sort_array(F.collect_list("position")).alias("at")).collect()
    assert sorted(row.subtask for row in parts) == [0, 1]
    assert all(row.at == list(range(len(row.at))) for row in parts)
    with pytest.raises(StateError, match="has no list state 'sen'; got seen"):
        SavepointReader.read(state, spark=spark).read_list_state("seen", "sen")


def test_a_type_may_be_given_for_keys_and_for_values_that_have_none(state, spark):
    reader = SavepointReader.read(state, spark=spark)
    as_map = Types.MAP(Types.STRING(), Types.LIST(Types.INT()))
    frame = reader.read_keyed_state(KINDS, "anything", value_type=as_map)
    assert {key: repr(value) for key, value in frame.select("key", "value").collect()} == dict(
        kinds.expected()["anything"]
    )
    text = reader.read_keyed_state(
        KINDS, "amounts", key_type=Types.PICKLED_BYTE_ARRAY(), value_type=Types.PICKLED_BYTE_ARRAY()
    )
    assert text.columns == ["key", "key_raw", "namespace", "map_key", "value", "value_raw"]
    row = text.where("key = 'user0' and map_key = 0").head()
    assert row.value == "Decimal('24.75')"
    with pytest.raises(ProgramError, match="has values of type LONG"):
        reader.read_keyed_state(KINDS, "count", value_type=Types.INT())
    with pytest.raises(PythonException, match=r"the key of state 'count' .* at key 'user"):
        reader.read_keyed_state(KINDS, "count", key_type=Types.LONG()).collect()


def test_what_does_not_exist_is_answered_with_what_does(state, spark, tmp_path):
    reader = SavepointReader.read(state, spark=spark)
    with pytest.raises(StateError, match=r"'every kind' .* has no state 'cnt' that is keyed; got amounts"):
        reader.read_keyed_state(KINDS, "cnt")
    with pytest.raises(StateError, match=r"uid, name or id 'nobody'; got every kind .id f38f"):
        reader.read_keyed_state("nobody", "count")
    with pytest.raises(StateError, match="requires a savepoint"):
        SavepointReader.read(tmp_path, spark=spark)
    with pytest.raises(StateError, match="requires epoch 77; got the epochs 1, 2"):
        SavepointReader.read(state, epoch=77, spark=spark)


def test_a_damaged_run_is_named(state, spark, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(state, copy)
    for run in (copy / "runs" / KINDS.operator_id).iterdir():
        run.write_bytes(run.read_bytes()[:-1])
    frame = SavepointReader.read(copy, spark=spark)
    with pytest.raises((PythonException, StateError), match=r"copy/runs/f38f.*\.run must be a run of"):
        frame.read_keyed_state(KINDS, "count").collect()

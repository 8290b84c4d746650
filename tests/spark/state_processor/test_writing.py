"""Jobs that go on with state made of DataFrames, or repaired with them, on Spark."""

from __future__ import annotations

import datetime as dt
import time
from decimal import Decimal
from typing import NamedTuple

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from firesteel.common import Row, Types
from firesteel.common.errors import ProgramError, StateError, TypeMismatchError
from firesteel.control.launch import spark_executor
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ListStateDescriptor, ValueStateDescriptor
from firesteel.functions.windows import CountWindow, GlobalWindow, TimeWindow
from firesteel.saved.inspection import SavedState
from firesteel.saved.windows import WINDOW, window_column, window_of
from firesteel.state_processor import (
    OperatorIdentifier,
    SavepointReader,
    SavepointWriter,
    StateBootstrapTransformation,
    dump_object,
)
from firesteel.testing import LocalExecutor
from tests.recovery.jobs import lines
from tests.spark.state_processor.frames import KINDS, tuples
from tests.state import kinds

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

MANY = 200_000


class Shard(NamedTuple):
    """A window of a program."""

    number: int


class Known(KeyedProcessFunction):
    """Puts out what each kind of state holds for the key, then counts."""

    def open(self, context):
        self.count = context.get_state(kinds.COUNT)
        self.visits = context.get_list_state(kinds.VISITS)
        self.amounts = context.get_map_state(kinds.AMOUNTS)
        self.highest = context.get_reducing_state(kinds.HIGHEST)
        self.mean = context.get_aggregating_state(kinds.MEAN)
        self.anything = context.get_state(kinds.ANYTHING)
        self.last = context.get_state(kinds.last_descriptor())

    def process_element(self, value, ctx):
        self.highest.add(7)
        yield (
            value,
            self.count.value(),
            [tuple(visit) for visit in self.visits.get()],
            sorted(self.amounts.items()),
            self.highest.get(),
            self.mean.get(),
            self.anything.value(),
            self.last.value(),
        )


def known(directory, savepoint, keys, on=LocalExecutor, **settings):
    """Start a job with a savepoint and return what its state says of each key."""
    with kinds.environment(directory, on=on, restore_from=str(savepoint), parallelism=3, **settings) as env:
        stream = env.from_collection(keys).key_by(lambda key: key).process(Known()).uid("kinds")
        return {row[0]: row[1:] for row in stream.execute_and_collect()}


def bootstrap(spark, expired=kinds.NOW - 60_000, alive=kinds.NOW):
    keys = [f"k{number}" for number in range(20)]
    counts = spark.createDataFrame([(key, at) for at, key in enumerate(keys)], "key string, value int")
    at = dt.datetime(2024, 1, 1)
    visits = spark.createDataFrame(
        [(key, place, (at, f"/{place}")) for key in keys for place in range(3)],
        "key string, position int, value struct<at: timestamp_ntz, page: string>",
    )
    amounts = spark.createDataFrame(
        [(key, place, Decimal("1.5")) for key in keys for place in range(2)],
        "key string, map_key int, value decimal(10,2)",
    )
    means = spark.createDataFrame(
        [(key, (10, 4)) for key in keys], "key string, value struct<f0: int, f1: int>"
    )
    things = spark.createDataFrame(
        [(key, bytearray(dump_object({"seen": [key]}))) for key in keys], "key string, value_raw binary"
    )
    transformation = (
        StateBootstrapTransformation()
        .with_state(kinds.COUNT, counts)
        .with_state(kinds.VISITS, visits)
        .with_state(kinds.AMOUNTS, amounts)
        .with_state(kinds.HIGHEST, counts)
        .with_state(kinds.MEAN, means)
        .with_state(kinds.ANYTHING, things)
        .with_state(
            kinds.last_descriptor(),
            counts.withColumn("last_access", F.expr(f"if(value < 10, {expired}, {alive})")),
        )
    )
    expected = {
        key: (
            number,
            [(at, f"/{place}") for place in range(3)],
            [(0, Decimal("1.50")), (1, Decimal("1.50"))],
            max(number, 7),
            2.5,
            {"seen": [key]},
            None if number < 10 else number,
        )
        for number, key in enumerate(keys)
    }
    return transformation, expected


@pytest.mark.parametrize("on", [LocalExecutor, spark_executor])
def test_a_job_sees_state_made_of_data_frames(spark, tmp_path, on):
    # A job's clock is never behind its savepoint's, which is that of the machine.
    now = time.time_ns() // 1_000_000
    transformation, expected = bootstrap(spark, now - 60_000, now + 3_600_000)
    writer = SavepointWriter.new_savepoint(spark=spark).with_operator(KINDS, transformation)
    assert known(tmp_path / "state", writer.write(tmp_path / "new"), list(expected), on) == expected


def test_what_is_written_is_read_again(spark, tmp_path):
    transformation, expected = bootstrap(spark)
    writer = SavepointWriter.new_savepoint(spark=spark).with_operator(KINDS, transformation)
    reader = SavepointReader.read(writer.write(tmp_path / "new"), spark=spark)
    assert tuples(reader.read_keyed_state("kinds", "count"), "key", "value") == sorted(
        (key, row[0]) for key, row in expected.items()
    )
    # What has expired is there if it is asked for, since nothing has removed it yet.
    now = SavedState.open(str(tmp_path / "new")).manifest.processing_time
    last = reader.read_keyed_state("kinds", "last", expired=True)
    assert now > kinds.NOW
    assert last.count() == 20
    assert reader.read_keyed_state("kinds", "last").count() == 0


@pytest.mark.parametrize("on", [LocalExecutor, spark_executor])
def test_a_repaired_savepoint_differs_in_what_was_repaired_alone(state, spark, tmp_path, on):
    keys = [f"user{number}" for number in range(11)]
    reader = SavepointReader.read(state, epoch=3, spark=spark)
    counts = reader.read_keyed_state(KINDS, "count")
    mended = counts.withColumn("value", F.when(F.col("key") == "user3", 1000).otherwise(F.col("value")))

    def write(name, writer):
        for source in reader.positions().collect():
            writer.remove_operator(source.operator_id)
        return writer.write(tmp_path / name)

    plain = write("plain", SavepointWriter.from_existing_savepoint(state, epoch=3, spark=spark))
    change = StateBootstrapTransformation().with_state(kinds.COUNT, mended)
    repair = SavepointWriter.from_existing_savepoint(state, epoch=3, spark=spark).with_operator(KINDS, change)
    others = {"allow_non_restored_state": True}
    before = known(tmp_path / "one", plain, keys, **others)
    after = known(tmp_path / "other", write("repaired", repair), keys, on, **others)
    assert after == {**before, "user3": (1000, *before["user3"][1:])}
    assert before["user3"][0] == sum(key == "user3" for key, *_ in kinds.EVENTS[:90])


def test_broadcast_state_windows_and_timers_go_on_where_they_were(state, spark, tmp_path):
    """All three are rewritten from what was read; the job must end as one that was never stopped."""
    reader = SavepointReader.read(state, epoch=2, spark=spark)
    limits = StateBootstrapTransformation().with_broadcast_state(
        kinds.RULE, reader.read_broadcast_state("limits", "rules")
    )
    windows = reader.read_window_state("sizes").drop("value")
    sizes = (
        StateBootstrapTransformation()
        .with_window_state(ListStateDescriptor("window-contents"), windows)
        .with_timers("event", reader.read_timers("sizes"))
    )
    writer = SavepointWriter.from_existing_savepoint(state, epoch=2, spark=spark)
    writer.with_operator(OperatorIdentifier.for_uid("limits"), limits)
    writer.with_operator(OperatorIdentifier.for_uid("sizes"), sizes)
    written = writer.write(tmp_path / "copy")
    copy = SavepointReader.read(written, spark=spark)
    for frames in (
        (reader.read_broadcast_state("limits", "rules"), copy.read_broadcast_state("limits", "rules")),
        (reader.read_window_state("sizes"), copy.read_window_state("sizes")),
        (reader.read_timers("sizes"), copy.read_timers("sizes")),
        (reader.read_timers("kinds"), copy.read_timers("kinds")),
    ):
        one, other = (sorted(map(repr, frame.collect())) for frame in frames)
        assert one == other
        assert one
    outputs = []
    for name, savepoint in (("with", written), ("without", None)):
        sink = tmp_path / f"out-{name}"
        with kinds.environment(tmp_path / name, restore_from=savepoint) as env:
            kinds.build(env, sink=sink)
            env.execute()
        outputs.append(lines(sink))
    whole, rest = outputs[1], outputs[0]
    assert set(rest) <= set(whole)
    # The first window, and two lines for each of the first 60 events, were put out before the savepoint.
    assert sorted(line for line in set(whole) - set(rest) if "window" in line) == kinds.windows(0)
    assert len(whole) - len(rest) == 60 + len(kinds.windows(0)) + 60


def test_an_operator_can_be_renamed_and_a_state_removed(state, spark, tmp_path):
    other = OperatorIdentifier.for_uid("renamed")
    writer = SavepointWriter.from_existing_savepoint(state, spark=spark)
    written = (
        writer.remove_state(KINDS, "visits").change_operator_identifier(KINDS, other).write(tmp_path / "new")
    )
    reader = SavepointReader.read(written, spark=spark)
    expected = kinds.expected()
    assert tuples(reader.read_keyed_state("renamed", "count"), "key", "value") == expected["count"]
    with pytest.raises(StateError, match="has no state 'visits'"):
        reader.read_keyed_state(other, "visits")
    with pytest.raises(StateError, match="uid, name or id 'kinds'"):
        reader.read_keyed_state("kinds", "count")
    with pytest.raises(StateError, match="requires an empty directory"):
        writer.write(tmp_path / "new")


def test_rows_that_cannot_be_written_are_named(spark, tmp_path):
    def write(descriptor, rows, schema, **options):
        frame = spark.createDataFrame(rows, schema)
        transformation = StateBootstrapTransformation(**options).with_state(descriptor, frame)
        SavepointWriter.new_savepoint(spark=spark).with_operator(KINDS, transformation).write(
            tmp_path / "new"
        )

    number = ValueStateDescriptor("number", Types.SHORT())
    with pytest.raises(ProgramError, match="requires one row for the key 'a'"):
        write(number, [("a", 1), ("a", 2)], "key string, value int")
    with pytest.raises(TypeMismatchError, match=r"operator 'kinds' at key 'a' cannot be written: .*between"):
        write(number, [("b", 1), ("a", 1 << 20)], "key string, value int")
    with pytest.raises(TypeMismatchError, match="at key 'a' cannot be written: requires a value; got null"):
        write(number, [("a", None)], "key string, value int")
    with pytest.raises(TypeMismatchError, match="requires a position of at least 0; got -1"):
        write(
            kinds.VISITS,
            [("a", -1, None)],
            "key string, position int, value struct<at:timestamp_ntz,page:string>",
        )
    with pytest.raises(
        ProgramError, match="requires one of the columns 'key' and 'key_raw'; got the columns value"
    ):
        write(number, [(1,)], "value int")
    with pytest.raises(ProgramError, match="drop the other one"):
        write(kinds.ANYTHING, [("a", "x", b"")], "key string, value string, value_raw binary")
    with pytest.raises(ProgramError, match="state 'number' requires int16 in column 'value'; got string"):
        write(number, [("a", "1")], "key string, value string")
    with pytest.raises(
        ProgramError, match=r"requires a struct of at, page in column 'value'; got struct<page"
    ):
        write(kinds.VISITS, [("a", None)], "key string, value struct<page:string,at:timestamp_ntz>")
    with pytest.raises(ProgramError, match=r"requires timestamp.* in column 'value'.at; got string"):
        write(kinds.VISITS, [("a", None)], "key string, value struct<at:string,page:string>")
    with pytest.raises(TypeMismatchError, match="cannot be written"):
        write(number, [(1 << 40, 1)], "key bigint, value int", key_type=Types.INT())
    assert list(tmp_path.rglob("savepoint.json")) == []


class Keys(KeyedProcessFunction):
    def open(self, context):
        self.value = context.get_state(ValueStateDescriptor("value", Types.STRING()))

    def process_element(self, value, ctx):
        yield repr(ctx.get_current_key()), self.value.value()


@pytest.mark.parametrize(
    ("type_info", "ddl", "keys"),
    [
        (None, "bigint", [-5, 0, 1 << 50]),
        (None, "struct<f0: string, f1: int>", [("a", 1), ("b", None)]),
        (Types.ROW_NAMED(["x", "y"], [Types.STRING(), Types.INT()]), "struct<x: string, y: int>",
         [Row(x="a", y=1), Row(x=None, y=2)]),
        (None, "boolean", [True, False]),
        (None, "double", [0.5, -1.0]),
        (Types.INT(), "smallint", [1, 2]),
        (None, "date", [dt.date(2024, 2, 29)]),
        (None, "binary", [b"a\0b", b""]),
        (None, "string", ["", "a\0b", "é", None]),
    ],
)  # fmt: skip
def test_keys_of_all_types_are_found_by_the_job_and_read_again(spark, tmp_path, type_info, ddl, keys):
    rows = [(tuple(key) if isinstance(key, Row) else key, repr(key)) for key in keys]
    frame = spark.createDataFrame(rows, f"key {ddl}, value string")
    change = StateBootstrapTransformation(type_info).with_state(
        ValueStateDescriptor("value", Types.STRING()), frame
    )
    uid = OperatorIdentifier.for_uid("keys")
    written = (
        SavepointWriter.new_savepoint(32, spark=spark).with_operator(uid, change).write(tmp_path / "new")
    )
    with kinds.environment(tmp_path / "state", restore_from=written, max_parallelism=32) as env:
        stream = env.from_collection(keys).key_by(lambda key: key).process(Keys()).uid("keys")
        assert sorted(stream.execute_and_collect()) == sorted((repr(key), repr(key)) for key in keys)
    read = SavepointReader.read(written, spark=spark).read_keyed_state(uid, "value").drop("namespace")
    assert sorted(map(repr, read.select("key", "value").collect())) == sorted(map(repr, frame.collect()))


def test_windows_of_every_kind_are_written_and_read_again(spark, tmp_path):
    windows = [TimeWindow(0, 5), CountWindow(3), GlobalWindow.get(), Shard(7)]
    rows = [(key, window_column(window), at) for key in "ab" for at, window in enumerate(windows)]
    frame = spark.createDataFrame(
        pa.Table.from_pylist(
            [{"key": key, "namespace": window, "value": value} for key, window, value in rows],
            pa.schema([("key", pa.string()), ("namespace", WINDOW), ("value", pa.int64())]),
        )
    )
    change = StateBootstrapTransformation().with_window_state(ValueStateDescriptor("n", Types.LONG()), frame)
    uid = OperatorIdentifier.for_uid("windows")
    written = SavepointWriter.new_savepoint(spark=spark).with_operator(uid, change).write(tmp_path / "new")
    read = SavepointReader.read(written, spark=spark).read_window_state(uid, "n").collect()
    assert sorted((row.key, repr(window_of(row.namespace.asDict())), row.value) for row in read) == sorted(
        (key, repr(windows[value]), value) for key, _, value in rows
    )


@pytest.mark.thorough
def test_a_large_state_is_written_and_read_in_parts(spark, tmp_path):
    frame = spark.range(MANY).select(F.col("id").alias("key"), (F.col("id") * 3).alias("value"))
    change = StateBootstrapTransformation().with_state(ValueStateDescriptor("n", Types.LONG()), frame)
    started = time.perf_counter()
    written = SavepointWriter.new_savepoint(spark=spark).with_operator(KINDS, change).write(tmp_path / "new")
    between = time.perf_counter()
    read = SavepointReader.read(written, spark=spark).read_keyed_state(KINDS, "n")
    found = read.agg(F.count("*"), F.sum("key"), F.sum("value"), F.countDistinct("key")).head()
    ended = time.perf_counter()
    assert tuple(found) == (MANY, MANY * (MANY - 1) // 2, 3 * MANY * (MANY - 1) // 2, MANY)
    print(f"{MANY} keys: written in {between - started:.1f} s, read in {ended - between:.1f} s")

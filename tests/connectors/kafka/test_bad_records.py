"""Messages that cannot be read and go to a side output of the source."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from firesteel.common import Types, WatermarkStrategy
from firesteel.common.errors import ConnectorError, ProgramError
from firesteel.common.serialization import DeserializationSchema
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.datastream import OutputTag
from firesteel.datastream.connectors.kafka import (
    BadRecord,
    ConsumerRecord,
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    KafkaSource,
)
from firesteel.datastream.functions import MapFunction
from firesteel.runtime.batch import MAX_BATCH
from harness.kafka import KafkaBroker
from tests.connectors.kafka.fake_topics import FakeTopic, Record
from tests.recovery.jobs import Watch, environment, fails_once, lines, restarting, start
from tests.semantics.test_metrics import Listening

BAD = OutputTag("bad records")
COUNT = 120

WAYS = [
    *(("process", records, width) for records, width in ((None, 1), (7, 2), (50, 3))),
    pytest.param(("spark", 60, 2), marks=[pytest.mark.spark, pytest.mark.long]),
]


class Number(DeserializationSchema):
    """The number that a message is."""

    def deserialize(self, message: bytes) -> int | None:
        return int(message)

    def get_produced_type(self):
        return Types.LONG()


class Twice(KafkaRecordDeserializationSchema):
    """The number of a record, and the number again; what was made of it before the error does not count."""

    def deserialize(self, record):
        yield 0
        yield int(record.value)

    def get_produced_type(self):
        return Types.LONG()


def source(schema: Any = None, servers: str = "a:9092", topic: str = "t") -> KafkaSource:
    built = KafkaSource.builder().set_bootstrap_servers(servers).set_topics(topic)
    built.set_bounded(KafkaOffsetsInitializer.latest())
    if isinstance(schema, KafkaRecordDeserializationSchema):
        built.set_deserializer(schema)
    else:
        built.set_value_only_deserializer(schema or Number())
    return built.side_output_bad_records(BAD).build()


def partitions(count: int = COUNT, every: int = 7) -> list[list[Record]]:
    """Two partitions of numbers, of which some are none."""
    texts = [b"no %d" % n if n % every == 0 else b"%d" % n for n in range(count)]
    return [[(b"k%d" % n, texts[n]) for n in range(half, count, 2)] for half in (0, 1)]


class Tell(MapFunction):
    """All that is known of a bad record, as a text; fails once if it is told to."""

    def __init__(self, marker: Path | None = None) -> None:
        self.marker = marker

    def map(self, value: BadRecord) -> str:
        record = value.record
        if self.marker is not None and record.value == b"no 70":
            fails_once(self.marker)
        assert (record.topic, record.timestamp, record.headers) == ("t", record.offset, (("h", b"1"),))
        assert value.error == (f"ValueError: invalid literal for int() with base 10: {record.value!r}")
        return json.dumps([record.partition, record.offset, str(record.key), str(record.value)])


def files(directory: Path) -> FileSink:
    return FileSink(directory, TextLines(), BasePathBuckets(), RollingPolicy.on_epoch())


def run(directory: Path, made: KafkaSource, on: str, records: int | None, width: int, **more: Any) -> None:
    marker = more.pop("marker", None)
    with environment(directory, on=on, parallelism=width, epoch_records=records, **more) as env:
        stream = env.from_source(made, WatermarkStrategy.for_monotonous_timestamps(), "kafka")
        stream.map(str, Types.STRING()).sink_to(files(directory / "good"))
        aside = stream.get_side_output(BAD)
        aside.map(Tell(marker), Types.STRING()).sink_to(files(directory / "bad"))
        env.execute()


def require(directory: Path, every: int = 7) -> None:
    """Each message is there once, as a number or as a bad record."""
    assert sorted(map(int, lines(directory / "good"))) == [n for n in range(COUNT) if n % every]
    assert sorted(map(json.loads, lines(directory / "bad"))) == sorted(
        [n % 2, n // 2, str(b"k%d" % n), str(b"no %d" % n)] for n in range(0, COUNT, every)
    )


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_bad_records_go_to_the_side_output(tmp_path: Path, way: tuple[str, int | None, int]) -> None:
    run(tmp_path, FakeTopic.behind(source(), *partitions()), *way)
    require(tmp_path)


@pytest.mark.parametrize("way", WAYS[1:], ids=str)
def test_a_failure_repeats_no_bad_record(tmp_path: Path, way: tuple[str, int | None, int]) -> None:
    made = FakeTopic.behind(source(), *partitions())
    run(tmp_path, made, *way, options=restarting(3, "0 s"), marker=tmp_path / "failed")
    assert (tmp_path / "failed").exists()
    require(tmp_path)


def test_a_job_that_goes_on_at_another_parallelism(tmp_path: Path) -> None:
    for width, whole in ((1, False), (3, False), (2, True)):
        watch = Watch(lambda handle, stats, whole=whole: None if whole else handle.stop())
        with environment(tmp_path, parallelism=width, epoch_records=14, listener=watch) as env:
            made = FakeTopic.behind(source(), *partitions())
            stream = env.from_source(made, WatermarkStrategy.no_watermarks(), "kafka").uid("kafka")
            stream.map(str, Types.STRING()).uid("text").sink_to(files(tmp_path / "good")).uid("good")
            aside = stream.get_side_output(BAD)
            aside.map(Tell(), Types.STRING()).uid("tell").sink_to(files(tmp_path / "bad")).uid("bad")
            start(env, watch).wait(60)
        assert (len(lines(tmp_path / "bad")) < len(range(0, COUNT, 7))) != whole
    require(tmp_path)


def read(made: KafkaSource) -> list[Any]:
    return [
        value
        for split in made.splits(frozenset())
        for batch in made.read(split, 0, split.end or 0)
        for value in batch
    ]


def test_nothing_of_a_bad_record_is_a_value() -> None:
    records = [(None, b"1"), (None, b"one"), (None, b"2")]
    values = read(FakeTopic.behind(source(Twice()), records))
    record = ConsumerRecord("t", 0, 1, 1, "CreateTime", None, b"one", (("h", b"1"),), None)
    assert values[:4] == [0, 1, 0, 2]
    assert [bad._replace(record=bad.record._replace(leader_epoch=None)) for bad in values[4:]] == [
        BadRecord(record, "ValueError: invalid literal for int() with base 10: b'one'")
    ]


def test_a_tombstone_that_the_schema_cannot_read_is_a_bad_record() -> None:
    [bad] = read(FakeTopic.behind(source(), [(b"k", None)]))
    assert (bad.record.value, bad.error.split(":")[0]) == (None, "TypeError")


class Away(DeserializationSchema):
    """Its registry does not answer."""

    def deserialize(self, message: bytes) -> None:
        raise ConnectorError("requires an answer", who="the registry")


def test_what_is_away_is_no_fault_of_a_message() -> None:
    with pytest.raises(ConnectorError, match="the registry requires an answer"):
        read(FakeTopic.behind(source(Away()), [(None, b"1")]))


def metric(made: KafkaSource, tags: Sequence[OutputTag] = ()) -> float | None:
    listening = Listening()
    with environment(Path(), on="process", state_dir=None, epoch_records=7, listener=listening) as env:
        stream = env.from_source(made, WatermarkStrategy.no_watermarks(), "kafka")
        stream.map(str).name("good").print()
        for tag in tags:
            stream.get_side_output(tag).map(str).name("bad").print()
        env.execute()
    return listening.last("kafka").value("numRecordsInErrors")


@pytest.mark.parametrize("tags", [(), (BAD,)])
def test_bad_records_are_counted(tags: Sequence[OutputTag], capsys: pytest.CaptureFixture[str]) -> None:
    """They are dropped if nobody reads the side output, and counted all the same."""
    assert metric(FakeTopic.behind(source(), *partitions()), tags) == len(range(0, COUNT, 7))
    assert ("no 70" in capsys.readouterr().out) == bool(tags)


def test_more_bad_records_than_a_batch_has(tmp_path: Path) -> None:
    count = MAX_BATCH + 100
    made = FakeTopic.behind(source(), [(None, b"x")] * count)
    listening = Listening()
    with environment(tmp_path, on="process", listener=listening) as env:
        stream = env.from_source(made, WatermarkStrategy.no_watermarks(), "kafka")
        stream.get_side_output(BAD).map(lambda bad: bad.record.offset, Types.LONG()).sink_to(
            files(tmp_path / "out")
        )
        env.execute()
    assert sorted(map(int, lines(tmp_path / "out"))) == [*range(count)]


def test_a_tag_is_required() -> None:
    with pytest.raises(ProgramError, match="KafkaSource requires an OutputTag"):
        KafkaSource.builder().side_output_bad_records("bad")  # type: ignore[arg-type]


def test_bad_records_of_a_broker(tmp_path: Path, kafka: KafkaBroker) -> None:
    topic = kafka.create_topic()
    kafka.produce(topic, [{"key": b"k", "value": b"%d" % n if n % 2 else b"\xff"} for n in range(30)])
    with environment(tmp_path, epoch_records=4, parallelism=2) as env:
        stream = env.from_source(
            source(None, kafka.bootstrap, topic), WatermarkStrategy.no_watermarks(), "kafka"
        )
        stream.map(str, Types.STRING()).sink_to(files(tmp_path / "good"))
        offsets = stream.get_side_output(BAD).map(lambda bad: str(bad.record.offset), Types.STRING())
        offsets.sink_to(files(tmp_path / "bad"))
        env.execute()
    assert sorted(map(int, lines(tmp_path / "good"))) == [*range(1, 30, 2)]
    assert sorted(map(int, lines(tmp_path / "bad"))) == [*range(0, 30, 2)]

"""Large records: sources are read in ranges that fit into memory, and an epoch ends where its bytes are used up."""

from __future__ import annotations

from typing import ClassVar

from firesteel.common import Types, WatermarkStrategy
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.testing import executing

LARGE = 1 << 18


class Watched(DataGeneratorSource):
    """Notes the ranges it is asked for; the in-process executor reads the pickled object in this process."""

    ranges: ClassVar[list[tuple[int, int]]] = []

    def read(self, split, start, end):
        Watched.ranges.append((start, end))
        return super().read(split, start, end)


def run(generate, count, **settings):
    """The lengths that arrive, and the number of records of each epoch."""
    Watched.ranges.clear()
    epochs = []

    class Listener:
        def on_epoch(self, stats):
            epochs.append(stats.records_in)

    with executing(parallelism=1, listener=Listener(), **settings):
        env = StreamExecutionEnvironment.get_execution_environment()
        records = env.from_source(Watched(generate, count), WatermarkStrategy.no_watermarks(), "large")
        lengths = records.map(len, Types.INT()).key_by(lambda length: length).map(lambda length: length)
        arrived = list(lengths.execute_and_collect())
    return arrived, [records for records in epochs if records]


def large(index):
    return bytes(LARGE + index)


def test_an_epoch_of_large_records_ends_when_its_bytes_are_used_up():
    arrived, epochs = run(large, 400, max_epoch_bytes=20 << 20, epoch_records=300)
    assert arrived == [LARGE + index for index in range(400)]
    assert max(epochs) <= 128, "about 80 records are what may be read, in ranges of 64 at first"
    assert len(epochs) >= 4


def test_large_records_are_read_in_ranges_of_a_few():
    arrived, _ = run(large, 400)
    assert len(arrived) == 400
    assert Watched.ranges[0] == (0, 64)
    assert max(end - start for start, end in Watched.ranges) <= 128
    assert [start for start, _ in Watched.ranges[1:]] == [end for _, end in Watched.ranges[:-1]]


def test_small_records_are_read_in_one_go():
    arrived, _ = run(lambda index: b"small", 5000)
    assert len(arrived) == 5000
    assert Watched.ranges == [(0, 64), (64, 5000)]


def test_records_that_cannot_be_pickled_are_taken_for_small():
    arrived, _ = run(lambda index: memoryview(b"abc"), 500)
    assert arrived == [3] * 500

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError
from firesteel.connectors.files.sink import (
    BasePathBuckets,
    BucketAssigner,
    DateTimeBuckets,
    EncodedRows,
    FileSink,
    RollingPolicy,
    TextLines,
)
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import WriterContext
from tests.connectors.file_sinks import Job, hidden, sink_of, visible


def test_nothing_is_visible_before_the_part_ends(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path))
    job.run(["a", "b"])
    job.run([])
    job.run(["c"])
    assert visible(tmp_path) == []
    job.run(["d"], final=True)
    assert visible(tmp_path) == ["a\nb\nc\nd\n"]
    assert hidden(tmp_path) == []


def test_names(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path, RollingPolicy.on_epoch(), part_prefix="out", part_suffix=".txt"))
    for value in ("a", "b"):
        job.run([value])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"out-{job.state.uid}-{number}.txt" for number in (0, 1)
    ]


def test_parts_end_by_size_before_the_record_that_would_follow(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path, RollingPolicy(part_size=5)))
    job.run(["ab", "cd", "ef"])
    assert visible(tmp_path) == ["ab\ncd\n"]
    job.run(["x"])
    assert visible(tmp_path) == ["ab\ncd\n"]
    job.run(["y" * 9])
    assert visible(tmp_path)[1:] == [f"ef\nx\n{'y' * 9}\n"]


def test_parts_end_by_age_and_by_idleness(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path, RollingPolicy.default(rollover_interval=100, inactivity_interval=40)))
    job.run(["a"], now=0)
    assert job.wakeup == 40
    job.run(["b"], now=30)
    assert job.wakeup == 70
    job.run([], now=69)
    assert visible(tmp_path) == []
    job.run(["c"], now=70)
    assert visible(tmp_path) == ["a\nb\n"]
    job.run(["d"], now=109)
    job.run(["e"], now=148)
    assert job.wakeup == 170
    job.run([], now=170)
    assert visible(tmp_path) == ["a\nb\n", "c\nd\ne\n"]
    assert job.wakeup is None


def test_a_job_without_records_writes_nothing(tmp_path: Path) -> None:
    Job(sink_of(tmp_path / "out")).run([], final=True)
    assert list(tmp_path.iterdir()) == []


class ByFirst(BucketAssigner):
    def get_bucket_id(self, value: Any, timestamp: int | None, processing_time: int) -> str:
        return f"{value[0]}/{timestamp}"


def test_buckets_by_record(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path, RollingPolicy.on_epoch(), bucket_assigner=ByFirst()))
    writer = job.writer()
    writer.write(["a1", "b1", "a2"], [1, 1, 1])
    writer.write(["a3"], [2])
    writer.write(["a4"], None)
    job.sink.create_committer().commit(writer.prepare_commit())
    found = {str(file.parent.relative_to(tmp_path)): file.read_text() for file in tmp_path.rglob("part-*")}
    assert found == {"a/1": "a1\na2\n", "b/1": "b1\n", "a/2": "a3\n", "a/None": "a4\n"}


def test_buckets_by_processing_time(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path, bucket_assigner=DateTimeBuckets(zone_id="UTC")))
    job.run(["a"], now=3_599_999)
    job.run(["b"], now=3_600_000)
    job.run([], final=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1970-01-01--00", "1970-01-01--01"]
    assert visible(tmp_path) == ["a\n", "b\n"]


@pytest.mark.parametrize("bucket", ["/etc", "../up", "a/../../b"])
def test_buckets_stay_below_the_base_path(tmp_path: Path, bucket: str) -> None:
    class Escaping(BucketAssigner):
        def get_bucket_id(self, value: Any, timestamp: int | None, processing_time: int) -> str:
            return bucket

    writer = FileSink(tmp_path, TextLines(), Escaping()).create_writer(
        WriterContext("job", "op", 0, 1, EpochFacts(1, "a", 0))
    )
    with pytest.raises(ConnectorError, match="requires buckets below the base path; got"):
        writer.write(["a"], None)


def test_records_in_bytes(tmp_path: Path) -> None:
    job = Job(FileSink(tmp_path, EncodedRows(lambda value: value.encode()), BasePathBuckets()))
    job.run(["a", "b"], final=True)
    assert visible(tmp_path) == ["ab"]


def test_charset(tmp_path: Path) -> None:
    job = Job(FileSink(tmp_path, TextLines("ISO-8859-1"), BasePathBuckets()))
    job.run(["é€"], final=True)
    [file] = tmp_path.iterdir()
    assert file.read_bytes() == b"\xe9?\n"


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConnectorError, match="FileSink requires a directory it can write to"):
        Job(sink_of(tmp_path / "file" / "sub")).run(["a"])


def test_options(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="requires part_size to be at least 1; got 0"):
        RollingPolicy.default(part_size=0)
    with pytest.raises(ConfigurationError, match="requires a prefix and a suffix of file names"):
        sink_of(tmp_path, part_prefix=".hidden")
    with pytest.raises(ConfigurationError, match=r"'yyyy-ww' requires a pattern.*got the field 'ww'"):
        DateTimeBuckets("yyyy-ww")
    with pytest.raises(ConfigurationError, match="requires a time zone that exists; got 'Mars/Olympus'"):
        DateTimeBuckets(zone_id="Mars/Olympus")
    with pytest.raises(ConnectorError, match="FileSink requires a local path or a URL of a file system"):
        sink_of("ftp://host/out")


@pytest.mark.parametrize(
    ("pattern", "zone", "expected"),
    [
        ("yyyy-MM-dd--HH", "America/Los_Angeles", "2001-09-08--18"),
        ("uuuu/M/d H:mm:ss", "UTC", "2001/9/9 1:46:40"),
        ("'year='yyyy'/week of' EEEE d MMMM", "UTC", "year=2001/week of Sunday 9 September"),
        ("yy''Q'''x'''DDD", "GMT+2", "01'3'x'252"),
        ("hh K kk a S SSSSSS Z", "+05:30", "07 7 07 AM 0 000000 +0530"),
    ],
)
def test_java_patterns(pattern: str, zone: str, expected: str) -> None:
    assert pickle.loads(pickle.dumps(DateTimeBuckets(pattern, zone))).fixed(1_000_000_000_000) == expected


@pytest.mark.parametrize("final", [False, True])
def test_an_output_directory_that_was_removed_under_an_open_part_is_named(
    tmp_path: Path, final: bool
) -> None:
    job = Job(sink_of(tmp_path / "out"))
    job.run(["a"])
    job.run(["b"])
    gone = [path for path in (tmp_path / "out").iterdir() if ".inprogress." in path.name]
    assert len(gone) == 2
    shutil.rmtree(tmp_path / "out")
    with pytest.raises(ConnectorError, match="FileSink requires all pieces of its open part") as caught:
        job.run([] if final else ["c"], final=final)
    assert "2 of 2 that are gone" in str(caught.value)
    assert all(str(path) in str(caught.value) for path in gone)
    assert "--from EPOCH" in str(caught.value)

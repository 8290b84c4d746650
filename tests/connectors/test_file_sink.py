from __future__ import annotations

import errno
import pickle
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cloudpickle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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

NEVER = RollingPolicy(part_size=1 << 40)


def sink_of(path: Path, rolling: RollingPolicy = NEVER, **options: Any) -> FileSink:
    options.setdefault("bucket_assigner", BasePathBuckets())
    return FileSink(path, TextLines(), rolling_policy=rolling, **options)


class Job:
    """Drives one subtask of a sink as the epoch loop does."""

    def __init__(self, sink: FileSink) -> None:
        self.sink = pickle.loads(cloudpickle.dumps(sink))
        self.state: Any = None
        self.epoch = 0
        self.attempts = 0
        self.wakeup: int | None = None

    def writer(self, now: int = 0, final: bool = False) -> Any:
        self.attempts += 1
        context = WriterContext(
            "job", "op", 0, 1, EpochFacts(self.epoch + 1, f"try/{self.attempts}", now, final), self.state
        )
        return self.sink.create_writer(context)

    def prepare(self, values: Sequence[Any], now: int = 0, final: bool = False) -> list[Any]:
        writer = self.writer(now, final)
        writer.write(values, None)
        committables = pickle.loads(pickle.dumps(list(writer.prepare_commit())))
        self.wakeup = writer.next_wakeup()
        self.prepared = pickle.loads(pickle.dumps(writer.snapshot_state()))
        return committables

    def decide(self) -> None:
        """The manifest is written."""
        self.state = self.prepared
        self.epoch += 1

    def run(self, values: Sequence[Any], now: int = 0, final: bool = False) -> None:
        committables = self.prepare(values, now, final)
        self.decide()
        self.sink.create_committer().commit(committables)


def visible(path: Path) -> list[str]:
    """The contents of the visible files, in the order of their counters."""
    files = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]
    return [file.read_text() for file in sorted(files, key=lambda file: int(file.stem.rsplit("-", 1)[1]))]


def hidden(path: Path) -> list[Path]:
    return sorted(path.rglob(".*"))


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


def test_an_epoch_that_fails_leaves_nothing(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path, RollingPolicy(part_size=3)))
    job.run(["a"])
    before = hidden(tmp_path)
    writer = job.writer()
    writer.write(["lost"] * 5, None)
    writer.abort()
    assert hidden(tmp_path) == before
    job.run(["b"], final=True)
    assert visible(tmp_path) == ["a\nb\n"]


def test_an_epoch_that_was_prepared_but_not_decided_is_run_again(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path, RollingPolicy(part_size=3)))
    job.run(["a"])
    job.prepare(["b", "c", "d"])
    assert visible(tmp_path) == []
    job.run(["b", "c"], final=True)
    assert visible(tmp_path) == ["a\nb\n", "c\n"]


def test_a_zombie_writer_does_no_harm(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path))
    job.run(["a"])
    zombie = job.writer()
    zombie.write(["zombie"], None)
    job.run(["b"])
    zombie.write(["zombie"], None)
    zombie.prepare_commit()
    job.run(["c"], final=True)
    zombie.abort()
    assert visible(tmp_path) == ["a\nb\nc\n"]


class _CrashError(BaseException):
    pass


@pytest.mark.parametrize("segments", [1, 2, 3, 20])
def test_the_commit_can_crash_anywhere_and_be_repeated(tmp_path: Path, segments: int) -> None:
    """Stops the commit before each of its file operations in turn, twice in a row, then lets it through."""
    crash_at = 0
    while True:
        crash_at += 1
        directory = tmp_path / f"{segments}-{crash_at}"
        job = Job(sink_of(directory))
        for number in range(segments - 1):
            job.run([str(number)])
        committables = job.prepare([str(segments - 1)], final=True)
        committer = job.sink.create_committer()
        crashed = 0
        for point in (crash_at, max(crash_at // 2, 1)):
            crashed += _commit_crashing(committer, committables, point)
            assert visible(directory) in ([], ["".join(f"{number}\n" for number in range(segments))])
        for _ in range(2):
            committer.commit(committables)
            assert visible(directory) == ["".join(f"{number}\n" for number in range(segments))]
        assert [path for path in hidden(directory) if not path.name.count("joined.")] == []
        if not crashed:
            break
    assert crash_at >= 3


def _commit_crashing(committer: Any, committables: list[Any], point: int) -> int:
    calls = 0
    with pytest.MonkeyPatch.context() as patch:

        def counting(name: str) -> None:
            real = getattr(Path, name)

            def call(self: Path, *args: Any, **kwargs: Any) -> Any:
                nonlocal calls
                calls += 1
                if calls >= point:
                    raise _CrashError
                return real(self, *args, **kwargs)

            patch.setattr(Path, name, call)

        for name in ("rename", "unlink", "open", "exists"):
            counting(name)
        try:
            committer.commit(committables)
        except _CrashError:
            return 1
    return 0


def test_a_part_that_its_reader_took_away_does_not_come_back(tmp_path: Path) -> None:
    for segments in (1, 3):
        job = Job(sink_of(tmp_path))
        for _ in range(segments - 1):
            job.run(["a"])
        committables = job.prepare(["a"], final=True)
        job.sink.create_committer().commit(committables)
        for file in tmp_path.iterdir():
            file.unlink()
        job.sink.create_committer().commit(committables)
        assert list(tmp_path.iterdir()) == []


def test_a_paused_driver_that_commits_late_changes_nothing(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path))
    job.run(["a"])
    committables = job.prepare(["b"], final=True)
    late = job.sink.create_committer()

    def join(segments: Sequence[Path], target: Any) -> None:
        job.sink.create_committer().commit(committables)
        raise OSError(errno.ENOENT, "gone")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(late, "_format", type("Paused", (), {"join": staticmethod(join)}))
        with pytest.raises(ConnectorError, match="requires that the files it prepared can be renamed"):
            late.commit(committables)
    assert visible(tmp_path) == ["a\nb\n"]
    assert hidden(tmp_path) == []


def test_a_part_that_is_open_for_long_is_neither_many_files_nor_a_long_state(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path))
    for number in range(300):
        job.run([str(number)])
    [part] = job.state.parts.values()
    assert [segment.tier for segment in part.segments] == [2] + [1] * 2 + [0] * 12
    assert len(hidden(tmp_path)) == len(part.segments)
    job.run([], final=True)
    assert visible(tmp_path) == ["".join(f"{number}\n" for number in range(300))]
    assert hidden(tmp_path) == []


def test_a_merge_whose_epoch_fails_is_undone(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path))
    for number in range(15):
        job.run([str(number)])
    assert len(job.prepare(["lost"])) == 1
    committables = job.prepare(["15"])
    job.decide()
    for _ in range(2):
        job.sink.create_committer().commit(committables)
    job.run([], final=True)
    assert visible(tmp_path) == ["".join(f"{number}\n" for number in range(16))]


steps = st.lists(
    st.tuples(
        st.lists(st.text("abc", max_size=6), max_size=6),
        st.sampled_from(["ok", "abort", "undecided", "twice", "zombie"]),
        st.integers(0, 50),
    ),
    max_size=12,
)


@given(steps=steps, size=st.integers(1, 30), every=st.booleans())
@settings(max_examples=60, deadline=None)
def test_exactly_once_whatever_fails(tmp_path_factory: Any, steps: list[Any], size: int, every: bool) -> None:
    path = tmp_path_factory.mktemp("sink")
    job = Job(sink_of(path, RollingPolicy(every, size, rollover_interval=60, inactivity_interval=30)))
    now = 0
    expected = []
    for values, what, pause in [*steps, ([], "final", 0)]:
        now += pause
        if what == "abort":
            writer = job.writer(now)
            writer.write(["wrong"], None)
            writer.abort()
        elif what == "undecided":
            job.prepare(["wrong", *values], now)
        elif what == "zombie":
            zombie = job.writer(now)
            zombie.write(["wrong"], None)
        committables = job.prepare(values, now, what == "final")
        job.decide()
        for _ in range(2 if what == "twice" else 1):
            job.sink.create_committer().commit(committables)
        if what == "zombie":
            zombie.write(["wrong"] * 20, None)
            zombie.prepare_commit()
        expected.extend(values)
    assert "".join(visible(path)) == "".join(f"{value}\n" for value in expected)


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
    with pytest.raises(ConnectorError, match="FileSink requires a path of a file system that is mounted"):
        sink_of("s3://bucket/out")  # type: ignore[arg-type]


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

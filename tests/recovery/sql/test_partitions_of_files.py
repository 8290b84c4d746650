"""A table of files whose partitions are committed by the watermark: a partition that is said to be complete is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from firesteel.state.disk.copy import close_working_stores
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import ManualClock, executing
from tests.recovery.crashing import Crasher, points

ROWS = 80
IN_PARTITION = 20


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "in").mkdir()
    for number in range(2):
        lines = [
            json.dumps({"n": n, "ts": f"2024-01-01 {n // IN_PARTITION:02d}:{n % IN_PARTITION:02d}:00"})
            for n in range(number, ROWS, 2)
        ]
        (tmp_path / "in" / f"{number}.json").write_text("\n".join(lines))
    yield tmp_path
    close_working_stores(tmp_path)


def run(home: Path, parallelism: int, crasher: Crasher, **options: str) -> Crasher:
    """Run the job until it ends or crashes."""
    given = {
        "connector": "filesystem",
        "path": f"{home}/out",
        "sink.partition-commit.policy.kind": "success-file",
        "sink.partition-commit.trigger": "partition-time",
        "sink.partition-commit.delay": "1 h",
        "partition.time-extractor.timestamp-pattern": "$dt $hr:00:00",
        **options,
    }
    written = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    with (
        points(crasher),
        executing(
            crasher.executor,
            epoch_records=8,
            parallelism=parallelism,
            state_dir=f"{home}/state",
            clock=ManualClock(1_000_000),
        ),
    ):
        tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        tables.execute_sql(
            "CREATE TABLE events (n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
            f"('connector' = 'filesystem', 'path' = '{home}/in', 'format' = 'json')"
        )
        tables.execute_sql(
            f"CREATE TABLE parted (n INT, dt STRING, hr STRING) PARTITIONED BY (dt, hr) WITH ({written})"
        )
        try:
            tables.execute_sql(
                "INSERT INTO parted SELECT n, DATE_FORMAT(ts, 'yyyy-MM-dd'), DATE_FORMAT(ts, 'HH') FROM events"
            ).wait()
        except Exception:
            if crasher.crashed is None:
                raise
    return crasher


def complete(home: Path) -> int:
    """Check that each partition that is committed has all of its rows, once; return how many there are."""
    marks = sorted((home / "out").rglob("_SUCCESS"))
    for mark in marks:
        hour = int(mark.parent.name.removeprefix("hr="))
        parts = [path for path in mark.parent.glob("*part-*") if not path.name.startswith(".")]
        rows = sorted(json.loads(line)["n"] for path in parts for line in path.read_text().splitlines())
        assert rows == [*range(hour * IN_PARTITION, (hour + 1) * IN_PARTITION)]
    return len(marks)


@pytest.mark.parametrize("compaction", ["false", "true"])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_crashes_and_another_parallelism(home: Path, parallelism: int, compaction: str) -> None:
    options = {"format": "json", "auto-compaction": compaction}
    struck: set[tuple[int, str]] = set()
    counts = []
    for turn in range(30):
        crasher = Crasher(
            lambda count, point: (
                point[1] in ("before a part file", "before the manifest") and point not in struck
            )
        )
        run(home, 1 + (parallelism + turn) % 3, crasher, **options)
        counts.append(complete(home))
        if crasher.crashed is None:
            break
        struck.add(crasher.crashed)
    assert len(struck) >= 6
    assert counts == sorted(counts)
    assert any(0 < count < ROWS // IN_PARTITION for count in counts)  # before the input has ended
    assert counts[-1] == ROWS // IN_PARTITION

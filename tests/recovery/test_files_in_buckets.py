"""Jobs whose input and output are objects of a store: crashes anywhere, another parallelism, an older epoch, Spark."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.common import Types, WatermarkStrategy
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.connectors.files.source import FileSource
from firesteel.connectors.files.text_lines import TextLineFormat
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.state.disk.copy import close_working_stores
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import ManualClock, executing
from tests.connectors.buckets import Bucket, bucket, server, store
from tests.recovery.crashing import Crasher, points
from tests.recovery.test_on_spark import PROGRAM, SETTINGS, counted

__all__ = ["bucket", "server", "store"]

LINES = [f"{number:03d} {'-' * 40}" for number in range(60)]
EXPECTED = Counter(line.lower() for line in LINES)


@pytest.fixture
def base(bucket: Bucket, tmp_path: Path) -> Iterator[Bucket]:
    for number in range(3):
        bucket.put(f"in/{number}.txt", "\n".join(LINES[number::3]).encode())
    yield bucket
    close_working_stores(tmp_path)


def run(bucket: Bucket, directory: Path, parallelism: int = 2, crasher: Crasher | None = None) -> Crasher:
    """Run a job that copies lines, until it ends or crashes."""
    crasher = crasher or Crasher()
    with (
        points(crasher),
        executing(
            crasher.executor,
            epoch_records=20,
            parallelism=parallelism,
            state_dir=str(directory / "state"),
            clock=ManualClock(1_000_000),
        ),
    ):
        env = StreamExecutionEnvironment.get_execution_environment()
        source = FileSource([f"{bucket.url}/in"], TextLineFormat(), split_size=400)
        lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines").uid("lines")
        lower = lines.map(str.lower, Types.STRING()).uid("lower")
        for name, rolling in (("each", RollingPolicy.on_epoch()), ("open", RollingPolicy(part_size=600))):
            sink = FileSink(f"{bucket.url}/{name}", TextLines(), BasePathBuckets(), rolling)
            lower.sink_to(sink).uid(name)
        try:
            env.execute()
        except Exception:
            if crasher.crashed is None:
                raise
    return crasher


def check(bucket: Bucket) -> None:
    for name in ("each", "open"):
        found = Counter(line for data in bucket.visible(name).values() for line in data.decode().splitlines())
        assert found == EXPECTED
    assert bucket.hidden() == []


@pytest.mark.parametrize(
    "what", ["after task 0.1", "before the manifest", "before a part file", "after a part file"]
)
def test_a_crash_in_each_epoch(base: Bucket, tmp_path: Path, what: str) -> None:
    struck = set()
    for turn in range(20):
        crasher = Crasher(lambda count, point: point[1] == what and point not in struck)
        run(base, tmp_path, 1 + turn % 3 if what == "before a part file" else 2, crasher)
        if crasher.crashed is None:
            break
        struck.add(crasher.crashed)
    assert len(struck) >= 2
    check(base)


@pytest.mark.long
def test_a_crash_anywhere(base: Bucket, tmp_path: Path) -> None:
    total = len(run(base, tmp_path / "whole").points)
    check(base)
    for at in range(1, total, 3):
        for path in base.visible("each"), base.visible("open"):
            base.objects.delete_all(path)
        directory = tmp_path / str(at)
        directory.mkdir()
        run(base, directory, 2, Crasher(lambda count, point, at=at: count == at))
        run(base, directory, 3)
        check(base)
        close_working_stores(directory)


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("epoch_records", [7, 100_000])
def test_tables_read_write_and_look_up_objects(bucket: Bucket, parallelism: int, epoch_records: int) -> None:
    bucket.put("orders/a.json", b"\n".join(b'{"id": %d, "k": "%d"}' % (n, n % 3) for n in range(30)))
    bucket.put("names/a.csv", b"0,zero\n1,one\n2,two\n")
    with executing(parallelism=parallelism, epoch_records=epoch_records):
        tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        tables.execute_sql(
            "CREATE TABLE orders (id INT, k STRING, p AS PROCTIME(), f STRING METADATA FROM 'file.path') WITH "
            f"('connector' = 'filesystem', 'path' = '{bucket.url}/orders', 'format' = 'json')"
        )
        tables.execute_sql(
            "CREATE TABLE names (k STRING, name STRING) WITH "
            f"('connector' = 'filesystem', 'path' = '{bucket.url}/names', 'format' = 'csv')"
        )
        tables.execute_sql(
            "CREATE TABLE named (id INT, f STRING, name STRING) PARTITIONED BY (name) WITH ("
            f"'connector' = 'filesystem', 'path' = '{bucket.url}/named', 'format' = 'parquet', "
            "'auto-compaction' = 'true', 'sink.partition-commit.policy.kind' = 'success-file')"
        )
        tables.execute_sql(
            "INSERT INTO named SELECT o.id, o.f, n.name FROM orders AS o "
            "JOIN names FOR SYSTEM_TIME AS OF o.p AS n ON o.k = n.k"
        ).wait()
        with tables.execute_sql("SELECT id, f, name FROM named WHERE name <> 'two'").collect() as results:
            rows = sorted((row[0], row[1], row[2]) for row in results)
    url = f"{bucket.url}/orders/a.json"
    assert rows == [(n, url, ("zero", "one")[n % 3]) for n in range(30) if n % 3 < 2]
    marks = [path for path in bucket.paths("named") if path.endswith("_SUCCESS")]
    assert marks == [f"named/name={name}/_SUCCESS" for name in ("one", "two", "zero")]
    parts = [path.rpartition("/")[2] for path in bucket.visible("named")]
    assert all(part.startswith("compacted-part-") for part in parts)


IN_BUCKETS = (
    PROGRAM.replace("DataGeneratorSource(int, COUNT)", 'FileSource([f"{BUCKET}/in"], TextLineFormat())')
    .replace('"numbers")\n', '"numbers").map(int, Types.INT())\n')
    .replace('FileSink("out"', 'FileSink(f"{BUCKET}/out"')
    .replace("RollingPolicy.on_epoch()", "RollingPolicy(part_size=4000)")
    .replace("import WatermarkStrategy\n", "import Types, WatermarkStrategy\n")
    .replace("MARKER =", 'BUCKET = os.environ["BUCKET"]\nMARKER =')
    .replace("from firesteel.connectors.datagen import DataGeneratorSource\n", "")
    .replace(
        "from firesteel.datastream import",
        "from firesteel.connectors.files.source import FileSource\n"
        "from firesteel.connectors.files.text_lines import TextLineFormat\n"
        "from firesteel.datastream import",
        1,
    )
)
"""The program of the tests on Spark, which reads and writes objects."""


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.long
def test_a_job_on_spark_whose_driver_is_killed(bucket: Bucket, tmp_path: Path, run_python) -> None:  # type: ignore[no-untyped-def]
    bucket.put("in/numbers", "\n".join(map(str, range(3000))).encode())
    (tmp_path / "program.py").write_text(IN_BUCKETS)
    settings = {**SETTINGS, "FIRESTEEL_STATE_DIR": f"{bucket.url}/state", "BUCKET": bucket.url}
    first = run_python("program.py", "SIGKILL", 3000, **settings)
    assert first.returncode == -signal.SIGKILL, first.stderr
    second = run_python("program.py", "SIGKILL", 3000, **settings)
    assert second.stdout.splitlines()[-1:] == ["the end"], second.stderr
    out = [data.decode() for data in bucket.visible("out").values()]
    assert sorted(line for text in out for line in text.splitlines()) == counted(3000)
    assert Storage.of(bucket.url).list("out/_firesteel") == []

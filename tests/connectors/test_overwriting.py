"""INSERT OVERWRITE of files: what goes, what stays, in one epoch and in many, and when a commit is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.common.errors import UnsupportedError
from firesteel.connectors.files.parts import PartCommit
from firesteel.connectors.tables.overwriting import Overwrite, OverwritingCommitter
from firesteel.functions.sink import Committer
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing.execution import executing

FORMATS = ("csv", "parquet")


def session(here: Path, format: str = "csv") -> TableEnvironment:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for name, partitions in (("whole", ""), ("parted", "PARTITIONED BY (d, h)")):
        environment.execute_sql(
            f"CREATE TABLE {name} (a INT, d STRING, h INT) {partitions} "
            f"WITH ('connector' = 'filesystem', 'path' = '{here / name}', 'format' = '{format}')"
        )
    environment.execute_sql("INSERT INTO whole VALUES (1, 'x', 1), (2, 'x', 2), (3, 'y', 1)").wait()
    environment.execute_sql("INSERT INTO parted SELECT * FROM whole").wait()
    return environment


def rows(environment: TableEnvironment, table: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in environment.execute_sql(f"SELECT a, d, h FROM {table}").collect())


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("epoch_records", [None, 1])
def test_a_table_may_be_overwritten_with_itself(format: str, epoch_records: int | None, tmp_path: Path):
    with executing("process", parallelism=2, epoch_records=epoch_records):
        environment = session(tmp_path, format)
        environment.execute_sql("INSERT OVERWRITE whole SELECT a + 10, d, h FROM whole WHERE a > 1").wait()
        assert rows(environment, "whole") == [(12, "x", 2), (13, "y", 1)]
        environment.execute_sql("INSERT OVERWRITE whole SELECT * FROM whole WHERE a > 100").wait()
        assert rows(environment, "whole") == []


@pytest.mark.parametrize("epoch_records", [None, 1])
def test_partitions_that_no_row_goes_to_stay(epoch_records: int | None, tmp_path: Path):
    with executing("process", parallelism=2, epoch_records=epoch_records):
        environment = session(tmp_path)
        environment.execute_sql("INSERT OVERWRITE parted VALUES (20, 'x', 2), (30, 'z', 1)").wait()
        assert rows(environment, "parted") == [(1, "x", 1), (3, "y", 1), (20, "x", 2), (30, "z", 1)]
        environment.execute_sql("INSERT OVERWRITE parted PARTITION (d = 'x') SELECT 40, 1").wait()
        assert rows(environment, "parted") == [(3, "y", 1), (20, "x", 2), (30, "z", 1), (40, "x", 1)]
        environment.execute_sql(
            "INSERT OVERWRITE parted PARTITION (d = 'x', h = 1) SELECT a FROM parted WHERE a > 100"
        ).wait()
        assert rows(environment, "parted") == [(3, "y", 1), (20, "x", 2), (30, "z", 1), (40, "x", 1)]


@pytest.mark.spark
def test_overwriting_on_spark(tmp_path: Path):
    with executing("spark", parallelism=2):
        environment = session(tmp_path, "parquet")
        environment.execute_sql("INSERT OVERWRITE whole SELECT a + 10, d, h FROM whole WHERE a > 1").wait()
        assert rows(environment, "whole") == [(12, "x", 2), (13, "y", 1)]


class Parts(Committer):
    """Shows each part by writing its file."""

    def commit(self, committables: list[PartCommit]) -> None:
        for part in committables:
            Path(part.final).with_name(f"compacted-{Path(part.final).name}").write_text("new")


def test_a_commit_that_is_repeated_keeps_its_own_files(tmp_path: Path):
    (tmp_path / "old").write_text("old")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "old").write_text("old")
    committer = OverwritingCommitter(Parts(), None)
    committables = [PartCommit(str(tmp_path / "part"), ()), Overwrite()]
    committer.commit(committables[:1])
    assert (tmp_path / "old").exists(), "an epoch that is not the last one removes nothing"
    for _ in range(2):
        committer.commit(committables)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["_SUCCESS", "compacted-part", "inner"]
    assert (tmp_path / "inner" / "old").exists()


def test_a_compiled_plan_overwrites_each_time_it_runs(tmp_path: Path):
    with executing("process", parallelism=2):
        environment = session(tmp_path)
        plan = tmp_path / "plan.json"
        environment.execute_sql(
            f"COMPILE PLAN '{plan}' FOR INSERT OVERWRITE whole SELECT a * 2, d, h FROM parted"
        )
        for _ in range(2):
            environment.execute_sql(f"EXECUTE PLAN '{plan}'").wait()
            assert rows(environment, "whole") == [(2, "x", 1), (4, "x", 2), (6, "y", 1)]


def test_what_cannot_be_overwritten_is_refused(tmp_path: Path):
    with executing("process", parallelism=1):
        environment = session(tmp_path)
        environment.execute_sql("CREATE TABLE printed (a INT) WITH ('connector' = 'print')")
        with pytest.raises(UnsupportedError, match="requires a table that can be overwritten"):
            environment.execute_sql("INSERT OVERWRITE printed VALUES (1)")

"""Jobs that read a table of a database: what is committed is never read again, whatever has become of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.splits import finished_splits
from firesteel.common.errors import FiresteelError
from firesteel.control import EpochStats, JobHandle
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.recovery.jobs import Watch
from tests.recovery.sql.jobs import Act, state_of

ROWS, LENGTH, GROUPS = 120, 10, 7
BROKEN = 57

Sums = dict[int, tuple[int, int]]


def value(key: int) -> int:
    return key * 17 % 23


def summed(starts: Mapping[int, object] | range) -> Sums:
    """Return the answer over the partitions with these first keys."""
    sums: Sums = {}
    for key in (key for start in starts for key in range(start, start + LENGTH)):
        count, total = sums.get(key % GROUPS, (0, 0))
        sums[key % GROUPS] = count + 1, total + value(key)
    return sums


EVERY = range(0, ROWS, LENGTH)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return the directory of a job, with a table to read and one for the answer in one database."""
    with sqlite3.connect(tmp_path / "shop.db") as database:
        database.execute("CREATE TABLE given (k INTEGER, v INTEGER)")
        database.executemany("INSERT INTO given VALUES (?, ?)", [(key, value(key)) for key in range(ROWS)])
        database.execute("CREATE TABLE answer (g INTEGER PRIMARY KEY, n INTEGER, s INTEGER)")
    return tmp_path


def run(home: Path, act: Act, parallelism: int, condition: str = "TRUE") -> None:
    watch = Watch(act)
    with executing(
        state_dir=str(home / "state"), parallelism=parallelism, listener=watch, epoch_records=2 * LENGTH
    ):
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        env.get_config().set("restart-strategy.type", "none").set("parallelism.default", str(parallelism))
        options = f"'connector' = 'jdbc', 'url' = 'jdbc:sqlite:{home / 'shop.db'}', 'table-name'"
        env.execute_sql(
            f"CREATE TABLE given (k BIGINT, v BIGINT) WITH ({options} = 'given', 'scan.partition.column' = 'k', "
            f"'scan.partition.num' = '{len(EVERY)}', 'scan.partition.lower-bound' = '0', "
            f"'scan.partition.upper-bound' = '{ROWS - 1}')"
        )
        env.execute_sql(
            "CREATE TABLE answer (g BIGINT, n BIGINT, s BIGINT, PRIMARY KEY (g) NOT ENFORCED) "
            f"WITH ({options} = 'answer')"
        )
        query = f"SELECT MOD(k, {GROUPS}), COUNT(*), SUM(v) FROM given WHERE {condition} GROUP BY MOD(k, {GROUPS})"
        job = env.execute_sql(f"INSERT INTO answer {query}").job
        assert job is not None
        watch.follow(job).wait(120)


def visible(home: Path) -> Sums:
    with sqlite3.connect(home / "shop.db") as database:
        return {group: (count, total) for group, count, total in database.execute("SELECT * FROM answer")}


def change(home: Path, statement: str) -> None:
    with sqlite3.connect(home / "shop.db") as database:
        database.execute(statement)


def committed(home: Path) -> range | list[int]:
    """Return the first keys of the partitions that were read when the job was committed last."""
    storage = Storage.of(state_of(home))
    last = ManifestReader(storage).latest()
    assert last is not None
    [progress] = last.sources.values()
    return sorted(int(split.split()[1]) for split in finished_splits(storage, progress))


def spoil_what_is_committed(home: Path) -> list[int]:
    """Make what was read something that cannot be read; return the first keys of its partitions."""
    starts = list(committed(home))
    for start in starts:
        change(home, f"UPDATE given SET v = 'gone' WHERE k BETWEEN {start} AND {start + LENGTH - 1}")
    return starts


@pytest.mark.parametrize(("first", "then"), [(1, 3), (2, 1), (3, 2)])
def test_a_job_goes_on_behind_its_partitions(home: Path, first: int, then: int) -> None:
    change(home, f"UPDATE given SET v = 'broken' WHERE k = {BROKEN}")
    with pytest.raises(FiresteelError, match="column 'v' of type BIGINT requires values of its type"):
        run(home, lambda handle, stats: None, first)
    starts = spoil_what_is_committed(home)
    assert 0 < len(starts) < len(EVERY)
    assert visible(home) == summed(dict.fromkeys(starts))
    change(home, f"UPDATE given SET v = {value(BROKEN)} WHERE k = {BROKEN}")
    run(home, lambda handle, stats: None, then)
    assert visible(home) == summed(EVERY)


def test_a_running_job_is_rescaled_while_its_table_changes(home: Path) -> None:
    changes = {1: 3, 3: 1, 4: 2}

    def act(handle: JobHandle, stats: EpochStats) -> None:
        assert visible(home) == summed(dict.fromkeys(spoil_what_is_committed(home)))
        if stats.epoch in changes:
            handle.rescale(changes[stats.epoch])

    run(home, act, 2)
    assert visible(home) == summed(EVERY)


def test_another_condition_goes_for_partitions_that_are_left(home: Path) -> None:
    def stop(handle: JobHandle, stats: EpochStats) -> None:
        if stats.epoch == 2:
            handle.stop(str(home / "savepoints"))

    run(home, stop, 1, "v >= 0")
    starts = committed(home)
    assert 0 < len(starts) < len(EVERY)
    run(home, lambda handle, stats: None, 2, "v > 100")
    assert visible(home) == summed(dict.fromkeys(starts))

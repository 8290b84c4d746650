"""Materialised tables: made, read while they are maintained, killed, resumed, altered, dropped, and what is refused."""

from __future__ import annotations

import threading

import pyarrow as pa
import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.readers import hold
from firesteel.common.errors import ConnectorError
from firesteel.control import EpochStats, JobHandle
from firesteel.saved.inspection import SavedState
from firesteel.testing import executing
from tests.recovery.jobs import Watch
from tests.table.transfers import PATIENCE, ROWS, TRANSFERS, error, job, made, rows, session


@pytest.mark.parametrize("key", ["", "(PRIMARY KEY (account) NOT ENFORCED)"])
def test_another_program_reads_what_the_query_gives(tmp_path, key):
    with executing(parallelism=2, epoch_records=50):
        job(session(tmp_path), made(TRANSFERS, key)).wait(PATIENCE)
        reader = session(tmp_path, batch=True)
        assert rows(reader, "SELECT * FROM kept_rows") == rows(reader, TRANSFERS)
        assert rows(reader, "SELECT account, n FROM kept_rows") == rows(
            reader, f"SELECT account, n FROM ({TRANSFERS})"
        )
        joined = "SELECT a.n FROM kept_rows AS a JOIN kept_rows AS b ON a.account = b.account"
        assert len(rows(session(tmp_path), joined)) == 13


def test_rows_that_are_equal_are_all_there(tmp_path):
    with executing(parallelism=2, epoch_records=50):
        job(session(tmp_path), made("SELECT v % 3 AS part, CAST(NULL AS STRING) AS nothing FROM given")).wait(
            PATIENCE
        )
        counted = "SELECT part, COUNT(*), COUNT(nothing) FROM kept_rows GROUP BY part"
        assert rows(session(tmp_path, batch=True), counted) == [(0, 133, 0), (1, 134, 0), (2, 133, 0)]


def test_a_reader_sees_whole_epochs_alone(tmp_path):
    """The accounts that a reader sees always sum up to 0, and never less than before has been transferred."""
    seen: list[tuple[int, int]] = []
    over = threading.Event()

    def read() -> None:
        with executing(parallelism=2):
            env = session(tmp_path, batch=True)
            while not over.is_set():
                ((balance, n),) = rows(env, "SELECT SUM(balance), SUM(n) FROM kept_rows")
                seen.append((balance or 0, n or 0))

    with executing(parallelism=3, epoch_records=8):
        handle = job(session(tmp_path), made(TRANSFERS))
        reader = threading.Thread(target=read)
        reader.start()
        handle.wait(PATIENCE)
        over.set()
        reader.join()
        read_at_last = rows(session(tmp_path, batch=True), "SELECT SUM(balance), SUM(n) FROM kept_rows")
    assert read_at_last == [(0, 2 * ROWS)]
    counts = [n for _, n in seen]
    assert {balance for balance, _ in seen} == {0}
    assert all(n % 2 == 0 for n in counts)
    assert counts == sorted(counts)
    assert len(set(counts)) > 2  # the job was at work meanwhile


def cancelled_after(epochs: int) -> Watch:
    left = [epochs]

    def act(handle: JobHandle, stats: EpochStats) -> None:
        left[0] -= 1
        if not left[0]:
            handle.cancel()

    return Watch(act)


def test_a_table_that_is_killed_goes_on_where_it_was_and_is_read_meanwhile(tmp_path):
    statement = made(TRANSFERS)
    for parallelism in (2, 3):
        watch = cancelled_after(4)
        with executing(parallelism=parallelism, epoch_records=10, listener=watch):
            watch.follow(job(session(tmp_path), statement)).wait(PATIENCE)
        with executing(parallelism=1):
            reader = session(tmp_path, batch=True)
            ((balance, n),) = rows(reader, "SELECT SUM(balance), SUM(n) FROM kept_rows")
            assert (balance, 0 < n < 2 * ROWS) == (0, True)
        statement = "ALTER MATERIALIZED TABLE kept_rows RESUME"
    with executing(parallelism=1, epoch_records=100):
        env = session(tmp_path)
        job(env, statement).wait(PATIENCE)
        assert rows(session(tmp_path, batch=True), "SELECT * FROM kept_rows") == rows(
            session(tmp_path, batch=True), TRANSFERS
        )


ENDLESS = (
    "CREATE TABLE endless (v BIGINT NOT NULL) WITH ('connector' = 'datagen', 'rows-per-second' = '200', "
    "'fields.v.min' = '1', 'fields.v.max' = '9')"
)


def test_a_table_is_suspended_resumed_and_dropped(tmp_path):
    count = "SELECT SUM(n) FROM kept_rows"
    with executing(parallelism=2):
        env, other = session(tmp_path), session(tmp_path, batch=True)
        env.execute_sql(ENDLESS)
        first = job(env, made("SELECT v, COUNT(*) AS n FROM endless GROUP BY v"))
        assert "got one whose job runs" in error(other, "ALTER MATERIALIZED TABLE kept_rows RESUME")
        other.execute_sql("ALTER MATERIALIZED TABLE kept_rows SUSPEND")
        first.wait(PATIENCE)
        assert "suspended already" in error(other, "ALTER MATERIALIZED TABLE kept_rows SUSPEND")
        ((before,),) = rows(other, count)
        watch = Watch(lambda handle, stats: handle.stop() if stats.epoch > 3 else None)
        with executing(parallelism=1, listener=watch):
            watch.follow(job(session(tmp_path), "ALTER MATERIALIZED TABLE kept_rows RESUME")).wait(PATIENCE)
        ((after,),) = rows(other, count)
        assert after > (before or 0)
        again = job(session(tmp_path), "ALTER MATERIALIZED TABLE kept_rows RESUME")
        other.execute_sql("DROP MATERIALIZED TABLE kept_rows")
        again.wait(PATIENCE)
        assert not list((tmp_path / "catalog/default/materialized").rglob("*.arrow"))
        assert rows(env, "SHOW MATERIALIZED TABLES") == []


def test_another_query_begins_from_the_beginning(tmp_path):
    with executing(parallelism=2, epoch_records=100):
        env = session(tmp_path)
        job(env, made("SELECT v % 2 AS k, COUNT(*) AS n FROM given GROUP BY v % 2")).wait(PATIENCE)
        changed = "SELECT v % 2 AS k, COUNT(*) AS n, NULLIF(MAX(v), 0) AS most FROM given GROUP BY v % 2"
        job(env, f"ALTER MATERIALIZED TABLE kept_rows AS {changed}").wait(PATIENCE)
        reader = session(tmp_path, batch=True)
        assert rows(reader, "SELECT * FROM kept_rows") == [(0, 200, 400), (1, 200, 399)]
        fewer = changed.replace("v % 2", "v % 4")
        create = f"CREATE OR ALTER MATERIALIZED TABLE kept_rows FRESHNESS = INTERVAL '1' SECOND AS {fewer}"
        job(env, create).wait(PATIENCE)
        assert [row[1] for row in rows(reader, "SELECT * FROM kept_rows")] == [100] * 4
        assert "requires the columns of the table as they are" in error(
            env, "ALTER MATERIALIZED TABLE kept_rows AS SELECT v AS other FROM given"
        )
        assert "requires new columns that can be NULL; got v BIGINT NOT NULL" in error(
            env, f"ALTER MATERIALIZED TABLE kept_rows AS SELECT k, n, most, n AS v FROM ({fewer})"
        )


def test_in_full_mode_a_table_is_what_the_last_refresh_has_made(tmp_path):
    with executing(parallelism=2):
        env = session(tmp_path)
        env.execute_sql(
            "CREATE TABLE files (v BIGINT) "
            f"WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path}/v')"
        )
        env.execute_sql(
            "CREATE MATERIALIZED TABLE total FRESHNESS = INTERVAL '1' HOUR AS SELECT SUM(v) AS s FROM files"
        )
        reader = session(tmp_path, batch=True)
        assert rows(reader, "SELECT * FROM total") == []
        for added, total in ((3, 3), (4, 7), (5, 12)):
            reader.execute_sql(f"INSERT INTO files VALUES ({added})").wait()
            before = rows(reader, "SELECT * FROM total")
            assert before == ([] if added == 3 else [(total - added,)])
            reader.execute_sql("ALTER MATERIALIZED TABLE total REFRESH")
            assert rows(reader, "SELECT * FROM total") == [(total,)]
        (tmp_path / "v" / "broken.csv").write_text("no number\n")
        error(reader, "ALTER MATERIALIZED TABLE total REFRESH")
        assert rows(reader, "SELECT * FROM total") == [(12,)]
        assert "there is no schedule to SUSPEND" in error(env, "ALTER MATERIALIZED TABLE total SUSPEND")


def test_a_table_with_a_connector_is_kept_there_and_refreshed_by_partitions(tmp_path):
    with executing(parallelism=2, epoch_records=100):
        env, reader = session(tmp_path), session(tmp_path, batch=True)
        files = f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/parts')"
        job(
            env,
            f"CREATE MATERIALIZED TABLE parts PARTITIONED BY (part) WITH {files} FRESHNESS = INTERVAL '1' SECOND "
            "AS SELECT v, CAST(v % 2 AS STRING) AS part FROM given",
        ).wait(PATIENCE)
        counted = "SELECT part, COUNT(*) FROM parts GROUP BY part"
        assert rows(reader, counted) == [("0", 200), ("1", 200)]
        for part in (tmp_path / "parts").rglob("*"):
            if part.is_file():
                part.unlink()
        reader.execute_sql("ALTER MATERIALIZED TABLE parts REFRESH PARTITION (part = '1')")
        assert rows(reader, counted) == [("1", 200)]
        reader.execute_sql("ALTER MATERIALIZED TABLE parts REFRESH")
        assert rows(reader, counted) == [("0", 200), ("1", 200)]
        # The job goes on in its own state, in which all has been read.
        job(env, "ALTER MATERIALIZED TABLE parts RESUME").wait(PATIENCE)
        assert rows(reader, counted) == [("0", 200), ("1", 200)]
        assert "requires columns of PARTITIONED BY" in error(
            reader, "ALTER MATERIALIZED TABLE parts REFRESH PARTITION (other = '1')"
        )


def test_what_is_read_is_kept_until_the_reader_had_its_time(tmp_path):
    directory = tmp_path / "catalog/default/materialized/kept_rows/1"

    def act(handle: JobHandle, stats: EpochStats) -> None:
        if stats.epoch == 2:
            hold(Storage.of(directory), 2, 60_000)

    watch = Watch(act)
    with executing(parallelism=1, epoch_records=10, retained=1, listener=watch):
        watch.follow(job(session(tmp_path), made(TRANSFERS))).wait(PATIENCE)
    (operator,) = [
        one
        for one in SavedState.open(str(directory), 2).operators()
        if one.snapshot.name.startswith("kept_rows[")
    ]
    (kept,) = operator.arrangements
    table = pa.Table.from_batches(kept.batches(Storage.of(directory), kept.ranges()[0]))
    assert sum(table.column("c1").to_pylist()) == 0
    assert 0 < sum(table.column("c2").to_pylist()) < ROWS


def test_what_is_refused(tmp_path):
    env = session(tmp_path)
    env.execute_sql("CREATE TEMPORARY VIEW fleeting AS SELECT 1 AS a")
    fresh = "FRESHNESS = INTERVAL '1' HOUR"
    assert "cannot speak of temporary tables or views; got" in error(
        env, f"CREATE MATERIALIZED TABLE m {fresh} AS SELECT * FROM fleeting"
    )
    assert "requires a freshness of a positive whole number; got -1" in error(
        env, "CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '-1' SECOND AS SELECT 1 AS a"
    )
    assert "requires a freshness in SECOND, MINUTE, HOUR or DAY; got MONTH" in error(
        env, "CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' MONTH AS SELECT 1 AS a"
    )
    assert "HOUR of 1, 2, 3, 4, 6, 8, 12; got INTERVAL '5' HOUR" in error(
        env, "CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '5' HOUR AS SELECT 1 AS a"
    )
    assert "requires that the query gives each column" in error(
        env, f"CREATE MATERIALIZED TABLE m (a INT, b INT) {fresh} AS SELECT 1 AS a"
    )
    env.execute_sql(f"CREATE MATERIALIZED TABLE m {fresh} AS SELECT 1 AS a")
    assert "requires a name that no other table or view has" in error(
        env, f"CREATE MATERIALIZED TABLE m {fresh} AS SELECT 1 AS a"
    )
    env.execute_sql(f"CREATE MATERIALIZED TABLE IF NOT EXISTS m {fresh} AS SELECT 1 AS a")
    assert "cannot be written: it is a materialized table" in error(env, "INSERT INTO m VALUES (1)")
    assert "requires a table; got the materialized table" in error(env, "DROP TABLE m")
    assert "requires a table; got the materialized table m" in error(env, "ALTER TABLE m ADD b INT")
    assert "requires a materialized table that exists" in error(env, "DROP MATERIALIZED TABLE other")
    env.execute_sql("DROP MATERIALIZED TABLE IF EXISTS other")
    env.use_catalog("default_catalog")
    assert "requires a place for its rows and its state" in error(
        env, f"CREATE MATERIALIZED TABLE m {fresh} AS SELECT 1 AS a"
    )
    env.execute_sql(
        f"CREATE TABLE lost (a INT) WITH ('connector' = 'materialized', 'path' = '{tmp_path}/nowhere')"
    )
    with executing(), pytest.raises(ConnectorError, match="requires the directory of a materialised table"):
        rows(env, "SELECT * FROM lost")

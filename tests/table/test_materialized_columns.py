"""ALTER MATERIALIZED TABLE of columns, watermarks and keys: what goes on, what begins anew, and what is refused."""

from __future__ import annotations

import pytest

from firesteel.testing import executing
from tests.table.transfers import PATIENCE, ROWS, TRANSFERS, error, job, made, rows, session

ALTER = "ALTER MATERIALIZED TABLE kept_rows"
QUERY = f"SELECT account, n, NULLIF(n, 1) AS maybe FROM ({TRANSFERS})"


@pytest.fixture(autouse=True)
def in_this_process():
    with executing(parallelism=2, epoch_records=100):
        yield


@pytest.fixture
def env(tmp_path):
    """A session with the table, whose job has ended."""
    env = session(tmp_path)
    job(env, made(TRANSFERS)).wait(PATIENCE)
    return env


@pytest.fixture
def reader(tmp_path, env):
    return session(tmp_path, batch=True)


def number_of_job(tmp_path):
    return (tmp_path / "catalog/default/materialized/kept_rows/current").read_text()


def columns(env):
    return [(row[0], row[1]) for row in env.execute_sql("DESCRIBE kept_rows").collect()]


def definition(env):
    [[text]] = [list(row) for row in env.execute_sql("SHOW CREATE MATERIALIZED TABLE kept_rows").collect()]
    return text


def test_what_is_computed_when_it_is_read_changes_at_once(tmp_path, env, reader):
    assert env.execute_sql(f"{ALTER} ADD (twice AS n * 2 AFTER account, first AS n - 1 FIRST)").job is None
    assert [name for name, _ in columns(reader)] == ["first", "account", "twice", "balance", "n"]
    assert rows(reader, "SELECT * FROM kept_rows") == rows(
        reader, f"SELECT n - 1, account, n * 2, balance, n FROM ({TRANSFERS})"
    )
    assert env.execute_sql(f"{ALTER} MODIFY twice AS CAST(n AS STRING) COMMENT 'no number' FIRST").job is None
    assert columns(reader)[0][0] == "twice"
    assert rows(reader, "SELECT twice FROM kept_rows WHERE account = 12") == rows(
        reader, f"SELECT CAST(n AS STRING) FROM ({TRANSFERS}) WHERE account = 12"
    )
    env.execute_sql(f"{ALTER} DROP (twice, first)")
    assert rows(reader, "SELECT * FROM kept_rows") == rows(reader, TRANSFERS)
    assert number_of_job(tmp_path) == "1"


def test_a_watermark_comes_changes_and_goes(tmp_path, env, reader):
    env.execute_sql(f"{ALTER} ADD (time_ AS TO_TIMESTAMP_LTZ(n, 3), WATERMARK FOR time_ AS time_)")
    assert "WATERMARK FOR `time_` AS `time_`" in definition(reader)
    env.execute_sql(f"{ALTER} MODIFY WATERMARK FOR time_ AS time_ - INTERVAL '1' SECOND")
    assert "WATERMARK FOR `time_` AS `time_` - INTERVAL '1' SECOND" in definition(reader)
    assert "which the watermark needs" in error(env, f"{ALTER} DROP time_")
    assert "adds a watermark to a table that has one" in error(
        env, f"{ALTER} ADD WATERMARK FOR time_ AS time_"
    )
    env.execute_sql(f"{ALTER} DROP WATERMARK")
    env.execute_sql(f"{ALTER} DROP time_")
    assert rows(reader, "SELECT * FROM kept_rows") == rows(reader, TRANSFERS)
    assert number_of_job(tmp_path) == "1"


def test_a_table_that_stores_other_types_or_another_order_begins_anew(tmp_path, env, reader):
    job(env, f"{ALTER} MODIFY (n DECIMAL(30, 2) FIRST, account DOUBLE AFTER balance)").wait(PATIENCE)
    assert columns(reader) == [
        ("n", "DECIMAL(30, 2)"),
        ("balance", columns(reader)[1][1]),
        ("account", "DOUBLE"),
    ]
    assert rows(reader, "SELECT * FROM kept_rows") == rows(
        reader, f"SELECT CAST(n AS DECIMAL(30, 2)), balance, CAST(account AS DOUBLE) FROM ({TRANSFERS})"
    )
    assert number_of_job(tmp_path) == "2"


def test_a_primary_key_comes_changes_and_goes(tmp_path, env, reader):
    answers = rows(reader, TRANSFERS)
    job(env, f"{ALTER} ADD PRIMARY KEY (account) NOT ENFORCED").wait(PATIENCE)
    assert "CONSTRAINT `PK_account` PRIMARY KEY (`account`) NOT ENFORCED" in definition(reader)
    assert rows(reader, "SELECT * FROM kept_rows") == answers
    assert "adds a primary key to a table that has one" in error(
        env, f"{ALTER} ADD PRIMARY KEY (account) NOT ENFORCED"
    )
    job(env, f"{ALTER} MODIFY CONSTRAINT pair PRIMARY KEY (account, n) NOT ENFORCED").wait(PATIENCE)
    assert "CONSTRAINT `pair` PRIMARY KEY (`account`, `n`) NOT ENFORCED" in definition(reader)
    assert rows(reader, "SELECT * FROM kept_rows") == answers
    assert "requires the name of a constraint" in error(env, f"{ALTER} DROP CONSTRAINT other")
    job(env, f"{ALTER} DROP CONSTRAINT pair").wait(PATIENCE)
    assert rows(reader, "SELECT * FROM kept_rows") == answers
    job(env, f"{ALTER} ADD PRIMARY KEY (account) NOT ENFORCED").wait(PATIENCE)
    job(env, f"{ALTER} DROP PRIMARY KEY").wait(PATIENCE)
    assert "PRIMARY KEY" not in definition(reader)
    assert rows(reader, "SELECT * FROM kept_rows") == answers


def test_a_table_that_is_suspended_begins_anew_when_it_is_resumed(env, reader):
    env.execute_sql(f"{ALTER} SUSPEND")
    assert env.execute_sql(f"{ALTER} MODIFY n DOUBLE").job is None
    assert rows(reader, "SELECT * FROM kept_rows") == []
    job(env, f"{ALTER} RESUME").wait(PATIENCE)
    assert rows(reader, "SELECT SUM(n) FROM kept_rows") == [(2.0 * ROWS,)]


def test_in_full_mode_other_rows_are_stored_by_the_next_refresh(tmp_path):
    env, reader = session(tmp_path), session(tmp_path, batch=True)
    env.execute_sql(
        "CREATE MATERIALIZED TABLE kept_rows FRESHNESS = INTERVAL '1' HOUR AS SELECT COUNT(*) AS n FROM given"
    )
    env.execute_sql(f"{ALTER} REFRESH")
    env.execute_sql(f"{ALTER} ADD twice AS n * 2")
    assert rows(reader, "SELECT * FROM kept_rows") == [(ROWS, 2 * ROWS)]
    env.execute_sql(f"{ALTER} MODIFY n DOUBLE")
    assert rows(reader, "SELECT * FROM kept_rows") == []
    env.execute_sql(f"{ALTER} REFRESH")
    assert rows(reader, "SELECT * FROM kept_rows") == [(1.0 * ROWS, 2.0 * ROWS)]
    env.execute_sql(f"{ALTER} AS SELECT CAST(COUNT(*) AS DOUBLE) AS n, NULLIF(MAX(v), 0) AS most FROM given")
    assert rows(reader, "SELECT * FROM kept_rows") == []
    env.execute_sql(f"{ALTER} REFRESH")
    assert rows(reader, "SELECT most FROM kept_rows") == [(ROWS,)]


def test_a_table_with_a_connector_gets_what_the_connector_knows(tmp_path):
    env, reader = session(tmp_path), session(tmp_path, batch=True)
    files = f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/files')"
    with_files = f"CREATE MATERIALIZED TABLE kept_rows WITH {files} FRESHNESS = INTERVAL '1' SECOND"
    job(env, f"{with_files} AS SELECT v FROM given").wait(PATIENCE)
    env.execute_sql(f"{ALTER} ADD place STRING METADATA FROM 'file.path' VIRTUAL")
    found = rows(reader, "SELECT v, place LIKE '%/files/%' FROM kept_rows")
    assert found == [(v, True) for v in range(1, ROWS + 1)]
    env.execute_sql(f"{ALTER} DROP place")
    assert columns(reader) == [("v", "BIGINT")]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (
            "ADD other BIGINT",
            "requires that the query gives each column that is neither computed nor virtual",
        ),
        ("ADD other BIGINT METADATA", "requires that the query gives each column"),
        ("ADD account BIGINT", "adds a column that the table has; got account"),
        ("ADD other AS nothing + 1", "nothing"),
        ("ADD (a AS n AFTER b, b AS n)", "requires a column of the table; got b"),
        ("ADD WATERMARK FOR nothing AS nothing", "requires a column of the table in WATERMARK; got nothing"),
        (
            "ADD PRIMARY KEY (nothing) NOT ENFORCED",
            "requires a column of the table in PRIMARY KEY; got nothing",
        ),
        (
            "ADD PRIMARY KEY (account, maybe) NOT ENFORCED",
            "requires a type of maybe that BIGINT can be cast to",
        ),
        (
            "MODIFY maybe BIGINT NOT NULL",
            "requires a type of maybe that BIGINT can be cast to; got BIGINT NOT NULL",
        ),
        ("ADD DISTRIBUTION BY HASH (account) INTO 3 BUCKETS", "DISTRIBUTION"),
        ("MODIFY other BIGINT", "requires that the query gives each column"),
        ("MODIFY other AS n", "requires a column of the table; got other"),
        ("MODIFY n AS account * 2", "cannot make a computed column of a physical one; got n"),
        ("MODIFY n INT", "requires a type of n that BIGINT NOT NULL can be cast to; got INT"),
        ("MODIFY PRIMARY KEY (account) NOT ENFORCED", "changes the primary key of a table that has none"),
        ("MODIFY WATERMARK FOR n AS n", "changes the watermark of a table that has none"),
        ("MODIFY DISTRIBUTION BY HASH (account) INTO 3 BUCKETS", "DISTRIBUTION"),
        ("DROP n", "cannot drop a column that the query gives; got n"),
        ("DROP (account, n)", "cannot drop a column that the query gives; got account"),
        ("DROP other", "requires a column of the table; got other"),
        ("DROP PRIMARY KEY", "drops the primary key of a table that has none"),
        ("DROP CONSTRAINT other", "drops the primary key of a table that has none"),
        ("DROP WATERMARK", "drops the watermark of a table that has none"),
        ("DROP DISTRIBUTION", "drops the distribution of a table that has none"),
        ("SET FRESHNESS = INTERVAL '1' HOUR", "this kind of ALTER MATERIALIZED TABLE"),
        ("SET REFRESH_MODE = FULL", "this kind of ALTER MATERIALIZED TABLE"),
    ],
)
def test_what_is_refused(tmp_path, action, message):
    env = session(tmp_path)
    with executing(epoch_records=1000):
        env.execute_sql(f"CREATE MATERIALIZED TABLE kept_rows FRESHNESS = INTERVAL '1' HOUR AS {QUERY}")
    before = definition(env)
    assert message in error(env, f"{ALTER} {action}")
    assert definition(env) == before

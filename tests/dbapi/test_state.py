"""State of jobs and materialized tables over a gateway: rows of the driver, and frames of pandas."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import registry

from firesteel import dbapi
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.state import kinds

registry.register("firesteel", "firesteel.dbapi.dialect", "FiresteelDialect")

COUNTS = Counter(key for key, *_ in kinds.EVENTS)
QUERY = "SELECT key, `value`, epoch FROM state_of(?, ?, ?)"


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The state directory of a job that has ended after six epochs."""
    directory = tmp_path_factory.mktemp("kinds") / "state"
    with kinds.environment(directory, parallelism=2, epoch_records=20) as env:
        kinds.build(env)
        env.execute()
    return str(directory)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The statements that make a catalog with the materialized table `counts` known."""
    place = tmp_path_factory.mktemp("kept")
    statements = (
        f"CREATE CATALOG kept WITH ('type' = 'filesystem', 'path' = '{place}/catalog')",
        "USE CATALOG kept",
    )
    (place / "given.csv").write_text("a,1\nb,2\na,3\n")
    with executing(parallelism=2):
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        for statement in statements:
            env.execute_sql(statement)
        env.execute_sql(
            "CREATE TABLE given (k STRING NOT NULL, n INT) WITH "
            f"('connector' = 'filesystem', 'format' = 'csv', 'path' = '{place}/given.csv')"
        )
        job = env.execute_sql(
            "CREATE MATERIALIZED TABLE counts (PRIMARY KEY (k) NOT ENFORCED) FRESHNESS = INTERVAL '1' SECOND "
            "AS SELECT k, COUNT(*) AS times, SUM(n) AS total FROM given GROUP BY k"
        ).job
        assert job is not None
        job.wait(120)
    return statements


def engine(url: str, *init: str) -> sa.Engine:
    return sa.create_engine(url.replace("http", "firesteel"), connect_args={"init": [*init]})


def test_a_state_is_rows(url: str, left: str) -> None:
    with dbapi.connect(url) as connection:
        cursor = connection.cursor().execute(QUERY, [left, "kinds", "count"])
        assert cursor.description is not None
        assert [column[0] for column in cursor.description] == ["key", "value", "epoch"]
        assert sorted(cursor.fetchall()) == sorted((key, count, 6) for key, count in COUNTS.items())
        cursor.execute(f"{QUERY} AS OF EPOCH 1 WHERE key = ?", [left, "kinds", "count", kinds.EVENTS[0][0]])
        first = Counter(key for key, *_ in kinds.EVENTS[:20])
        assert cursor.fetchall() == [(kinds.EVENTS[0][0], first[kinds.EVENTS[0][0]], 1)]
        with pytest.raises(dbapi.ProgrammingError, match="nothing"):
            cursor.execute(QUERY, [left, "kinds", "nothing"])


def test_a_state_is_a_frame_of_pandas(url: str, left: str) -> None:
    made = engine(url)
    query = sa.text(
        "SELECT key, `value` AS times FROM state_of(:job, 'kinds', 'count') WHERE `value` > :most"
    )
    frame = pd.read_sql(query, made, params={"job": left, "most": 1}).set_index("key")["times"]
    assert frame.to_dict() == {key: count for key, count in COUNTS.items() if count > 1}
    made.dispose()


def test_a_state_is_joined_with_a_table(url: str, left: str, tmp_path: Path) -> None:
    key, *_ = kinds.EVENTS[0]
    (tmp_path / "names.csv").write_text(f"{key},first\n")
    names = (
        f"CREATE TABLE names (key {'INT' if isinstance(key, int) else 'STRING'}, name STRING) WITH "
        f"('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path}/names.csv')"
    )
    made = engine(url, names)
    frame = pd.read_sql(
        f"SELECT name, `value` AS times FROM names JOIN state_of('{left}', 'kinds', 'count') AS s "
        "ON names.key = s.key",
        made,
    )
    assert frame.to_dict("records") == [{"name": "first", "times": COUNTS[key]}]
    made.dispose()


def test_a_materialized_table_is_a_table(url: str, catalog: tuple[str, str]) -> None:
    made = engine(url, *catalog)
    frame = pd.read_sql_table("counts", made).sort_values("k")
    assert frame.to_dict("list") == {"k": ["a", "b"], "times": [2, 1], "total": [4, 2]}
    inspector = sa.inspect(made)
    assert inspector.get_table_names() == ["counts", "given"]
    assert [str(column["type"]) for column in inspector.get_columns("counts")] == [
        "VARCHAR",
        "BIGINT",
        "INTEGER",
    ]
    assert inspector.get_pk_constraint("counts")["constrained_columns"] == ["k"]
    with made.connect() as connection:
        assert connection.execute(sa.text("SELECT SUM(times) FROM counts")).scalar() == 3
    made.dispose()

"""The SQL sink on real databases: which rows end up in the table, and what is said when they cannot."""

from __future__ import annotations

import datetime as dt
import pickle
import threading
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from firesteel.common import Row, Types
from firesteel.common.errors import ConfigurationError, ConnectorError, TypeMismatchError
from firesteel.common.types import RowKind
from firesteel.connectors.sql import SqlSink, staged
from firesteel.connectors.sql.database import Database
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import WriterContext
from firesteel.state.disk.copy import close_working_stores
from firesteel.testing import executing

TYPE = Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])


def context(epoch: int = 1, subtask: int = 0, attempt: str = "driver-1", job: str = "job") -> WriterContext:
    return WriterContext(job, "sink", subtask, 2, EpochFacts(epoch, attempt, 0))


def write(sink: SqlSink, rows: list[Any], **where: Any) -> list[Any]:
    """The committables of one writer, as the manifest keeps them."""
    writer = sink.create_writer(context(**where))
    for row in rows:
        writer.write([row], None)
    return pickle.loads(pickle.dumps(list(writer.prepare_commit())))


def commit(sink: SqlSink, committables: list[Any]) -> None:
    committer = sink.create_committer()
    try:
        committer.commit(committables)
    finally:
        committer.close()


def run(rows: list[Any], sink: SqlSink, type_info: Any = TYPE, **how: Any) -> None:
    with executing(**how):
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection(rows, type_info).rebalance().sink_to(sink)
        env.execute()


@pytest.mark.parametrize(("parallelism", "epoch_records"), [(1, 1000), (2, 3), (3, 3), (3, 1000)])
def test_every_row_once(way_and_target, parallelism, epoch_records):
    way, target = way_and_target
    target.run("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT)")
    rows = [Row(number, f"name {number}") for number in range(20)]
    run(rows, SqlSink(target.url, "t", way=way), parallelism=parallelism, epoch_records=epoch_records)
    assert target.rows("SELECT id, name FROM t ORDER BY id") == [tuple(row) for row in rows]
    assert target.staged() == 0


@pytest.mark.parametrize(
    ("epoch_records", "batch_rows"), [(1, 1), (1, 10_000), (4, 2), (1000, 1), (1000, 10_000)]
)
def test_the_last_row_of_a_key_wins(way_and_target, epoch_records, batch_rows):
    way, target = way_and_target
    target.run("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT, kept INTEGER DEFAULT 7)")
    kinds = {"+": RowKind.UPDATE_AFTER, "-": RowKind.DELETE, "<": RowKind.UPDATE_BEFORE, "i": RowKind.INSERT}
    changes = "i1a i2b +1c -2b i3d <3d +3e i4f -4f i4g i5h -5h -9x"
    rows = [Row.of_kind(kinds[change[0]], int(change[1]), change[2]) for change in changes.split()]
    sink = SqlSink(target.url, "t", key=["id"], way=way, batch_rows=batch_rows)
    run(rows, sink, parallelism=1, epoch_records=epoch_records)
    assert target.rows("SELECT * FROM t ORDER BY id") == [(1, "c", 7), (3, "e", 7), (4, "g", 7)]


def test_a_key_of_several_columns_and_nothing_else(way_and_target):
    way, target = way_and_target
    target.run("CREATE TABLE t (a INTEGER, b TEXT, UNIQUE (b, a))", "INSERT INTO t VALUES (1, 'x')")
    sink = SqlSink(target.url, "t", ["a", "b"], key=["a", "b"], way=way)
    gone = Row.of_kind(RowKind.DELETE, 2, "y")
    commit(sink, write(sink, [(1, "x"), (2, "y"), {"b": "z", "a": 3}, gone]))
    assert target.rows("SELECT * FROM t ORDER BY a") == [(1, "x"), (3, "z")]


def test_values_come_back_as_they_went(way_and_target):
    way, target = way_and_target
    types = {
        "sqlite": "i INTEGER, f REAL, s TEXT, b BLOB, d TEXT, ts TEXT, da TEXT, ti TEXT, u TEXT, n TEXT, o BOOLEAN",
        "postgresql": "i BIGINT, f FLOAT8, s TEXT, b BYTEA, d NUMERIC(30, 9), ts TIMESTAMP, da DATE, ti TIME, "
        "u UUID, n TEXT, o BOOLEAN",
    }[target.engine.dialect.name]
    target.run(f"CREATE TABLE t ({types})")
    row = (
        2**62, 0.1, "tab\t quote' back\\slash\nnone: \\N é", bytes(range(256)),
        Decimal("-12345678901234567890.123456789"),
        dt.datetime(2024, 2, 29, 23, 59, 59, 999999), dt.date(1, 1, 1), dt.time(12, 30, 0, 5),
        uuid.UUID(int=7), None, True,
    )  # fmt: skip
    sink = SqlSink(target.url, "t", ["i", "f", "s", "b", "d", "ts", "da", "ti", "u", "n", "o"], way=way)
    commit(sink, write(sink, [row]))
    (found,) = target.rows("SELECT * FROM t")
    if target.engine.dialect.name == "postgresql":
        assert found == row
    else:
        as_text = {Decimal: str, dt.datetime: str, dt.date: str, dt.time: str, uuid.UUID: str}
        assert found == tuple(as_text.get(type(value), lambda value: value)(value) for value in row)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ((1, ["a"]), "requires values that are None, numbers, text, bytes, dates or times; got list: ['a']"),
        ((1, {"a": 1}), "got dict"),
        ((1,), "requires a value for each of ['id', 'name']; got 1 values"),
        ({"id": 1}, "requires dicts with the keys ['id', 'name']; got one without ['name']"),
        (Row(id=1, other=2), "requires rows with the fields ['id', 'name']"),
        (7, "requires Rows, tuples or dicts; got int: 7"),
        ((None, "a"), "requires a value in each key column; got None in 'id'"),
    ],
)
def test_what_is_no_row(target, row, said):
    target.run("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT)")
    sink = SqlSink(target.url, "t", ["id", "name"], key=["id"])
    with pytest.raises(TypeMismatchError) as caught:
        write(sink, [row])
    assert said in str(caught.value)
    assert "SqlSink, table 't'," in str(caught.value)


def test_deletions_need_a_key(target):
    target.run("CREATE TABLE t (id BIGINT PRIMARY KEY)")
    with pytest.raises(TypeMismatchError, match="requires rows that are insertions"):
        write(SqlSink(target.url, "t", ["id"]), [Row.of_kind(RowKind.DELETE, 1)])


@pytest.mark.parametrize(
    ("ddl", "options", "said"),
    [
        ("CREATE TABLE other (id INTEGER)", {}, "table 't', requires a table that exists"),
        ("CREATE TABLE t (id INTEGER)", {}, "got a table without ['name']: it has ['id']"),
        (
            "CREATE TABLE t (id INTEGER, name TEXT)",
            {"key": ["id"]},
            "requires a primary key or a unique constraint on its key ['id']",
        ),
    ],
)
def test_a_target_that_does_not_fit(way_and_target, ddl, options, said):
    way, target = way_and_target
    target.run(ddl)
    with pytest.raises(ConnectorError) as caught:
        run([Row(1, "a")], SqlSink(target.url, "t", way=way, **options))
    assert said in str(caught.value)
    assert "sqlalchemy" not in str(caught.value).lower()


def test_a_constraint_that_is_violated_names_the_table(way_and_target):
    way, target = way_and_target
    target.run("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT NOT NULL)")
    with pytest.raises(
        ConnectorError, match=r"table 't', requires a database that accepts what it writes; got .*name"
    ):
        run([Row(1, "a"), Row(2, None)], SqlSink(target.url, "t", way=way))
    assert target.rows("SELECT * FROM t") == []


def test_rows_of_attempts_that_failed_are_never_seen_and_removed(way_and_target):
    way, target = way_and_target
    target.run("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT)")
    sink = SqlSink(target.url, "t", ["id", "name"], key=["id"], way=way, retry_ms=20_000)
    commit(sink, write(sink, [(0, "first")], epoch=1))
    for lost in ("driver-2", "driver-3"):
        write(sink, [(1, lost)], epoch=2, attempt=lost)
    assert target.rows("SELECT * FROM t") == [(0, "first")]
    good = write(sink, [(1, "good")], epoch=2, attempt="driver-4")
    commit(sink, good)
    assert target.rows("SELECT * FROM t ORDER BY id") == [(0, "first"), (1, "good")]
    assert target.staged() == 0
    if target.server is not None:
        assert target.rows("SELECT gid FROM pg_prepared_xacts WHERE database = current_database()") == []
    assert target.recorded() == [2]


def test_committing_again_changes_nothing(way_and_target):
    way, target = way_and_target
    target.run("CREATE TABLE t (id BIGINT, name TEXT)")
    sink = SqlSink(target.url, "t", ["id", "name"], way=way)
    first = [*write(sink, [(1, "a")]), *write(sink, [(2, "b")], subtask=1)]
    for _ in range(3):
        commit(sink, first)
    second = write(sink, [(3, "c")], epoch=5)
    commit(sink, second)
    commit(sink, first)
    commit(sink, second)
    assert target.rows("SELECT id FROM t ORDER BY id") == [(1,), (2,), (3,)]


def test_jobs_do_not_touch_each_others_rows(way_and_target):
    way, target = way_and_target
    target.run("CREATE TABLE t (id BIGINT, name TEXT)")
    sink = SqlSink(target.url, "t", ["id", "name"], way=way)
    one, two = write(sink, [(1, "a")], job="one"), write(sink, [(2, "b")], job="two")
    commit(sink, one)
    commit(sink, two)
    assert target.rows("SELECT id FROM t ORDER BY id") == [(1,), (2,)]


def test_staged_rows_that_are_gone_are_an_error_not_a_gap(target):
    target.run("CREATE TABLE t (id BIGINT, name TEXT)")
    sink = SqlSink(target.url, "t", ["id", "name"])
    committables = write(sink, [(1, "a"), (2, "b")])
    target.run(f"DELETE FROM {committables[0].table} WHERE id = 1")
    with pytest.raises(ConnectorError, match=r"requires the 2 rows that it staged for epoch 1 .*; got 1"):
        commit(sink, committables)
    assert target.rows("SELECT * FROM t") == []
    assert target.recorded() == [0]


def test_two_committers_at_once_apply_an_epoch_once(target, monkeypatch):
    target.run("CREATE TABLE t (id BIGINT, name TEXT)")
    sink = SqlSink(target.url, "t", ["id", "name"])
    committables = write(sink, [(1, "a")])
    about_to_commit, go_on = threading.Event(), threading.Event()
    record = staged.record_epoch

    def paused(*arguments: Any) -> None:
        record(*arguments)
        about_to_commit.set()
        assert go_on.wait(30)

    monkeypatch.setattr(staged, "record_epoch", paused)
    drivers = [threading.Thread(target=commit, args=(sink, committables)) for _ in range(2)]
    drivers[0].start()
    assert about_to_commit.wait(30)
    drivers[1].start()
    assert target.rows("SELECT * FROM t") == []
    go_on.set()
    for driver in drivers:
        driver.join(30)
    assert target.rows("SELECT * FROM t") == [(1, "a")]


def test_a_target_that_was_altered_gets_another_staging_table(target, monkeypatch):
    from firesteel.connectors.sql import tables

    target.run("CREATE TABLE t (id BIGINT)")
    commit(sink := SqlSink(target.url, "t", ["id"]), write(sink, [(1,)]))
    target.run("ALTER TABLE t ADD COLUMN name TEXT")
    tables._known.clear()
    commit(wide := SqlSink(target.url, "t", ["id", "name"]), write(wide, [(2, "b")], epoch=2))
    assert target.rows("SELECT id, name FROM t ORDER BY id") == [(1, None), (2, "b")]


def test_columns_come_from_the_streams_type():
    with pytest.raises(ConfigurationError, match="requires its columns"):
        SqlSink("sqlite:////x.db", "t").for_type(Types.INT())
    with pytest.raises(ConfigurationError, match="that include the key"):
        SqlSink("sqlite:////x.db", "t", key=["other"]).for_type(TYPE)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:secret@host/db",
        "postgresql://me@host/db?password=secret",
        "mysql+pymysql://me:secret@host/db",
    ],
)
def test_a_password_in_the_url_is_refused_and_not_repeated(url):
    with pytest.raises(ConfigurationError, match="requires a URL without a password in it") as caught:
        SqlSink(url, "t")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "no url", "postgresql://host:port/x"])
def test_urls_that_cannot_be(url):
    with pytest.raises(ConfigurationError):
        SqlSink(url, "t")


def test_a_variable_that_is_not_set():
    with pytest.raises(ConnectorError, match="requires the environment variable FIRESTEEL_NOT_SET"):
        SqlSink("${FIRESTEEL_NOT_SET}", "t", ["id"]).create_writer(context())


@pytest.mark.parametrize("url", ["mysql+nodriver://h/db", "oracle+oracledb://h/db"])
def test_a_driver_that_is_not_installed(url):
    with pytest.raises(ConnectorError, match="pip install"):
        SqlSink(url, "t", ["id"]).create_writer(context())


def test_sqlite_has_no_prepared_transactions(tmp_path: Path):
    with pytest.raises(ConnectorError, match="requires PostgreSQL for way='prepared'"):
        SqlSink(f"sqlite:///{tmp_path}/x.db", "t", ["id"], way="prepared").create_writer(context())


def test_a_locked_sqlite_file_is_waited_for(tmp_path: Path, monkeypatch, replace_sleep):
    import sqlite3

    from firesteel.connectors.sql import database

    monkeypatch.setattr(database, "_SQLITE_WAIT_S", 0)
    path = tmp_path / "x.db"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("CREATE TABLE t (id INTEGER)")
    sink = SqlSink(f"sqlite:///{path}", "t", ["id"])
    committables = write(sink, [(1,)])
    holder.execute("BEGIN IMMEDIATE")
    replace_sleep(lambda seconds: holder.in_transaction and holder.execute("ROLLBACK"))
    commit(sink, committables)
    assert holder.execute("SELECT id FROM t").fetchall() == [(1,)]
    holder.close()


def test_a_commit_whose_answer_is_lost_is_not_repeated(way_and_target, monkeypatch):
    way, target = way_and_target
    target.run("CREATE TABLE t (id BIGINT, name TEXT)")
    sink = SqlSink(target.url, "t", ["id", "name"], way=way)
    committables = write(sink, [(1, "a")])
    run_once, answers = Database._run_once, []

    def lossy(self: Database, transaction: Any, tries: int) -> Any:
        result = run_once(self, transaction, tries)
        answers.append(result)
        if tries == 0:  # every transaction happens, and nobody hears of it
            from sqlalchemy.exc import OperationalError

            raise OperationalError("COMMIT", {}, Exception("gone"), connection_invalidated=True)
        return result

    monkeypatch.setattr(Database, "_run_once", lossy)
    commit(sink, committables)
    assert len(answers) >= 2
    assert target.rows("SELECT * FROM t") == [(1, "a")]


def test_a_batch_whose_answer_is_lost_is_not_repeated(target, monkeypatch):
    target.run("CREATE TABLE t (id BIGINT, name TEXT)")
    sink = SqlSink(target.url, "t", ["id", "name"], batch_rows=2)
    load, loads = staged.load, []

    def lossy(connection: Any, table: Any, rows: Any) -> None:
        load(connection, table, rows)
        loads.append(len(rows))
        if len(loads) == 2:
            from sqlalchemy.exc import OperationalError

            connection.commit()
            raise OperationalError("COMMIT", {}, Exception("gone"), connection_invalidated=True)

    monkeypatch.setattr(staged, "load", lossy)
    commit(sink, write(sink, [(number, "a") for number in range(5)]))
    assert loads == [2, 2, 2, 1]
    assert target.rows("SELECT id FROM t ORDER BY id") == [(number,) for number in range(5)]


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("way", ["staged", "prepared"])
def test_no_secret_is_written_anywhere(postgres_target, tmp_path, way):
    postgres_target.run("CREATE TABLE t (id BIGINT, name TEXT)")
    state = tmp_path / "state"
    rows = [Row(number, "x") for number in range(10)]
    sink = SqlSink(postgres_target.url, "t", way=way)
    run(rows, sink, state_dir=str(state), epoch_records=3)
    close_working_stores(tmp_path)
    files = [path for path in state.rglob("*") if path.is_file()]
    assert any("manifests" in path.parts for path in files)
    secret = postgres_target.server.password.encode()
    assert not [path for path in files if secret in path.read_bytes()]
    assert len(postgres_target.rows("SELECT * FROM t")) == 10
    assert secret not in pickle.dumps(sink)


@pytest.mark.xdist_group("postgres")
def test_a_wrong_password_is_said_at_once(postgres_target, monkeypatch):
    postgres_target.run("CREATE TABLE t (id BIGINT, name TEXT)")
    monkeypatch.setenv("FIRESTEEL_TEST_PGPASSWORD", "a wrong secret")
    with pytest.raises(ConnectorError, match="password authentication failed") as caught:
        run([Row(1, "a")], SqlSink(postgres_target.url, "t"))
    assert "a wrong secret" not in str(caught.value) + str(caught.value.details)
    assert "tried" not in str(caught.value)


def test_mysql_updates_by_key_in_its_own_words():
    from sqlalchemy.dialects import mysql

    from firesteel.connectors.sql.statements import moving
    from firesteel.connectors.sql.tables import staging_table

    sink = SqlSink("mysql+pymysql://h/db", "t", ["id", "name"], key=["id"])
    staging = staging_table("firesteel_staged_t", sink._settings)
    delete, put = moving(sink._settings, staging, "mysql", "scope", 1, {"a"}, deletes=True)
    assert str(delete.compile(dialect=mysql.dialect())).startswith("DELETE FROM t WHERE t.id IN (SELECT")
    assert str(put.compile(dialect=mysql.dialect())).endswith("ON DUPLICATE KEY UPDATE name = VALUES(name)")

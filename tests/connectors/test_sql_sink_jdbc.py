"""PyFlink's JdbcSink on real databases."""

from __future__ import annotations

import pytest

from firesteel.common import Row, Types
from firesteel.common.errors import ConfigurationError, FiresteelError, ProgramError, UnsupportedError
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from firesteel.testing import executing

TYPE = Types.ROW([Types.LONG(), Types.STRING()])


def options(url: str, user: str | None = None, password: str | None = None) -> JdbcConnectionOptions:
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url).with_driver_name("a.Driver")
    if user:
        builder = builder.with_user_name(user)
    return (builder.with_password(password) if password else builder).build()


def connection(target) -> JdbcConnectionOptions:
    if target.server is None:
        return options(f"jdbc:sqlite:{target.engine.url.database}")
    url = target.engine.url
    return options(
        f"jdbc:postgresql://{url.host}:{url.port}/{url.database}",
        url.username,
        f"${{{target.server.PASSWORD_VARIABLE}}}",
    )


def run(sink: JdbcSink, rows: list[Row]) -> None:
    with executing(epoch_records=2, parallelism=1):
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection(rows, TYPE).add_sink(sink)
        env.execute()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("INSERT INTO t (id, name) VALUES (?, ?)", [(1, "a"), (1, "c"), (2, "b")]),
        ('insert into "t" ("id","name") values (?,?);', [(1, "a"), (1, "c"), (2, "b")]),
        (
            "INSERT INTO k (id, name) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name",
            [(1, "c"), (2, "b")],
        ),
    ],
)
def test_fields_go_to_parameters_by_position(target, sql, expected):
    target.run("CREATE TABLE t (id BIGINT, name TEXT)", "CREATE TABLE k (id BIGINT PRIMARY KEY, name TEXT)")
    execution = JdbcExecutionOptions.builder().with_batch_size(1).with_max_retries(0).build()
    run(JdbcSink.sink(sql, TYPE, connection(target), execution), [Row(1, "a"), Row(2, "b"), Row(1, "c")])
    table = "k" if "INTO k" in sql else "t"
    assert target.rows(f"SELECT id, name FROM {table} ORDER BY id, name") == expected


@pytest.mark.xdist_group("postgres")
def test_names_without_quotation_marks_are_folded_as_the_server_folds_them(postgres_target):
    postgres_target.run("CREATE SCHEMA s", "CREATE TABLE s.Events (Id BIGINT, Name TEXT)")
    sql = "INSERT INTO S.Events (Id, NAME) VALUES (?, ?)"
    run(JdbcSink.sink(sql, TYPE, connection(postgres_target)), [Row(1, "a")])
    assert postgres_target.rows("SELECT * FROM s.events") == [(1, "a")]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE t SET name = ? WHERE id = ?",
        "INSERT INTO t VALUES (?, ?)",
        "INSERT INTO t (id, name) VALUES (?, 'fixed')",
        "INSERT INTO t (id, name) VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
        "INSERT INTO t (id, name) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET name = 'x'",
        "INSERT INTO t (id, name, a) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name",
        "INSERT INTO t (id, name) VALUES (?, ?) ON DUPLICATE KEY UPDATE name = VALUES(name)",
    ],
)
def test_other_statements_are_refused(sql):
    type_info = Types.ROW([Types.LONG()] * sql.count("?"))
    with pytest.raises(UnsupportedError, match=r"JdbcSink.sink requires INSERT INTO table \(columns\)"):
        JdbcSink.sink(sql, type_info, options("jdbc:sqlite:/tmp/x.db"))


def test_numbers_of_columns_parameters_and_fields():
    with pytest.raises(ProgramError, match="got 1 columns, 2 parameters and 2 fields"):
        JdbcSink.sink("INSERT INTO t (id) VALUES (?, ?)", TYPE, options("jdbc:sqlite:/tmp/x.db"))


@pytest.mark.parametrize(
    ("url", "password"),
    [
        ("jdbc:oracle:thin:@host:1521/db", None),
        ("postgresql://host/db", None),
        ("jdbc:postgresql://host/db", "secret"),
        ("jdbc:postgresql://host/db?user=me&password=secret", None),
    ],
)
def test_addresses_that_are_refused(url, password):
    with pytest.raises(ConfigurationError) as caught:
        JdbcSink.sink("INSERT INTO t (id, name) VALUES (?, ?)", TYPE, options(url, "me", password))
    assert "secret" not in str(caught.value)


def test_what_was_set_can_be_read():
    found = options("jdbc:mysql://h/db", "me", "${PW}")
    assert (found.get_db_url(), found.get_driver_name()) == ("jdbc:mysql://h/db", "a.Driver")
    assert (found.get_user_name(), found.get_password()) == ("me", "${PW}")
    execution = JdbcExecutionOptions.builder().with_batch_interval_ms(7).build()
    assert execution.get_batch_interval_ms() == 7
    assert (execution.get_batch_size(), execution.get_max_retries()) == (5000, 3)
    with pytest.raises(FiresteelError):
        JdbcExecutionOptions.builder().with_batch_size(0).build()
    with pytest.raises(UnsupportedError):
        JdbcSink.sink(
            "INSERT INTO t (a, b) VALUES (?, ?)", TYPE, options("jdbc:sqlite:/x")
        ).get_java_function()

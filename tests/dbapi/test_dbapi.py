"""The DB-API driver and the dialect of SQLAlchemy, at a gateway in this process."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import registry

from firesteel import dbapi
from firesteel.dbapi.dialect import FiresteelDialect
from firesteel.rest.calls import Right
from firesteel.rest.security import Security
from tests.rest.gateway.gateway_here import GatewayHere

registry.register(
    "firesteel", "firesteel.dbapi.dialect", "FiresteelDialect"
)  # as an installed package has it

ORDERS = """CREATE TABLE orders (
    id INT NOT NULL, name STRING, price DECIMAL(10, 2), `at` TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{}')"""
VIEW = "CREATE VIEW dear AS SELECT * FROM orders WHERE price > 2"


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("orders")
    rows = (
        "1,tea,1.50,2020-01-02 03:04:05.678",
        "2,cake,3.25,2020-01-02 00:00:00",
        "3,milk,4.00,2020-01-02 00:00:00",
    )
    (folder / "all.csv").write_text("\n".join(rows))
    return ORDERS.format(folder)


@pytest.fixture
def connection(url: str, orders: str) -> Iterator[dbapi.Connection]:
    with dbapi.connect(url, init=[orders, VIEW]) as connection:
        yield connection


@pytest.fixture(scope="module")
def engine(url: str, orders: str) -> Iterator[sa.Engine]:
    made = sa.create_engine(
        url.replace("http", "firesteel"), connect_args={"init": [orders, VIEW]}, poolclass=sa.StaticPool
    )
    yield made
    made.dispose()


def test_rows_are_values_of_python(connection: dbapi.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute(
        "SELECT 1, 'x', CAST(NULL AS BIGINT), ARRAY[1, 2], MAP['a', 1], TRUE, X'0a', 1.50, 2.5E0, DATE '2020-01-02',"
        " TIMESTAMP '2020-01-02 03:04:05.678', TO_TIMESTAMP_LTZ(1000, 3), TIME '01:02:03', INTERVAL '2' DAY"
    )
    assert cursor.fetchall() == [
        (
            *(1, "x", None, [1, 2], {"a": 1}, True, b"\n", Decimal("1.50"), 2.5, dt.date(2020, 1, 2)),
            dt.datetime(2020, 1, 2, 3, 4, 5, 678000),
            dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC),
            dt.time(1, 2, 3),
            dt.timedelta(days=2),
        )
    ]


def test_a_cursor_describes_and_fetches(connection: dbapi.Connection) -> None:
    with connection.cursor() as cursor:
        assert cursor.execute("SELECT id, name, price FROM orders ORDER BY id") is cursor
        assert cursor.description == [
            ("id", "INTEGER", None, None, None, None, False),
            ("name", "VARCHAR", None, 2147483647, None, None, True),
            ("price", "DECIMAL", None, None, 10, 2, True),
        ]
        assert [code == dbapi.NUMBER for _, code, *_ in cursor.description] == [True, False, True]
        assert cursor.fetchone() == (1, "tea", Decimal("1.50"))
        assert cursor.fetchmany(1) == [(2, "cake", Decimal("3.25"))]
        assert list(cursor) == [(3, "milk", Decimal("4.00"))]
        assert cursor.fetchone() is None
        cursor.execute("SHOW TABLES")
        assert cursor.fetchall() == [("dear",), ("orders",)]
    with pytest.raises(dbapi.InterfaceError, match="closed"):
        cursor.fetchall()


@pytest.mark.parametrize(
    "value",
    [
        7,
        -1,
        "O'Hara?",
        True,
        Decimal("1.50"),
        0.1,
        b"\x00a",
        dt.date(2020, 1, 2),
        dt.datetime(2020, 1, 2, 3),
    ],
)
def test_parameters_come_back(connection: dbapi.Connection, value: Any) -> None:
    cursor = connection.cursor().execute("SELECT ?, '?' -- ?", [value])
    assert cursor.fetchall() == [(value, "?")]


def test_null_has_no_type_of_its_own(connection: dbapi.Connection) -> None:
    with pytest.raises(dbapi.ProgrammingError, match="requires a value with a type; got NULL"):
        connection.cursor().execute("SELECT ?", [None])
    assert connection.cursor().execute("SELECT CAST(? AS INT)", [None]).fetchall() == [(None,)]


def test_wrong_parameters_are_refused(connection: dbapi.Connection) -> None:
    with pytest.raises(dbapi.ProgrammingError, match="requires 1 parameters; got 2"):
        connection.cursor().execute("SELECT ?", [1, 2])
    with pytest.raises(dbapi.InterfaceError, match="requires a value of SQL; got object"):
        connection.cursor().execute("SELECT ?", [object()])


def test_errors_are_those_of_pep_249(connection: dbapi.Connection, url: str) -> None:
    with pytest.raises(connection.ProgrammingError, match="requires the name of a column; got nope"):
        connection.cursor().execute("SELECT nope FROM orders")
    with pytest.raises(connection.InterfaceError, match="a query must be executed first"):
        connection.cursor().fetchall()
    with pytest.raises(dbapi.NotSupportedError):
        connection.rollback()
    connection.commit()
    with pytest.raises(dbapi.OperationalError, match="cannot be asked"):
        dbapi.connect("http://127.0.0.1:9")
    with pytest.raises(dbapi.InterfaceError, match="requires a URL"):
        dbapi.connect("localhost:8081")
    closed = dbapi.connect(url)
    closed.close()
    with pytest.raises(dbapi.InterfaceError, match="the connection is closed"):
        closed.cursor()


def test_changes_are_not_taken_for_rows(url: str) -> None:
    options = {"execution.runtime-mode": "streaming", "firesteel.epoch.max-records": "1"}
    query = "SELECT k, COUNT(*) FROM (VALUES 'a', 'b', 'a') AS t (k) GROUP BY k"
    with dbapi.connect(url, options) as connection:
        cursor = connection.cursor().execute(query)
        left: set[tuple[Any, ...]] = set()
        for kind, row in cursor.changes():
            (left.add if kind in ("+I", "+U") else left.remove)(row)
        assert left == {("a", 2), ("b", 1)}
        cursor.execute("SELECT k FROM (VALUES 'a', 'b') AS t (k)")
        assert sorted(cursor.fetchall()) == [("a",), ("b",)]


def test_an_insert_has_a_job_and_no_rows(listening: tuple[GatewayHere, str], orders: str) -> None:
    made, url = listening
    with dbapi.connect(url, {"table.dml-sync": "false"}, init=[orders]) as connection:
        cursor = connection.cursor().execute("INSERT INTO orders (id, name) VALUES (?, ?)", [4, "milk"])
        assert (cursor.description, cursor.rowcount) == (None, -1)
        assert cursor.job_id in [record.id for record in made.dispatcher.jobs()]


def test_pandas_reads_queries_and_tables(engine: sa.Engine) -> None:
    frame = pd.read_sql("SELECT id, name, price FROM orders WHERE id < 3 ORDER BY id", engine)
    assert frame.to_dict("list") == {"id": [1, 2], "name": ["tea", "cake"], "price": [1.5, 3.25]}
    whole = pd.read_sql_table("orders", engine, parse_dates=["at"]).sort_values("id")
    assert list(whole.columns) == ["id", "name", "price", "at"]
    assert whole["at"].iloc[0] == pd.Timestamp("2020-01-02 03:04:05.678")


def test_sqlalchemy_looks_at_tables(engine: sa.Engine) -> None:
    inspector = sa.inspect(engine)
    assert inspector.get_schema_names() == ["default_database"]
    assert inspector.default_schema_name == "default_database"
    assert (inspector.get_table_names(), inspector.get_view_names()) == (["orders"], ["dear"])
    assert inspector.get_pk_constraint("orders")["constrained_columns"] == ["id"]
    types = {column["name"]: str(column["type"]) for column in inspector.get_columns("orders")}
    assert types == {"id": "INTEGER", "name": "VARCHAR", "price": "NUMERIC(10, 2)", "at": "DATETIME"}
    assert inspector.has_table("dear", "default_database")
    with pytest.raises(sa.exc.NoSuchTableError):
        inspector.get_columns("nothing")


def test_sqlalchemy_writes_flinks_sql(engine: sa.Engine) -> None:
    orders = sa.Table("orders", sa.MetaData(), autoload_with=engine)
    query = (
        sa.select(orders.c.name, sa.func.sum(orders.c.price).label("value"))
        .where(orders.c.id.in_([1, 2, 3]), orders.c.name.is_not(None))
        .group_by(orders.c.name)
        .order_by(orders.c.name)
        .limit(1)
    )
    with engine.connect() as connection:
        assert connection.execute(query).all() == [("cake", Decimal("3.25"))]
    made = sa.Table("value", sa.MetaData(), sa.Column("day", sa.String), sa.Column("n", sa.BigInteger))
    text = str(sa.schema.CreateTable(made).compile(dialect=FiresteelDialect()))
    assert " ".join(text.split()) == "CREATE TABLE `value` ( `day` STRING, n BIGINT )"


def test_an_installed_package_has_the_dialect() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["sqlalchemy.dialects"]["firesteel"].partition(":")
    assert getattr(import_module(module), name) is FiresteelDialect


def test_the_url_says_where_and_how() -> None:
    url = sa.make_url("firesteel://:secret@host:1234/c.d?tls=true&parallelism.default=2")
    arguments = FiresteelDialect().create_connect_args(url)
    assert arguments == (
        ["https://host:1234"],
        {"options": {"parallelism.default": "2"}, "token": "secret"},
    )


def test_the_database_of_the_url_is_in_use(url: str) -> None:
    engine = sa.create_engine(f"{url.replace('http', 'firesteel')}/default_catalog.default_database")
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT 1")).scalar() == 1
    engine.dispose()
    wrong = sa.create_engine(f"{url.replace('http', 'firesteel')}/nowhere")
    with pytest.raises(sa.exc.ProgrammingError, match="nowhere"):
        wrong.connect()


def test_tokens_are_sent(tmp_path: Path) -> None:
    token = "s" * 16
    with GatewayHere(tmp_path, security=Security({token: Right.SUBMITTER})).listening() as url:
        with pytest.raises(dbapi.ProgrammingError, match="requires a valid token"):
            dbapi.connect(url)
        with dbapi.connect(url, token=token) as connection:
            assert connection.cursor().execute("SELECT 1").fetchall() == [(1,)]

"""JdbcCatalog: the databases of a real PostgreSQL as a catalog."""

from __future__ import annotations

import pytest

from firesteel.common.errors import ConfigurationError, ProgramError, UnsupportedError
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.table.catalog import JdbcCatalog, ObjectPath
from harness.postgres import USER, PostgresServer
from tests.connectors.conftest import Target

TYPES = {
    "BOOLEAN": "BOOLEAN",
    "BYTEA": "BYTES",
    "SMALLINT": "SMALLINT",
    "INTEGER": "INT",
    "BIGINT": "BIGINT",
    "REAL": "FLOAT",
    "DOUBLE PRECISION": "DOUBLE",
    "NUMERIC(10, 2)": "DECIMAL(10, 2)",
    "NUMERIC": "DECIMAL(38, 18)",
    "CHAR(3)": "CHAR(3)",
    "VARCHAR(20)": "VARCHAR(20)",
    "TEXT": "STRING",
    "TIMESTAMP(5)": "TIMESTAMP(5)",
    "TIMESTAMPTZ(4)": "TIMESTAMP_LTZ(4)",
    "TIME(3)": "TIME(3)",
    "DATE": "DATE",
    "INTEGER[]": "ARRAY<INT>",
    "TEXT[]": "ARRAY<STRING>",
}
"""PostgreSQL's types and Flink's, from the table in the documentation of Flink's JDBC connector."""


@pytest.fixture
def shop(postgres: PostgresServer, postgres_target: Target) -> tuple[TableEnvironment, str]:
    """A session in whose catalog `pg` there are two tables, and the name of their database."""
    columns = ", ".join(f"c{place} {kind}" for place, kind in enumerate(TYPES))
    postgres_target.run(f"CREATE TABLE kinds ({columns})")
    postgres_target.run("CREATE SCHEMA inner_part")
    postgres_target.run(
        "CREATE TABLE inner_part.orders (item TEXT, id INT, price NUMERIC(6, 2), CONSTRAINT by_id PRIMARY KEY (id))"
    )
    postgres_target.run("CREATE VIEW seen AS SELECT 1 AS a")
    postgres_target.run("INSERT INTO inner_part.orders VALUES ('tea', 1, 2.50), ('milk', 2, 1.20)")
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    (name,) = postgres_target.rows("SELECT current_database()")[0]
    environment.execute_sql(
        f"CREATE CATALOG pg WITH ('type' = 'jdbc', 'default-database' = '{name}', 'username' = '{USER}', "
        f"'password' = '${{{PostgresServer.PASSWORD_VARIABLE}}}', "
        f"'base-url' = 'jdbc:postgresql://127.0.0.1:{postgres.port}')"
    )
    return environment, name


def test_the_tables_of_all_schemas_are_listed(shop: tuple[TableEnvironment, str]) -> None:
    environment, name = shop
    environment.use_catalog("pg")
    assert (environment.get_current_database(), environment.list_tables()) == (
        name,
        ["inner_part.orders", "public.kinds"],
    )
    assert {name, "postgres"} <= {*environment.list_databases()}
    assert environment.list_views() == []


def test_columns_have_flinks_types(shop: tuple[TableEnvironment, str]) -> None:
    environment, name = shop
    schema = environment.from_path(f"pg.{name}.kinds").get_resolved_schema()
    assert [str(column.type) for column in schema.get_columns()] == [*TYPES.values()]


def test_rows_are_read_and_written_by_the_primary_key(shop: tuple[TableEnvironment, str]) -> None:
    environment, _ = shop
    environment.use_catalog("pg")
    (shown,) = environment.execute_sql("SHOW CREATE TABLE `inner_part.orders`").collect()
    assert "CONSTRAINT `by_id` PRIMARY KEY (`id`) NOT ENFORCED" in shown[0]
    environment.execute_sql(
        "INSERT INTO `inner_part.orders` VALUES ('oat', 2, 2.00), ('jam', 3, 4.00)"
    ).wait()
    found = environment.execute_sql("SELECT id, item FROM `inner_part.orders`").collect()
    assert sorted(tuple(row) for row in found) == [(1, "tea"), (2, "oat"), (3, "jam")]


def test_what_is_not_there_or_cannot_be_is_refused(
    shop: tuple[TableEnvironment, str], postgres_target: Target
) -> None:
    environment, name = shop
    catalog = environment.get_catalog("pg")
    assert isinstance(catalog, JdbcCatalog)
    assert not catalog.table_exists(ObjectPath(name, "public.nothing"))
    with pytest.raises(ProgramError, match="requires a table that exists"):
        catalog.get_table(ObjectPath(name, "nothing"))
    with pytest.raises(ProgramError, match="requires a database that exists"):
        environment.execute_sql("USE pg.nothing")
    with pytest.raises(UnsupportedError, match="cannot create tables"):
        environment.execute_sql(f"CREATE TABLE pg.{name}.t (a INT) WITH ('connector' = 'print')")
    postgres_target.run("CREATE TABLE places (at POINT)")
    with pytest.raises(UnsupportedError, match="column 'at' cannot have the type 'point'"):
        environment.execute_sql(f"SELECT * FROM pg.{name}.places")


def test_a_password_is_a_reference_and_a_server_is_postgresql() -> None:
    with pytest.raises(ConfigurationError, match="URL without a password"):
        JdbcCatalog("c", "d", "u", "secret", "jdbc:postgresql://host:5432")
    with pytest.raises(ConfigurationError, match="begins with 'jdbc:postgresql://'"):
        JdbcCatalog("c", "d", "u", "${PW}", "jdbc:mysql://host:3306")

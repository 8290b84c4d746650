"""Databases for the tests of sinks: a SQLite file, and servers that all tests of a process share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from firesteel.connectors.schema_registry.client import registered_id, registered_schema
from firesteel.connectors.sql.address import resolved
from harness.mariadb import MariaDbServer, mariadb_server
from harness.postgres import PostgresServer, postgres_server


@pytest.fixture(autouse=True)
def nothing_known_of_registries() -> Iterator[None]:
    """What is kept of a registry is forgotten: a later one may be at the same port, with other schemas."""
    yield
    registered_schema.cache_clear()
    registered_id.cache_clear()


class Target:
    """A database of a test's own."""

    def __init__(self, url: str, server: PostgresServer | None = None) -> None:
        self.url = url
        self.server = server
        self.engine = sa.create_engine(resolved(url), poolclass=NullPool)

    def run(self, *statements: str) -> None:
        with self.engine.begin() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(query)]

    def hang_up(self) -> None:
        """Break all connections, as the end of a process does."""
        if self.server is not None:
            self.rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    def staged(self) -> int:
        """How many rows are in staging tables."""
        names = [n for n in sa.inspect(self.engine).get_table_names() if n.startswith("firesteel_staged")]
        return sum(self.rows(f"SELECT count(*) FROM {name}")[0][0] for name in names)

    def recorded(self) -> list[int]:
        """The epochs that are recorded, one for each sink."""
        return [epoch for (epoch,) in self.rows("SELECT epoch FROM firesteel_progress ORDER BY epoch")]


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    # Processes die in these tests, not machines: what the server has handed to the system survives them.
    with postgres_server({"fsync": "off"}) as server:
        yield server


@pytest.fixture
def postgres_target(postgres: PostgresServer) -> Iterator[Target]:
    name = postgres.new_database()
    yield Target(postgres.url(name), postgres)
    postgres.drop_database(name)


class MariaDbTarget(Target):
    """A database of MariaDB."""

    def hang_up(self) -> None:
        others = (
            "SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()"
        )
        for (number,) in self.rows(others):
            self.run(f"KILL {number}")


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDbServer]:
    with mariadb_server() as server:
        yield server


@pytest.fixture
def mariadb_target(mariadb: MariaDbServer) -> Iterator[Target]:
    name = mariadb.new_database()
    yield MariaDbTarget(mariadb.url(name))
    mariadb.drop_database(name)


_ON_POSTGRES = pytest.mark.xdist_group("postgres")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=_ON_POSTGRES)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Target:
    """The test runs with both databases."""
    return _target(request, tmp_path, request.param)


@pytest.fixture(
    params=[
        ("sqlite", "staged"),
        pytest.param(("postgresql", "staged"), marks=_ON_POSTGRES),
        pytest.param(("postgresql", "prepared"), marks=_ON_POSTGRES),
    ],
    ids="-".join,
)
def way_and_target(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Target]:
    """The test runs with each way to exactly once, and each database it works with."""
    database, way = request.param
    return way, _target(request, tmp_path, database)


def _target(request: pytest.FixtureRequest, directory: Path, database: str) -> Target:
    if database == "sqlite":
        return Target(f"sqlite:///{directory}/target.db")
    found: Target = request.getfixturevalue("postgres_target")
    return found


@pytest.fixture
def numbered(target: Target) -> Target:
    """A hundred rows are in a table of both databases."""
    target.run("CREATE TABLE t (k INTEGER, s TEXT)")
    target.run("INSERT INTO t VALUES " + ", ".join(f"({key}, 'v{key}')" for key in range(100)))
    return target

"""A private PostgreSQL server for tests, on 127.0.0.1, with its data in a temporary directory."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.server import ServerProcess, account_of, free_port, running

USER = "firesteel"


def binaries() -> Path | None:
    """Return the directory of the newest server's programs, None if there is none."""
    found = [Path(program).resolve().parent for program in [shutil.which("postgres")] if program]
    for place in ("/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"):
        versions = Path(place).glob("*/bin/postgres")
        found.extend(sorted((path.parent for path in versions), key=_version, reverse=True))
    return next((directory for directory in found if (directory / "pg_isready").exists()), None)


def _version(directory: Path) -> tuple[int, ...]:
    digits = directory.parent.name.rpartition("@")[2].split(".")
    return tuple(int(part) for part in digits if part.isdigit())


class PostgresServer:
    """A private server; `url()` holds its password as `${NAME}`, which `environment` resolves.

    The password is the one that this process's environment has under that name, if there is one.
    """

    PASSWORD_VARIABLE = "FIRESTEEL_TEST_PGPASSWORD"

    def __init__(self, settings: dict[str, str] | None = None) -> None:
        programs = binaries()
        if programs is None:
            raise FileNotFoundError("no PostgreSQL server here; ./run test installs one")
        self._programs = programs
        settings = {"max_prepared_transactions": "100", **(settings or {})}
        self._account = account_of("postgres")
        self.password = os.environ.get(self.PASSWORD_VARIABLE) or secrets.token_urlsafe(24)
        self.port = free_port()
        self.directory = Path(tempfile.mkdtemp(prefix="firesteel-postgres-"))
        command = [
            programs / "postgres",
            f"-D{self.directory / 'data'}",
            f"-p{self.port}",
            f"-k{self.directory}",
            "-clisten_addresses=127.0.0.1",
            *(f"-c{name}={value}" for name, value in settings.items()),
        ]
        self._server = ServerProcess(command, self.directory, self._account)
        self._databases = 0
        self._initialise()

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables for a process that uses `url()`."""
        return {self.PASSWORD_VARIABLE: self.password}

    def url(self, database: str = "postgres") -> str:
        """Return the SQLAlchemy URL of a database, without the password."""
        return f"postgresql+psycopg://{USER}:${{{self.PASSWORD_VARIABLE}}}@127.0.0.1:{self.port}/{database}"

    def dsn(self, database: str = "postgres") -> str:
        """Return the connection string for psycopg."""
        return f"host=127.0.0.1 port={self.port} user={USER} password={self.password} dbname={database}"

    def new_database(self) -> str:
        """Create an empty database and return its name."""
        import psycopg

        self._databases += 1
        name = f"test_{self._databases}"
        with psycopg.connect(self.dsn(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return name

    def drop_database(self, name: str) -> None:
        """Remove a database with all of its prepared transactions."""
        import psycopg

        with psycopg.connect(self.dsn(name), autocommit=True) as connection:
            query = "SELECT gid FROM pg_prepared_xacts WHERE database = current_database()"
            for (transaction,) in connection.execute(query).fetchall():
                connection.execute(f"ROLLBACK PREPARED '{transaction}'")
        with psycopg.connect(self.dsn(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        ready = [self._programs / "pg_isready", "-q", "-h127.0.0.1", f"-p{self.port}"]
        self._server.start(lambda: subprocess.run(ready, check=False).returncode == 0)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server if it runs: SIGINT closes all connections cleanly."""
        self._server.stop(how)

    def kill(self) -> None:
        """Kill the server at once, as in a power failure; `start` then recovers."""
        self.stop(signal.SIGQUIT)

    def restart(self) -> None:
        """Restart the server; all connections break."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop the server and remove its data."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _initialise(self) -> None:
        if self._account is not None:
            shutil.chown(self.directory, self._account)
        secret = self.directory / "password"
        secret.touch(mode=0o600)
        secret.write_text(self.password)
        if self._account is not None:
            shutil.chown(secret, self._account)
        made = subprocess.run(
            [
                self._programs / "initdb",
                f"-D{self.directory / 'data'}",
                f"-U{USER}",
                "--auth=scram-sha-256",
                f"--pwfile={secret}",
                "--encoding=UTF8",
                "--locale=C",
            ],
            capture_output=True,
            text=True,
            cwd=self.directory,
            check=False,
            user=self._account,
        )
        secret.unlink()
        if made.returncode != 0:
            raise RuntimeError(f"initdb failed:\n{made.stdout}{made.stderr}")


@contextmanager
def postgres_server(settings: dict[str, str] | None = None) -> Iterator[PostgresServer]:
    """Yield a running server, with its password in this process's environment; remove it at the end.

    If another server runs in this process, it has its password there again afterwards.
    """
    with running(PostgresServer(settings)) as server:
        yield server

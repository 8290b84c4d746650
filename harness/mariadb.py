"""A private MariaDB server for tests, on 127.0.0.1, with its data in a temporary directory."""

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

import pymysql

from harness.server import ServerProcess, account_of, free_port, running

USER = "firesteel"
_PLACES = ("/usr/sbin", "/usr/bin", "/opt/homebrew/bin", "/usr/local/bin")


def program(name: str) -> str | None:
    """Return the path of one of the server's programs, None if it is not here."""
    return shutil.which(name) or next(
        (path for place in _PLACES if (path := shutil.which(name, path=place))), None
    )


class MariaDbServer:
    """A private server; `url()` holds its password as `${NAME}`, which `environment` resolves.

    The password is the one that this process's environment has under that name, if there is one.
    """

    PASSWORD_VARIABLE = "FIRESTEEL_TEST_MYSQL_PASSWORD"

    def __init__(self) -> None:
        programs = [program(name) for name in ("mariadbd", "mariadb-install-db")]
        if None in programs:
            raise FileNotFoundError("no MariaDB server here; ./run check installs one")
        daemon, install = map(str, programs)
        self._account = account_of("mysql")
        self.password = os.environ.get(self.PASSWORD_VARIABLE) or secrets.token_urlsafe(24)
        self.port = free_port()
        self.directory = Path(tempfile.mkdtemp(prefix="firesteel-mariadb-"))
        self._databases = 0
        self._initialise(install)
        command = [
            daemon,
            "--no-defaults",
            f"--datadir={self.directory / 'data'}",
            "--bind-address=127.0.0.1",
            f"--port={self.port}",
            f"--socket={self.directory / 'socket'}",
            f"--pid-file={self.directory / 'pid'}",
            f"--init-file={self.directory / 'init'}",
            # Processes die in tests, not machines: what the server has handed to the system survives them.
            "--innodb-flush-log-at-trx-commit=2",
            "--innodb-buffer-pool-size=32M",
            "--default-time-zone=+02:00",
        ]
        self._server = ServerProcess(command, self.directory, self._account)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables for a process that uses `url()`."""
        return {self.PASSWORD_VARIABLE: self.password}

    def url(self, database: str = "mysql") -> str:
        """Return the SQLAlchemy URL of a database, without the password."""
        return f"mariadb://{USER}:${{{self.PASSWORD_VARIABLE}}}@127.0.0.1:{self.port}/{database}"

    def run(self, statement: str) -> list[tuple[object, ...]]:
        """Execute a statement and return its rows."""
        with self._connect() as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def new_database(self) -> str:
        """Create an empty database and return its name."""
        self._databases += 1
        name = f"test_{self._databases}"
        self.run(f"CREATE DATABASE {name}")
        return name

    def drop_database(self, name: str) -> None:
        """Remove a database."""
        self.run(f"DROP DATABASE {name}")

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        self._server.start(self._answers)

    def stop(self) -> None:
        """Stop the server if it runs, after all connections have been closed cleanly."""
        self._server.stop(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the server at once; `start` then recovers."""
        self._server.stop(signal.SIGKILL)

    def restart(self) -> None:
        """Restart the server; all connections break."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop the server and remove its data."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _connect(self) -> pymysql.Connection[pymysql.cursors.Cursor]:
        return pymysql.connect(
            host="127.0.0.1", port=self.port, user=USER, password=self.password, autocommit=True
        )

    def _answers(self) -> bool:
        try:
            self._connect().close()
        except pymysql.OperationalError:
            return False
        return True

    def _initialise(self, install: str) -> None:
        first = self.directory / "init"
        first.touch(mode=0o600)
        first.write_text(
            f"CREATE USER IF NOT EXISTS '{USER}'@'127.0.0.1' IDENTIFIED BY '{self.password}';\n"
            f"GRANT ALL ON *.* TO '{USER}'@'127.0.0.1';\n"
        )
        if self._account is not None:
            for path in (self.directory, first):
                shutil.chown(path, self._account)
        made = subprocess.run(
            [
                install,
                "--no-defaults",
                f"--datadir={self.directory / 'data'}",
                "--auth-root-authentication-method=socket",
                "--skip-test-db",
            ],
            capture_output=True,
            text=True,
            cwd=self.directory,
            check=False,
            user=self._account,
        )
        if made.returncode != 0:
            raise RuntimeError(f"mariadb-install-db failed:\n{made.stdout}{made.stderr}")


@contextmanager
def mariadb_server() -> Iterator[MariaDbServer]:
    """Yield a running server, with its password in this process's environment; remove it at the end."""
    with running(MariaDbServer()) as server:
        yield server

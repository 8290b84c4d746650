"""A connection that survives restarts of the database, and errors that say what went wrong."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, InterfaceError, NoSuchModuleError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from firesteel.common.errors import ConnectorError, EngineError
from firesteel.connectors.sql.address import missing_driver, resolved
from firesteel.connectors.sql.settings import SqlSettings

T = TypeVar("T")

_FIRST_DELAY_S: Final = 0.05
_LONGEST_DELAY_S: Final = 2.0
_SQLITE_WAIT_S: Final = 30

_PASSING: Final = frozenset({"08", "40", "53", "55", "57", "58"})
"""Classes of SQLSTATE that may pass before the next try: connection, rollback, resources, locks, operator, system."""

_PASSING_NUMBERS: Final = frozenset(
    {
        *(1040, 1042, 1043, 1053, 1080, 1152, *range(1154, 1162), 1184, 1203, 1205, 1213, 1226, 1317, 1927),
        *(2002, 2003, 2006, 2013, 2055, 4031),
    }
)
"""The same for drivers of MySQL and MariaDB that give no SQLSTATE, by the numbers of their errors."""

_LASTING: Final = (
    "authentication failed",
    "access denied",
    "no password supplied",
    "does not exist",
    "unknown database",
    "no pg_hba.conf entry",
    "is not permitted to log in",
)
"""Messages of servers, given before there is a SQLSTATE, after which another try is of no use."""


class Database:
    """One connection, opened when it is needed and reopened when it was lost; not thread-safe.

    `run` executes whole transactions. It retries them as the settings say after failures that may pass (a lost
    connection, a restarting server, a deadlock, a locked SQLite file), with growing pauses. A connection can be lost
    during COMMIT, so a transaction passed to `run` must check itself whether an earlier try succeeded. With
    `autocommit` each statement is a transaction of its own.
    """

    def __init__(self, settings: SqlSettings, *, autocommit: bool = False) -> None:
        self._settings = settings
        self._autocommit = autocommit
        self._engine: sa.Engine | None = None
        self._connection: sa.Connection | None = None
        self._password: object = None

    @property
    def dialect(self) -> sa.Dialect:
        """The database's dialect of SQL."""
        return self._open_engine().dialect

    @property
    def shown(self) -> str:
        """The URL without its password."""
        return self._open_engine().url.render_as_string(hide_password=True)

    def run(self, transaction: Callable[[sa.Connection, int], T]) -> T:
        """Carry out `transaction(connection, number of earlier tries)` and commit it; return what it returned.

        Raises ConnectorError with the first line of the database's message if another try is of no use, or if the
        tries have lasted too long.
        """
        began = time.monotonic()
        delay = _FIRST_DELAY_S
        tries = 0
        while True:
            try:
                return self._run_once(transaction, tries)
            except self._errors as error:
                late = time.monotonic() - began > self._settings.retry_ms / 1000
                if late or tries == self._settings.retries or not _may_pass(error):
                    raise self._failure(error, tries) from None
            time.sleep(delay)
            delay = min(2 * delay, _LONGEST_DELAY_S)
            tries += 1

    def close(self) -> None:
        """Close the connection; it is reopened when it is needed."""
        connection, self._connection = self._connection, None
        if connection is not None:
            # The server notices and rolls back what was not committed; if asked to, it might not answer.
            with contextlib.suppress(*self._errors):
                connection.invalidate()
                connection.close()

    def in_transaction(self, work: Callable[[sa.Connection], T]) -> T:
        """Carry out one part of a transaction that spans several calls and starts with the first.

        After an error the transaction is lost. Raises EngineError if another try of the epoch may succeed, else
        ConnectorError.
        """
        try:
            return work(self._open())
        except self._errors as error:
            self.close()
            failure = self._failure(error, 0)
            if _may_pass(error):
                who, got = self._settings.who, failure.got
                raise EngineError("requires a connection that stays open", who=who, got=got) from None
            raise failure from None
        except BaseException:
            self.close()
            raise

    def _run_once(self, transaction: Callable[[sa.Connection, int], T], tries: int) -> T:
        try:
            connection = self._open()
            with connection.begin():
                return transaction(connection, tries)
        except BaseException:
            self.close()
            raise

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        """The errors of SQLAlchemy and the driver, and those of Python for values that a driver cannot take."""
        return (SQLAlchemyError, self.dialect.loaded_dbapi.Error, ValueError, OverflowError)

    def _open(self) -> sa.Connection:
        if self._connection is None:
            self._connection = self._open_engine().connect()
        return self._connection

    def _open_engine(self) -> sa.Engine:
        if self._engine is None:
            url = resolved(self._settings.address, self._settings.who)
            self._password = url.password
            local: dict[str, Any] = {"timeout": _SQLITE_WAIT_S} if url.get_backend_name() == "sqlite" else {}
            more: dict[str, Any] = {"isolation_level": "AUTOCOMMIT"} if self._autocommit else {}
            more |= {"poolclass": NullPool, "pool_reset_on_return": None, "hide_parameters": True}
            try:
                engine = sa.create_engine(url, connect_args=local, **more)
            except (ModuleNotFoundError, NoSuchModuleError) as error:
                raise missing_driver(url, getattr(error, "name", None), self._settings.who) from None
            _prepare_connections(engine, waits=not self._autocommit)
            self._engine = engine
        return self._engine

    def _failure(self, error: Exception, tries: int) -> ConnectorError:
        cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
        text = str(cause) or type(cause).__name__
        if self._password:
            text = text.replace(str(self._password), "***")
        return ConnectorError(
            self._settings.requirement,
            who=self._settings.who,
            got=text.strip().splitlines()[0],
            hint=f"tried {tries + 1} times in {self._settings.retry_ms / 1000:g} s" if tries else None,
            details=text,
        )


def _prepare_connections(engine: sa.Engine, *, waits: bool) -> None:
    """Make each connection commit durably; SQLite's transactions start as writers if they must wait for locks."""
    if engine.dialect.name == "sqlite":

        @sa.event.listens_for(engine, "connect")
        def manual(connection: Any, _record: Any) -> None:
            connection.isolation_level = None
            connection.execute("PRAGMA synchronous = FULL")

        if waits:

            @sa.event.listens_for(engine, "begin")
            def begin(connection: sa.Connection) -> None:
                connection.exec_driver_sql("BEGIN IMMEDIATE")

    elif engine.dialect.name == "postgresql":

        @sa.event.listens_for(engine, "connect")
        def durable(connection: Any, _record: Any) -> None:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT set_config('synchronous_commit', 'on', false) "
                    "WHERE current_setting('synchronous_commit') = 'off'"
                )
            connection.commit()


def _may_pass(error: Exception) -> bool:
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or _driver_says_passing(error.orig, error)
    return _driver_says_passing(error, error)


def _driver_says_passing(cause: BaseException | None, error: Exception) -> bool:
    """Judge by SQLite's name of the error, else by SQLSTATE or number, else by the message of a refused connection."""
    sqlite = getattr(cause, "sqlite_errorname", None)
    if sqlite is not None:
        return str(sqlite).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
    state = getattr(cause, "sqlstate", None)
    if state is not None:
        return str(state)[:2] in _PASSING
    number = next(iter(getattr(cause, "args", ())), None)
    if isinstance(number, int) and number:
        return number in _PASSING_NUMBERS
    operational = isinstance(error, (OperationalError, InterfaceError)) or any(
        kind.__name__ in ("OperationalError", "InterfaceError") for kind in type(cause).__mro__
    )
    return operational and not any(phrase in str(cause).lower() for phrase in _LASTING)

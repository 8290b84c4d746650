"""The address of a database: a SQLAlchemy URL that refers to its secrets without containing them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firesteel.common.errors import ConfigurationError, ConnectorError
from firesteel.connectors.references import REFERENCE, expanded

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

Address = str | Callable[[], str]
"""A URL that may refer to environment variables as `${NAME}`, or a function that returns a whole URL."""

_SECRETS: Final = frozenset({"password", "passwd", "sslpassword"})
_PREFERRED: Final = {"postgresql": "psycopg", "mysql": "pymysql", "mariadb": "pymysql"}
"""By database, the driver of a URL that names none; SQLAlchemy 2.0 uses psycopg2 and mysqlclient."""

_PACKAGES: Final = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg[binary]", "MySQLdb": "PyMySQL"}
"""By module of a driver, what is to be installed."""

_SINK: Final = "SqlSink"


def require_sqlalchemy(who: str = _SINK) -> None:
    """Raise ConfigurationError, with the command to run, if SQLAlchemy is not installed."""
    if importlib.util.find_spec("sqlalchemy") is None:
        raise ConfigurationError(
            "requires SQLAlchemy, which is not installed",
            who=who,
            hint='pip install "firesteel[database]", and the driver of the database, such as "psycopg[binary]"',
        )


def checked_address(address: Address, who: str = _SINK) -> Address:
    """Return the address in a form that may be stored: without secrets, a SQLite file with its absolute path.

    `who` has it, for errors.

    Raises ConfigurationError for a password in plain text, a URL that SQLAlchemy cannot read, and a database in memory.

    >>> checked_address("postgresql://me:${PGPASSWORD}@db/shop")
    'postgresql://me:${PGPASSWORD}@db/shop'
    >>> checked_address("postgresql://me:secret@db/shop")
    Traceback (most recent call last):
    ...
    firesteel.common.errors.ConfigurationError: SqlSink requires a URL without a password in it...
    """
    require_sqlalchemy(who)
    if not isinstance(address, str) or REFERENCE.fullmatch(address):
        return address
    url = _parsed(address, who)
    secrets = [url.password, *(url.query.get(name) for name in _SECRETS)]
    if any(secret is not None and not REFERENCE.search(str(secret)) for secret in secrets):
        raise ConfigurationError(
            "requires a URL without a password in it, because the URL is written to the state directory",
            who=who,
            got=_shown(url),
            hint="refer to an environment variable of the driver and the workers, as ${PGPASSWORD}",
        )
    if url.get_backend_name() != "sqlite" or REFERENCE.search(address):
        return address
    if url.database in (None, "", ":memory:"):
        raise ConfigurationError(
            "requires a database that workers can share",
            who=who,
            got=f"SQLite in memory: {address}",
            hint="name a file, as sqlite:///shop.db",
        )
    return url.set(database=str(Path(str(url.database)).absolute())).render_as_string(hide_password=False)


def resolved(address: Address, who: str = _SINK) -> URL:
    """Return the URL to connect to, with the values of environment variables inserted, unquoted.

    `who` connects, for errors.

    Raises ConnectorError for a variable that is not set, ConfigurationError for a URL that cannot be read.
    """
    if not isinstance(address, str):
        return _with_driver(_parsed(address(), who))
    if REFERENCE.fullmatch(address):
        return _with_driver(_parsed(expanded(address, who), who))
    url = _parsed(address, who)
    parts = {
        part: expanded(text, who)
        for part in ("username", "password", "host", "database")
        if (text := getattr(url, part)) is not None
    }
    query = {name: expanded(text, who) if isinstance(text, str) else text for name, text in url.query.items()}
    return _with_driver(
        url.set(
            query=query,
            username=parts.get("username"),
            password=parts.get("password"),
            host=parts.get("host"),
            database=parts.get("database"),
        )
    )


def missing_driver(url: URL, module: str | None, who: str) -> ConnectorError:
    """Return the error for a database driver that is not installed."""
    name = module or url.get_driver_name()
    return ConnectorError(
        f"requires the Python driver {name!r} for this database",
        who=who,
        got=f"no such module, for {_shown(url)}",
        hint=f'pip install "{_PACKAGES.get(name, name)}" for the driver and the workers',
    )


def _parsed(text: str, who: str) -> URL:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(text)
    except (ArgumentError, ValueError):  # the message of either error would show the URL
        raise ConfigurationError(
            "requires a URL that SQLAlchemy can read",
            who=who,
            got="one that cannot be parsed",
            hint="such as postgresql://user:${PGPASSWORD}@host:5432/database or sqlite:///file.db; "
            "for a port from the environment take the whole URL from it: ${DATABASE_URL}",
        ) from None


def _with_driver(url: URL) -> URL:
    driver = _PREFERRED.get(url.drivername)
    if driver is not None and importlib.util.find_spec(driver) is not None:
        return url.set(drivername=f"{url.drivername}+{driver}")
    return url


def _shown(url: URL) -> str:
    hidden = {name: "***" if name in _SECRETS else value for name, value in url.query.items()}
    return url.set(query=hidden).render_as_string(hide_password=True)

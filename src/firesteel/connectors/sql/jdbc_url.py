"""JDBC URLs as SQLAlchemy URLs."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

from firesteel.common.errors import ConfigurationError

DATABASES: Final = ("postgresql", "mysql", "mariadb", "sqlite")
"""The databases whose JDBC URLs are understood."""

_SPEED: Final = frozenset(
    {
        *(
            "allowPublicKeyRetrieval",
            "autoReconnect",
            "cachePrepStmts",
            "prepStmtCacheSize",
            "useServerPrepStmts",
        ),
        *("rewriteBatchedStatements", "useCompression", "useUnicode"),
    }
)
"""Parameters of MySQL's driver of Java that change no rows, and mean nothing here."""

_PYTHON: Final = frozenset(
    {
        *("charset", "init_command", "sql_mode", "unix_socket"),
        *("connect_timeout", "read_timeout", "write_timeout"),
        *("ssl_ca", "ssl_cert", "ssl_key"),
    }
)
"""Parameters of PyMySQL whose values are texts or numbers."""


def url_of_jdbc(url: str, user: str | None, password: str | None, who: str, hint: str | None = None) -> str:
    """Return the SQLAlchemy URL of a JDBC URL.

    Raises ConfigurationError for another database, and for a parameter of MySQL's that has no counterpart in Python.

    >>> url_of_jdbc("jdbc:postgresql://db:5432/shop?user=me", None, "${PW}", "sink")
    'postgresql://me:${PW}@db:5432/shop'
    >>> url_of_jdbc("jdbc:sqlite:/data/shop.db", None, None, "sink")
    'sqlite:////data/shop.db'
    """
    kind, _, rest = url.removeprefix("jdbc:").partition(":")
    if not url.startswith("jdbc:") or kind not in DATABASES:
        raise ConfigurationError(
            f"requires a JDBC URL of one of {', '.join(DATABASES)}",
            who=who,
            got=f"one that begins with {url.split('/')[0]!r}",
            hint=hint,
        )
    if kind == "sqlite":
        return f"sqlite:///{rest}"
    place, _, parameters = rest.removeprefix("//").partition("?")
    query = dict(parse_qsl(parameters))
    given_user, given_password = query.pop("user", None), query.pop("password", None)
    user, password = user or given_user, password or given_password
    if kind != "postgresql":
        query = dict(item for name, value in query.items() for item in _of_mysql(name, value, who).items())
    account = "" if user is None else _quoted(user)
    account += "" if password is None else f":{_quoted(password)}"
    more = f"?{urlencode(query)}" if query else ""
    return f"{kind}://{account + '@' if account else ''}{place}{more}"


def _quoted(text: str) -> str:
    return quote(text, safe="${}")


def _of_mysql(name: str, value: str, who: str) -> dict[str, str]:
    """Return a parameter of MySQL's driver of Java as those of PyMySQL.

    >>> _of_mysql("useSSL", "false", "sink"), _of_mysql("useUnicode", "true", "sink")
    ({'ssl_disabled': 'true'}, {})
    """
    if name in _PYTHON:
        return {name: value}
    match name, value.lower():
        case ("useSSL", "false") | ("sslMode", "disabled"):
            return {"ssl_disabled": "true"}
        case ("characterEncoding", "utf8" | "utf-8" | "utf8mb4"):
            return {}
        case (known, _) if known in _SPEED:
            return {}
    raise ConfigurationError(
        "requires a URL whose parameters the Python driver has",
        who=who,
        got=f"{name}={value}",
        hint=f"leave it out, or use those of PyMySQL: {', '.join(sorted(_PYTHON))}",
    )

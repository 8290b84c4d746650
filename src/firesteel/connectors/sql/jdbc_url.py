"""JDBC URLs as SQLAlchemy URLs."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

from firesteel.common.errors import ConfigurationError

DATABASES: Final = ("postgresql", "mysql", "mariadb", "sqlite")
"""The databases whose JDBC URLs are understood."""


def url_of_jdbc(url: str, user: str | None, password: str | None, who: str, hint: str | None = None) -> str:
    """Return the SQLAlchemy URL of a JDBC URL. Raises ConfigurationError for another database.

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
    user = user or query.pop("user", None)
    password = password or query.pop("password", None)
    account = "" if user is None else _quoted(user)
    account += "" if password is None else f":{_quoted(password)}"
    more = f"?{urlencode(query)}" if query else ""
    return f"{kind}://{account + '@' if account else ''}{place}{more}"


def _quoted(text: str) -> str:
    return quote(text, safe="${}")

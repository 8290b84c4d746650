"""The values of a session's options, read from their texts; each raises ConfigurationError for what it cannot be."""

from __future__ import annotations

from collections.abc import Mapping

from firesteel.common.errors import ConfigurationError
from firesteel.common.quantities import duration_ms, size_bytes


def duration(options: Mapping[str, str], key: str) -> int | None:
    """Return milliseconds; None if the option is not set, or 0.

    >>> duration({"table.exec.state.ttl": "1 h"}, "table.exec.state.ttl")
    3600000
    """
    return duration_ms(key, options[key]) or None if key in options else None


def truth(options: Mapping[str, str], key: str, *, default: bool = False) -> bool:
    """Return whether an option is true."""
    text = options.get(key, str(default)).lower()
    if text not in ("true", "false"):
        raise ConfigurationError("takes true or false", who=f"option {key!r}", got=options[key])
    return text == "true"


def count(options: Mapping[str, str], key: str, default: int) -> int:
    """Return a whole number above 0."""
    text = options.get(key, str(default))
    if not text.isdecimal() or not int(text):
        raise ConfigurationError("takes a number above 0", who=f"option {key!r}", got=text)
    return int(text)


def size(options: Mapping[str, str], key: str, default: int) -> int:
    """Return a number of bytes."""
    return size_bytes(key, options[key]) if key in options else default


def choice(options: Mapping[str, str], key: str, *names: str) -> str:
    """Return one of some names, the first of which is the default; letters may be of either case.

    >>> choice({"k": "Drop"}, "k", "ERROR", "DROP")
    'DROP'
    """
    text = options.get(key, names[0]).upper()
    if text not in names:
        raise ConfigurationError(
            f"takes {', '.join(names[:-1])} or {names[-1]}", who=f"option {key!r}", got=options[key]
        )
    return text

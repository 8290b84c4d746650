"""Durations and sizes as options have them: a number and a unit."""

from __future__ import annotations

import re
from typing import Final

from firesteel.common.errors import ConfigurationError

_UNITS: Final = {
    **dict.fromkeys(("", "ms", "milli", "millis", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
}
_SIZES: Final = {
    **dict.fromkeys(("", "b", "byte", "bytes"), 0),
    **dict.fromkeys(("k", "kb", "kib", "kibibyte", "kibibytes"), 10),
    **dict.fromkeys(("m", "mb", "mib", "mebibyte", "mebibytes"), 20),
    **dict.fromkeys(("g", "gb", "gib", "gibibyte", "gibibytes"), 30),
    **dict.fromkeys(("t", "tb", "tib", "tebibyte", "tebibytes"), 40),
}
_QUANTITY: Final = re.compile(r"\s*(\d+)\s*([a-z]*)\s*", re.IGNORECASE)


def duration_ms(key: str, text: str) -> int:
    """Return a duration as Flink writes it in milliseconds; a bare number is milliseconds.

    >>> duration_ms("k", "10 s"), duration_ms("k", "2min"), duration_ms("k", "500")
    (10000, 120000, 500)
    """
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2].lower() not in _UNITS:
        raise ConfigurationError(
            "requires a duration", who=f"option {key!r}", got=repr(text), hint="e.g. 10 s"
        )
    return int(match[1]) * _UNITS[match[2].lower()]


def size_bytes(key: str, text: str) -> int:
    """Return a size in bytes as Flink writes it (powers of 1024), at least 1; raises ConfigurationError.

    >>> size_bytes("k", "64 mb"), size_bytes("k", "1g"), size_bytes("k", "500")
    (67108864, 1073741824, 500)
    """
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2].lower() not in _SIZES or int(match[1]) < 1:
        raise ConfigurationError(
            "requires a size of at least 1 byte", who=f"option {key!r}", got=repr(text), hint="e.g. 256 mb"
        )
    return int(match[1]) << _SIZES[match[2].lower()]

"""Hints about names that are nearly right."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_SIMILAR: Final = 0.6
_MOST: Final = 12


def close_name(name: str, known: Iterable[str], similar: float = _SIMILAR) -> str | None:
    """Return the known name that is most like a name; names that differ in case only are alike for sure.

    >>> close_name("Prise", ["id", "PRICE"])
    'PRICE'
    """
    by_lower = {other.lower(): other for other in reversed(list(known))}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=similar)
    return by_lower[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str], similar: float = _SIMILAR) -> str | None:
    """Return the hint that a known name is meant, None if none is similar.

    >>> did_you_mean("GRUOP", ["GROUP", "ORDER"])
    'did you mean GROUP?'
    """
    close = close_name(name, known, similar)
    return None if close is None else f"did you mean {close}?"


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """Return the hint that a known name is meant, or which names there are.

    >>> suggestion("Prise", ["id", "price"])
    'did you mean price?'
    >>> suggestion("x", ["id", "price"])
    'known are: id, price'
    """
    names = list(dict.fromkeys(known))
    hint = did_you_mean(name, names)
    if hint is not None or not names:
        return hint
    rest = f", ... ({len(names) - _MOST} more)" if len(names) > _MOST else ""
    return f"known are: {', '.join(names[:_MOST])}{rest}"

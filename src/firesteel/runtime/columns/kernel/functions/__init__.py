"""The vectorised functions that texts can call, by name.

A name is that of a family, and its arguments after bars: ``text_to_decimal|10|2``. Families make a function for its
arguments; see `FAMILIES`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from firesteel.runtime.columns.kernel.functions import (
    addresses,
    bitmaps,
    buckets,
    clocks,
    decimals,
    digests,
    documents,
    draws,
    formats,
    json_texts,
    numbers,
    parsing,
    patterns,
    patterns_of_time,
    readings,
    simple_dates,
    texts,
    variants,
)
from firesteel.runtime.columns.kernel.functions.vector import VectorFunction

FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    **parsing.FAMILIES,
    **readings.FAMILIES,
    **documents.FAMILIES,
    **json_texts.FAMILIES,
    **patterns_of_time.FAMILIES,
    **simple_dates.FAMILIES,
    **texts.FAMILIES,
    **patterns.FAMILIES,
    **clocks.FAMILIES,
    **decimals.FAMILIES,
    **digests.FAMILIES,
    **numbers.FAMILIES,
    **draws.FAMILIES,
    **buckets.FAMILIES,
    **variants.FAMILIES,
    **bitmaps.FAMILIES,
    **addresses.FAMILIES,
    **formats.FAMILIES,
}


PREFIX: Final = "~"
"""What all names may begin with, so that none is one of DuckDB's."""


def function_of(name: str) -> VectorFunction:
    """Return the function that a name stands for.

    >>> function_of("text_to_decimal|10|2").result
    'DECIMAL(10, 2)'
    """
    family, *arguments = name.removeprefix(PREFIX).split("|")
    return FAMILIES[family](*arguments)

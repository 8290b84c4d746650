"""Python's garbage collector, while many objects are made that are all still used."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_waits() -> Iterator[None]:
    """Hold the collector back: for the thousands of objects of a batch it would look in vain again and again.

    >>> with collector_waits():
    ...     gc.isenabled()
    False
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

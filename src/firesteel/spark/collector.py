"""Python's garbage collector in a worker, which Spark runs after every task.

PySpark's daemon calls `gc.collect()` when a task has ended, and the worker takes no other task before that is done:
with the modules of PySpark, Arrow and Firesteel loaded it took 35 ms of processor time per task, most of a small epoch,
and with a million objects of state ten times that. Objects that live from task to task are set aside (`gc.freeze`), so
a collection examines only new objects; once in a while it examines all of them.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

T = TypeVar("T")

_WHOLE_SECONDS: Final = 60.0
"""How long cyclic garbage may stay that survived the end of its task."""

_last_whole = time.monotonic()


def task(output: Iterable[T]) -> Iterator[T]:
    """Yield a task's output, then set aside the objects that the worker keeps."""
    yield from output
    set_aside()


def whole_next() -> None:
    """Examine all objects at the end of this task, because many that were set aside are garbage now."""
    global _last_whole
    _last_whole = -math.inf


def set_aside() -> None:
    """Exclude all live objects from collections, until the next full one."""
    global _last_whole
    now = time.monotonic()
    if now - _last_whole >= _WHOLE_SECONDS:
        _last_whole = now
        gc.unfreeze()
        gc.collect()
    gc.freeze()

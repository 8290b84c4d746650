"""What a worker of a job with columns does with memory that it has freed.

A batch of columns allocates and frees arrays of megabytes many times in each second. By default these go back to the
operating system at once (glibc, above 128 KiB at first) or soon (Arrow's own allocator), and each page of the next ones
costs a page fault: some 0.1 faults for each row that is read from a file, which was a fifth of its processor time.
Python objects, the values of a job without columns, do not come from there.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Final

import pyarrow as pa

_TRIM_THRESHOLD: Final = -1
_TOP_PAD: Final = -2
_MMAP_THRESHOLD: Final = -3
"""Parameters of glibc's `mallopt`."""

_KEPT: Final = 128 << 20
_GROWN: Final = 16 << 20
_LARGEST: Final = 32 << 20
"""glibc takes no higher threshold."""


@cache
def keep_freed_memory() -> None:
    """Have this process keep up to 128 MiB that it has freed, and Arrow allocate where everything else does.

    What is larger than 32 MiB still goes back at once. With another C library than glibc nothing changes.

    >>> keep_freed_memory()
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return
    for parameter, value in ((_MMAP_THRESHOLD, _LARGEST), (_TRIM_THRESHOLD, _KEPT), (_TOP_PAD, _GROWN)):
        mallopt(parameter, value)
    pa.set_memory_pool(pa.system_memory_pool())

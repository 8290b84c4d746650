"""Keeps what Spark says at every start off the terminal; all else the JVM and its workers write passes."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_NOISE: Final = re.compile(
    rb"^(WARNING: Using incubator modules|Setting default log level to|Setting Spark log level to"
    rb"|To adjust logging level use|Using Spark's default log4j profile)"
)


@contextmanager
def without_noise() -> Iterator[None]:
    """Have child processes that are started in this block write to standard error through a filter.

    The filter lives as long as any of them; this process's own standard error is as before once the block ends.
    """
    reading, writing = os.pipe()
    saved = os.dup(2)
    sys.stderr.flush()
    os.dup2(writing, 2)
    os.close(writing)
    threading.Thread(target=_pass_on, args=(reading, saved), name="firesteel-stderr", daemon=True).start()
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(saved, 2)


def _pass_on(reading: int, target: int) -> None:
    with os.fdopen(reading, "rb") as lines:
        for line in lines:
            if not _NOISE.match(line):
                os.write(target, line)

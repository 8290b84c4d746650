"""Keeps what Spark says at every start off the terminal; all else the JVM and its workers write passes."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

_NOISE: Final = re.compile(
    rb"^(WARNING: Using incubator modules|Setting default log level to|Setting Spark log level to"
    rb"|To adjust logging level use|Using Spark's default log4j profile)"
)

_HANGING_UP: Final = re.compile(rb"pyspark/daemon\.py.*^BrokenPipeError", re.DOTALL | re.MULTILINE)
"""A worker that is told to end when the JVM it would answer has ended already."""


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
        for text in _worth_reading(lines):
            os.write(target, text)


def _worth_reading(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Pass on what is not noise; a traceback is held until its last line, the first that is not indented."""
    held: list[bytes] = []
    for line in lines:
        if held or line.startswith(b"Traceback (most recent call last)"):
            held.append(line)
            if len(held) > 1 and not line.startswith(b" "):
                text, held = b"".join(held), []
                if not _HANGING_UP.search(text):
                    yield text
        elif not _NOISE.match(line):
            yield line
    if held:
        yield b"".join(held)

"""Keeps off the terminal what Spark says at every start, and the stack of a JVM that could not start.

All else that the JVM and its workers write passes.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

_NOISE: Final = re.compile(
    rb"^(WARNING: Using incubator modules|Setting default log level to|Setting Spark log level to"
    rb"|To adjust logging level use|Using Spark's default log4j profile)"
)

_HANGING_UP: Final = re.compile(rb"pyspark/daemon\.py.*^BrokenPipeError", re.DOTALL | re.MULTILINE)
"""A worker that is told to end when the JVM it would answer has ended already."""


_DIED: Final = re.compile(rb'Exception in thread "main" |(Error: |Invalid |Unrecognized |Improperly )')
_OF_A_STACK: Final = re.compile(rb"^(\s+at |\s+\.\.\. \d+ more|Caused by: |\s+Suppressed: )")
_LAST_WORDS_S: Final = 2.0
"""How long the end of a JVM's standard error is waited for, which may still be on its way when the JVM has ended."""


@contextmanager
def without_noise() -> Iterator[Callable[[], str]]:
    """Have child processes that are started in this block write to standard error through a filter.

    The filter lives as long as any of them; this process's own standard error is as before once the block ends. What is
    given returns, once a JVM has ended, why it could not start, as far as it said so.
    """
    reading, writing = os.pipe()
    saved = os.dup(2)
    sys.stderr.flush()
    os.dup2(writing, 2)
    os.close(writing)
    fatal: list[bytes] = []
    starting = threading.Event()
    starting.set()
    passing = threading.Thread(
        target=_pass_on, args=(reading, saved, fatal, starting), name="firesteel-stderr", daemon=True
    )
    passing.start()

    def last_words() -> str:
        passing.join(_LAST_WORDS_S)
        return b"".join(fatal).decode(errors="replace")

    try:
        yield last_words
        starting.clear()
    finally:
        sys.stderr.flush()
        os.dup2(saved, 2)


def _pass_on(reading: int, target: int, fatal: list[bytes], starting: threading.Event) -> None:
    with os.fdopen(reading, "rb") as lines:
        for text in _worth_reading(lines, fatal, starting.is_set):
            os.write(target, text)


def _worth_reading(
    lines: Iterable[bytes], fatal: list[bytes], starting: Callable[[], bool]
) -> Iterator[bytes]:
    """Pass on what is not noise; a traceback is held until its last line, the first that is not indented.

    What a JVM that is `starting` dies of is added to `fatal`.
    """
    held: list[bytes] = []
    for line in lines:
        if starting() and (_DIED.match(line) or (fatal and _OF_A_STACK.match(line))):
            fatal.append(line)
            continue
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

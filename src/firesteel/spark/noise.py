"""A filter that hides Spark's messages at every start, and the stack trace of a JVM that could not start.

Everything else that the JVM and its workers write passes.
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
"""The traceback of a worker that is ordered to end after the JVM it would answer has ended."""


_DIED: Final = re.compile(rb'Exception in thread "main" |(Error: |Invalid |Unrecognized |Improperly )')
_OF_A_STACK: Final = re.compile(rb"^(\s+at |\s+\.\.\. \d+ more|Caused by: |\s+Suppressed: )")
_LAST_WORDS_S: Final = 2.0
"""How long to wait for the last standard error of a JVM, which may arrive after the JVM has ended."""


@contextmanager
def without_noise() -> Iterator[Callable[[], str]]:
    """Make child processes that are started in this block write to standard error through a filter.

    The filter lives as long as any of them; this process's own standard error is restored when the block ends. The
    yielded function returns, after a JVM has ended, the reason why it could not start, if it gave one.
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
    """Forward everything but noise; a traceback is held back until its last line, the first that is not indented.

    The fatal error of a JVM that is `starting` is added to `fatal`.
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

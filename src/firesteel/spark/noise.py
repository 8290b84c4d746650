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

_TRACEBACK: Final = b"Traceback (most recent call last)"

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

    Tracebacks of two workers that end together may come line by line in turn; they are held back until both have ended.
    The fatal error of a JVM that is `starting` is added to `fatal`.
    """
    held: list[bytes] = []
    begun = 0
    for line in lines:
        if starting() and (_DIED.match(line) or (fatal and _OF_A_STACK.match(line))):
            fatal.append(line)
            continue
        if held or line.startswith(_TRACEBACK):
            held.append(line)
            if line.startswith(_TRACEBACK):
                begun += 1
            elif not line.startswith(b" "):
                begun -= 1
            if not begun:
                text, held = held, []
                if not _is_of_hanging_up(text):
                    yield b"".join(text)
        elif not _NOISE.match(line):
            yield line
    if held:
        yield b"".join(held)


def _is_of_hanging_up(tracebacks: list[bytes]) -> bool:
    """Return whether workers say only that they were ordered to end after the JVM that they would answer had ended."""
    errors = [line for line in tracebacks if not line.startswith((b" ", _TRACEBACK))]
    return all(line.startswith(b"BrokenPipeError") for line in errors) and any(
        b"pyspark/daemon.py" in line for line in tracebacks
    )

"""The driver of a job, a process of its own that reads files of words as they arrive."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

WORDS = 30
"""The words of a file."""

WAIT = 120
"""How long something may take (seconds); Spark starts meanwhile."""


def arrive(directory: Path, name: str) -> None:
    """Put a file of words where the job looks for them, at once."""
    hidden = directory / f".{name}"
    hidden.write_text("".join(f"w{number % 4}\n" for number in range(WORDS)))
    hidden.rename(directory / "in" / name)


def counts(first: int, last: int) -> Counter[str]:
    """What the files from `first` on, before `last`, must put out."""
    number: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for place in range(last * WORDS):
        word = f"w{place % WORDS % 4}"
        number[word] += 1
        if place >= first * WORDS:
            lines[f"{word} {number[word]}"] += 1
    return lines


def visible(directory: Path) -> Counter[str]:
    """Return the lines of the files that have been made visible."""
    parts = [path for path in directory.glob("*") if not path.name.startswith(".")]
    return Counter(line for path in parts for line in path.read_text().splitlines())


class Started:
    """A driver."""

    def __init__(self, process: subprocess.Popen[str], errors: Path) -> None:
        self._process, self._errors = process, errors

    def wait_for(self, what: Callable[[], bool]) -> None:
        """Wait until something has happened, as long as the driver lives."""
        deadline = time.monotonic() + WAIT
        while not what():
            assert self._process.poll() is None, self._errors.read_text()
            assert time.monotonic() < deadline, self._errors.read_text()
            threading.Event().wait(0.05)

    def end(self) -> tuple[int, str]:
        """Wait for the end; answer the exit code and what was printed."""
        printed, _ = self._process.communicate(timeout=WAIT)
        return self._process.returncode, printed


@contextmanager
def driver(directory: Path, *arguments: str, subcommand: str = "run") -> Iterator[Started]:
    """Run `firesteel` with a subcommand in a directory; it is killed at the end."""
    path = os.pathsep.join([str(Path(__file__).parents[2] / "src"), *sys.path])
    errors = directory / "errors.txt"
    command = [sys.executable, "-m", "firesteel.cli", subcommand, "--parallelism", "2", *arguments]
    environment = {**os.environ, "PYTHONPATH": path}
    with (
        errors.open("a") as log,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=directory, env=environment
        ) as process,
    ):
        try:
            yield Started(process, errors)
        finally:
            process.kill()

"""Processes of their own for what is measured: started with all they start in turn, and ended with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from bench.environments import ROOT
from bench.part import RunError

_TAIL: Final = 4000
"""Characters of what a failed process said that are shown."""


@dataclass(frozen=True)
class System:
    """What a job is run on: the module that runs it, its mode, and the interpreter it needs."""

    title: str
    module: str
    mode: str
    python: Callable[[], Path]


class Started:
    """A running process; `output` is its standard output, to be read while it runs."""

    def __init__(self, process: subprocess.Popen[str], output: IO[str]) -> None:
        self._process = process
        self.output = output
        self.errors = ""
        """What it wrote to standard error, once it has ended."""

    @property
    def pid(self) -> int:
        """The process's id, which is that of its session, too."""
        return self._process.pid


@contextmanager
def started(
    who: str,
    arguments: Sequence[object],
    timeout_s: float,
    python: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Started]:
    """Run an interpreter (default: this one) with the modules of the benchmarks and of this checkout.

    The process has ended when the context is left. Raises RunError, with what it said, if it failed or took longer
    than `timeout_s`; it is killed then, and whenever the context is left by an exception.
    """
    python = python or Path(sys.executable)
    surroundings = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
        "PATH": f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}",  # PyFlink looks for `python` there
    }
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [python, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
            env={**os.environ, **surroundings, **(environment or {})},
        ) as process,
    ):
        assert process.stdout is not None
        run = Started(process, process.stdout)
        late = threading.Event()
        impatience = threading.Timer(timeout_s, _end, [process, late])
        impatience.start()
        try:
            yield run
            unread = process.communicate()[0]
        finally:
            impatience.cancel()
            _end(process)
        errors.seek(0)
        run.errors = errors.read()
    if late.is_set():
        raise RunError(f"{who}: took more than {timeout_s:g} s")
    if process.returncode:
        raise RunError(f"{who}: ended with {process.returncode}\n{unread[-_TAIL:]}\n{run.errors[-_TAIL:]}")


def _end(process: subprocess.Popen[str], late: threading.Event | None = None) -> None:
    if process.poll() is None:
        if late is not None:
            late.set()
        os.killpg(process.pid, signal.SIGKILL)  # with its JVM and its workers


@contextmanager
def sampling(look: Callable[[], None], every_s: float) -> Iterator[None]:
    """Call `look` every so many seconds, on a thread of its own, until the context is left, which raises its error."""
    stop, raised = threading.Event(), list[BaseException]()

    def watch() -> None:
        try:
            while not stop.wait(every_s):
                look()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    if raised:
        raise raised[0]

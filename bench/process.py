"""The processes of measurements: each is started and ended together with its own child processes."""

from __future__ import annotations

import json
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
from typing import IO, Any, Final

from bench.environments import ROOT
from bench.part import LateError, RunError

_TAIL: Final = 4000
"""The number of characters of a failed process's output that are shown."""


@dataclass(frozen=True)
class System:
    """A system that runs jobs: its module, its mode, and its interpreter."""

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
        """Its standard error, once it has ended."""
        self.wanted_end = False

    @property
    def pid(self) -> int:
        """The process's id, which is that of its session, too."""
        return self._process.pid

    def end(self) -> None:
        """End the process, which is no failure then."""
        self.wanted_end = True
        _end(self._process)


@contextmanager
def started(
    who: str,
    arguments: Sequence[object],
    timeout_s: float,
    python: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Started]:
    """Run an interpreter (default: this one) with the modules of the benchmarks and of this checkout.

    The process has ended when the context exits. Raises RunError, with its output, if it fails, and LateError if it
    takes longer than `timeout_s`. Then it is killed, and also if an exception leaves the context.
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
        raise LateError(f"{who}: took more than {timeout_s:g} s")
    if process.returncode and not run.wanted_end:
        raise RunError(f"{who}: ended with {process.returncode}\n{unread[-_TAIL:]}\n{run.errors[-_TAIL:]}")


def printed(who: str, arguments: Sequence[object], timeout_s: float) -> dict[str, Any]:
    """Run this interpreter as `started` does, and return the JSON of the last line that it prints."""
    with started(who, arguments, timeout_s) as process:
        output = process.output.read()
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


def _end(process: subprocess.Popen[str], late: threading.Event | None = None) -> None:
    if process.poll() is None:
        if late is not None:
            late.set()
        os.killpg(process.pid, signal.SIGKILL)  # with its JVM and its workers


@contextmanager
def sampling(look: Callable[[], None], every_s: float) -> Iterator[None]:
    """Call `look` at an interval in seconds, on a separate thread, until the context exits, which raises its error."""
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

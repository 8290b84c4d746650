"""Runs a user's program inside this process, as `python program.py` would."""

from __future__ import annotations

import importlib.util
import logging
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TextIO

import typer

from firesteel.cli.progress import progress_for
from firesteel.common.errors import ConfigurationError, FiresteelError, OutputClosedError
from firesteel.common.excepthook import debug_requested, describe_failure
from firesteel.common.log_context import LogForm
from firesteel.common.log_formats import LogFormatter
from firesteel.common.signals import INTERRUPTED
from firesteel.control.running import stop_jobs, wait_for_jobs
from firesteel.datastream.ambient import Ambient, surrounded_by
from firesteel.datastream.pyflink_alias import install_pyflink_alias

FAILURES: Final = "firesteel.program"
"""The logger of the errors that end a program."""

_LOG: Final = logging.getLogger("firesteel")
_FAILURES: Final = logging.getLogger(FAILURES)

OUTPUT_CLOSED: Final = 141
"""The exit code of a program whose output nobody reads any longer, as shells have it (128 + SIGPIPE)."""


@dataclass(frozen=True)
class Program:
    """A Python file, or a module by its dotted name, and its arguments.

    `python_files` are importable for the program, too.
    """

    code: Path | str
    arguments: Sequence[str] = ()
    python_files: Sequence[str] = ()

    def __str__(self) -> str:
        return str(self.code)

    def run(self) -> None:
        """Run it as `__main__`, and wait for its jobs that are still running. Raises all errors of the program."""
        with self._as_main():
            if isinstance(self.code, str):
                _require_module(self.code)
                runpy.run_module(self.code, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(str(self.code), run_name="__main__")
            wait_for_jobs()

    @contextmanager
    def _as_main(self) -> Iterator[None]:
        argv, path = sys.argv[:], sys.path[:]
        sys.argv[:] = [str(self.code), *self.arguments]
        first = Path.cwd() if isinstance(self.code, str) else self.code.resolve().parent
        sys.path[:0] = [str(first), *map(_importable, self.python_files)]
        try:
            yield
        finally:
            sys.argv[:], sys.path[:] = argv, path


def _require_module(name: str) -> None:
    try:
        found = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        found = False
    if not found:
        raise ConfigurationError(
            "requires a module that can be imported from the current directory",
            who="--module",
            got=name,
            hint="change to the directory that its outermost package is in, or name that with --py-files",
        )


def _importable(file: str) -> str:
    path = Path(file.removeprefix("file://").removeprefix("file:")).expanduser().resolve()
    return str(path.parent if path.suffix == ".py" else path)


def run_job(program: Program, surroundings: Ambient, pyflink: bool) -> int:
    """Run a program with its surroundings, show its progress, and return the exit code."""
    progress = progress_for(sys.stderr.isatty())
    if pyflink:
        surroundings = replace(surroundings, worker_setup=install_pyflink_alias)
    try:
        with surrounded_by(replace(surroundings, listeners=(*surroundings.listeners, progress))):
            return run_guarded(program, pyflink)
    finally:
        progress.close()


def run_guarded(program: Program, pyflink: bool = False) -> int:
    """Run a program as `__main__` and return the exit code; its errors are reported on standard error.

    Imports search the file's directory first, or the current one for a module; with `pyflink`, imports of `pyflink`
    find Firesteel. `SystemExit` is not caught, because a program chooses its own exit code with it.
    """
    if pyflink:
        install_pyflink_alias()
    try:
        program.run()
    except KeyboardInterrupt:
        return _ended_early(INTERRUPTED)
    except OutputClosedError:
        return _ended_early(OUTPUT_CLOSED)
    except Exception as error:
        report(error)
        return _ended_early(1)
    return 0


def _ended_early(code: int) -> int:
    """Stop the jobs that the program has left running, which would keep the process alive."""
    try:
        stop_jobs()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        report(error)
    return code


def report(error: BaseException) -> None:
    """Write an error to standard error and, if it has details, how to see them; as a line of a log that is JSON."""
    sys.stdout.flush()
    if any(isinstance(handler, _StderrHandler) and handler.form == "json" for handler in _LOG.handlers):
        _FAILURES.error("%s", describe_failure(error))
        return
    typer.echo(describe_failure(error), err=True)
    if isinstance(error, FiresteelError) and error.details and not debug_requested():
        typer.echo("  more: --debug shows the traceback", err=True)


@contextmanager
def reporting() -> Iterator[None]:
    """Turn an error of a command into a message on standard error and an exit code."""
    try:
        yield
    except FiresteelError as error:
        report(error)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def parse_configuration(pairs: Sequence[str]) -> dict[str, str]:
    """Turn `["a=1", "b=x=y"]` into a dict. Raises ConfigurationError for text that is not of the form KEY=VALUE.

    >>> parse_configuration(["spark.executor.memory=2g", "parallelism.default=4"])
    {'spark.executor.memory': '2g', 'parallelism.default': '4'}
    """
    configuration = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise ConfigurationError("requires KEY=VALUE", who="--conf", got=repr(pair))
        configuration[key.strip()] = value.strip()
    return configuration


@contextmanager
def log_on_stderr(verbose: bool, form: LogForm = "text") -> Iterator[None]:
    """Send Firesteel's own log to standard error: warnings and progress, with `verbose` everything from INFO.

    The root logger does not change, because the program configures it. What the program logs without a handler comes as
    Python writes it; with the form `json` that is a line of JSON, too. Afterwards, logging is as before.
    """
    progress, last_resort = logging.getLogger("firesteel.progress"), logging.lastResort
    before = _LOG.handlers, _LOG.propagate, _LOG.level, progress.level
    if form == "json":
        logging.lastResort = _StderrHandler(form, logging.WARNING)
    _LOG.handlers, _LOG.propagate = [_StderrHandler(form)], False
    _LOG.setLevel(logging.INFO if verbose else logging.WARNING)
    progress.setLevel(logging.INFO)
    try:
        yield
    finally:
        logging.lastResort = last_resort
        _LOG.handlers, _LOG.propagate, level, progress_level = before
        _LOG.setLevel(level)
        progress.setLevel(progress_level)


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to the present `sys.stderr`: the progress display replaces it, and a program can."""

    def __init__(self, form: LogForm, level: int = logging.NOTSET) -> None:
        super().__init__()
        self.form = form
        self.setFormatter(LogFormatter(form))
        self.setLevel(level)

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)

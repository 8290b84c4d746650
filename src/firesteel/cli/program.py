"""Running somebody's program inside this process, as `python program.py` would."""

from __future__ import annotations

import logging
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import typer

from firesteel.cli.progress import progress_for
from firesteel.common.errors import ConfigurationError, FiresteelError
from firesteel.common.excepthook import debug_requested, describe_failure
from firesteel.control.running import stop_jobs, wait_for_jobs
from firesteel.datastream.ambient import Ambient, surrounded_by
from firesteel.datastream.pyflink_alias import install_pyflink_alias

INTERRUPTED: Final = 130
"""The exit code of a program ended by Ctrl-C, as shells have it (128 + SIGINT)."""


def run_job(program: Path, arguments: Sequence[str], surroundings: Ambient, pyflink: bool) -> int:
    """Run a program in its surroundings, show its progress, and return the exit code."""
    progress = progress_for(sys.stderr.isatty())
    if pyflink:
        surroundings = replace(surroundings, worker_setup=install_pyflink_alias)
    try:
        with surrounded_by(replace(surroundings, listeners=(*surroundings.listeners, progress))):
            return run_guarded(program, arguments, pyflink)
    finally:
        progress.close()


def run_guarded(program: Path, arguments: Sequence[str], pyflink: bool = False) -> int:
    """Run a Python file as `__main__` and return the exit code; what it raises is reported on standard error.

    `arguments` become `sys.argv[1:]`. The file's directory is where its imports are looked for first; with `pyflink`,
    imports of `pyflink` find Firesteel. `SystemExit` goes through, as it is how a program chooses its own exit code.
    """
    if pyflink:
        install_pyflink_alias()
    try:
        with _as_main(program, arguments):
            runpy.run_path(str(program), run_name="__main__")
            wait_for_jobs()
    except KeyboardInterrupt:
        return _ended_early(INTERRUPTED)
    except Exception as error:
        report(error)
        return _ended_early(1)
    return 0


def _ended_early(code: int) -> int:
    """Stop what the program has left running, which would hold the process."""
    try:
        stop_jobs()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        report(error)
    return code


def report(error: BaseException) -> None:
    """Say on standard error what went wrong, and how to learn more where there is more."""
    sys.stdout.flush()
    typer.echo(describe_failure(error), err=True)
    if isinstance(error, FiresteelError) and error.details and not debug_requested():
        typer.echo("  more: --debug shows the traceback", err=True)


@contextmanager
def reporting() -> Iterator[None]:
    """Turn what a command raises into a message on standard error and an exit code."""
    try:
        yield
    except FiresteelError as error:
        report(error)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _as_main(program: Path, arguments: Sequence[str]) -> Iterator[None]:
    argv, path = sys.argv[:], sys.path[:]
    sys.argv[:] = [str(program), *arguments]
    sys.path.insert(0, str(program.resolve().parent))
    try:
        yield
    finally:
        sys.argv[:], sys.path[:] = argv, path


def parse_configuration(pairs: Sequence[str]) -> dict[str, str]:
    """Turn `["a=1", "b=x=y"]` into a dict. Raises ConfigurationError for what is not of the form KEY=VALUE.

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


def log_to_stderr(verbose: bool) -> None:
    """Send Firesteel's own log to standard error: warnings and progress, with `verbose` everything from INFO.

    The root logger is left alone, since it is the program's to configure.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log = logging.getLogger("firesteel")
    log.handlers = [handler]
    log.propagate = False
    log.setLevel(logging.INFO if verbose else logging.WARNING)
    logging.getLogger("firesteel.progress").setLevel(logging.INFO)

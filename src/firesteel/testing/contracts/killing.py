"""Processes that are killed while they commit: `python -m firesteel.testing.contracts.killing FILE` is such a one."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from firesteel.common import pickles
from firesteel.testing.contracts.jobs import PATIENCE_S, run_job

_COMMITS: Final = "commits\n"


class Announced:
    """Says on the standard output that a commit begins."""

    @contextmanager
    def around(self, what: str) -> Iterator[None]:
        """Say it before a commit."""
        if what == "the commit":
            sys.stdout.write(_COMMITS)
            sys.stdout.flush()
        yield


def run_killed(
    build: Callable[..., None], directory: Path, *, epoch_records: int, kills: Sequence[float]
) -> None:
    """Run a program in processes that are killed some seconds after they have begun to commit; then one to its end.

    `build(env, steps)` adds the program to an environment; it is pickled.
    """
    program = directory / "program"
    call = (build, str(directory), epoch_records)
    program.write_bytes(pickle.dumps(sys.path) + pickles.dumps(call))
    command = [sys.executable, "-m", __name__, str(program)]
    for seconds in (*kills, None):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            if seconds is not None and process.stdout.readline() == _COMMITS:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(seconds)
                process.kill()
                continue
            process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0, f"the job's process ended with {process.returncode}"


def main() -> None:
    """Run the program of a file."""
    with Path(sys.argv[1]).open("rb") as file:
        sys.path[:] = pickle.load(file)
        call: tuple[Callable[..., None], str, int] = pickle.load(file)
    build, directory, epoch_records = call
    run_job(lambda env: build(env, Announced()), Path(directory), parallelism=2, epoch_records=epoch_records)


if __name__ == "__main__":
    main()

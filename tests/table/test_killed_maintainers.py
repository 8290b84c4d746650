"""The driver that maintains a table is killed in the middle of an epoch, again and again: readers see whole epochs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from firesteel.table import TableEnvironment
from firesteel.testing import executing
from tests.recovery.jobs import records_read
from tests.table.transfers import ROWS, TRANSFERS, made, rows, session

PROJECT = Path(__file__).parents[2]
Totals = tuple[int, int]
"""The sum of all balances, and how many bookings there were."""


@contextmanager
def maintaining(
    directory: Path, parallelism: int, statement: str, where: str
) -> Iterator[subprocess.Popen[str]]:
    """Run `tests.table.maintainer`, which is killed at the end."""
    arguments = [str(directory), str(parallelism), statement, where]
    with (directory / "errors").open("a") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.table.maintainer", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT / "src"), *sys.path])},
            cwd=PROJECT,
        )
    with process:
        try:
            yield process
        finally:
            process.kill()


def totals(env: TableEnvironment) -> Totals:
    ((balance, n),) = rows(env, "SELECT SUM(balance), SUM(n) FROM kept_rows")
    return balance or 0, n or 0


@contextmanager
def reading(directory: Path) -> Iterator[list[Totals]]:
    """Read the table over and over again, and note what is there."""
    seen: list[Totals] = []
    over = threading.Event()

    def read() -> None:
        with executing(parallelism=2):
            env = session(directory, batch=True)
            while not over.is_set():
                seen.append(totals(env))

    with ThreadPoolExecutor(1) as pool:
        readings = pool.submit(read)
        try:
            yield seen
        finally:
            over.set()
        readings.result()


@pytest.mark.parametrize(
    ("key", "points"),
    [
        ("", ["after task 1.0", "after the manifest"]),
        ("(PRIMARY KEY (account) NOT ENFORCED)", ["after task 0.1", "before the manifest"]),
    ],
)
def test_whole_epochs_alone_are_seen_however_often_the_driver_is_killed(tmp_path, key, points):
    state = tmp_path / "catalog/default/materialized/kept_rows/1"
    statement, resume = made(TRANSFERS, key), "ALTER MATERIALIZED TABLE kept_rows RESUME"
    with executing(parallelism=2), ExitStack() as readings:
        reader = session(tmp_path, batch=True)
        for number, point in enumerate(points):
            with maintaining(tmp_path, 2 + number % 2, statement, point) as driver:
                assert driver.stdout.readline() == f"{point}\n", (tmp_path / "errors").read_text()
                within_an_epoch = totals(reader)
                driver.kill()
                assert driver.wait() == -signal.SIGKILL
            assert totals(reader) == within_an_epoch == (0, 2 * records_read(state))
            assert 0 < within_an_epoch[1] < 2 * ROWS
            if statement != resume:
                seen, statement = readings.enter_context(reading(tmp_path)), resume
        with maintaining(tmp_path, 3, resume, "") as driver:
            assert driver.wait() == 0, (tmp_path / "errors").read_text()
        assert rows(reader, "SELECT * FROM kept_rows") == rows(reader, TRANSFERS)
    counts = [n for _, n in seen]
    assert {balance for balance, _ in seen} == {0}
    assert counts == sorted(counts)

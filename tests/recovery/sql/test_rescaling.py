"""The parallelism of queries changes: while they run, and from a savepoint on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.control import EpochStats, JobHandle
from firesteel.control.maintenance import MaintenancePolicy
from tests.recovery.sql.jobs import (
    QUERIES,
    UPSERTING,
    Act,
    answer_of,
    expected,
    prepared,
    read_so_far,
    run,
    state_of,
    table,
)

BUSY = MaintenancePolicy(2, 3, inline=True)


def every_second(first: int) -> list[Any]:
    """Return the queries, of which the others run with --thorough only."""
    return [
        pytest.param(name, marks=[] if place % 2 == first else [pytest.mark.thorough])
        for place, name in enumerate(QUERIES)
    ]


def changing(changes: dict[int, int]) -> Act:
    """Change the parallelism after these epochs."""

    def act(handle: JobHandle, stats: EpochStats) -> None:
        if stats.epoch in changes:
            handle.rescale(changes[stats.epoch])

    return act


class Stopping:
    """Stops a job with a savepoint after a number of epochs."""

    def __init__(self, epochs: int, directory: Path) -> None:
        self._left = epochs
        self._directory = directory
        self._answer: Future[str] = Future()

    def __call__(self, handle: JobHandle, stats: EpochStats) -> None:
        self._left -= 1
        if not self._left:
            self._answer = handle.stop(str(self._directory))

    @property
    def savepoint(self) -> str:
        """Where the savepoint is."""
        return self._answer.result(timeout=0)


@pytest.mark.parametrize("name", every_second(0))
def test_a_running_query_is_rescaled(tmp_path: Path, name: str) -> None:
    home = prepared(tmp_path / "job", name)
    changes = changing({2: 3, 4: 1, 7: 2})
    run(home, name, parallelism=2, act=changes, epoch_records=11, retained=2, maintenance=BUSY)
    assert table(home) == expected(tmp_path, name)


@pytest.mark.parametrize("name", UPSERTING)
@settings(max_examples=2)
@given(changes=st.dictionaries(st.integers(1, 10), st.integers(1, 5), max_size=5), size=st.integers(6, 40))
def test_any_changes_at_any_time(
    tmp_path_factory: pytest.TempPathFactory, name: str, changes: dict[int, int], size: int
) -> None:
    home = prepared(tmp_path_factory.mktemp("any") / "job", name)
    change = changing(changes)

    def act(handle: JobHandle, stats: EpochStats) -> None:
        assert table(home) == answer_of(name, read_so_far(state_of(home)))
        change(handle, stats)

    run(home, name, parallelism=2, act=act, epoch_records=size, retained=2, maintenance=BUSY)


@pytest.mark.parametrize("name", every_second(1))
def test_a_savepoint_is_resumed_at_another_parallelism_on_another_machine(
    tmp_path: Path, name: str, machine: Callable[[str], None]
) -> None:
    home = prepared(tmp_path / "job", name)
    restore_from = None
    for number, (epochs, parallelism) in enumerate([(3, 2), (2, 3), (3, 1)]):
        stop = Stopping(epochs, tmp_path / "savepoints")
        machine(f"machine-{number}")
        run(
            home,
            name,
            parallelism=parallelism,
            act=stop,
            state=f"state-{number}",
            epoch_records=11,
            restore_from=restore_from,
        )
        restore_from = stop.savepoint
    machine("the last")
    run(home, name, parallelism=2, state="the last", epoch_records=11, restore_from=restore_from)
    assert table(home) == expected(tmp_path, name)


def test_a_session_says_what_its_next_job_starts_from(tmp_path: Path) -> None:
    home = prepared(tmp_path / "job", "groups")
    stop = Stopping(3, tmp_path / "savepoints")
    run(home, "groups", parallelism=2, act=stop, epoch_records=11)
    options = {"execution.state-recovery.path": stop.savepoint}
    run(home, "groups", parallelism=3, state="other", options=options)
    assert table(home) == expected(tmp_path, "groups")

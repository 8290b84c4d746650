"""Queries give the same table after failures, at another parallelism and on another machine, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from firesteel.common.errors import FiresteelError
from tests.recovery.sql.jobs import QUERIES, expected, prepared, run, table

FAILURES = "20,70,100"


@pytest.mark.thorough
@pytest.mark.parametrize("name", QUERIES)
def test_a_query_survives_failures_and_changes_of_parallelism(tmp_path: Path, name: str) -> None:
    home = prepared(tmp_path / "unsteady", name)
    for parallelism in (2, 1, 3):
        with pytest.raises(FiresteelError, match="cannot be read now"):
            run(home, name, FAILURES, parallelism, epoch_records=11)
    run(home, name, FAILURES, 2, epoch_records=11)
    assert table(home) == expected(tmp_path, name)


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_goes_on_where_nothing_is_left_of_it_but_its_state_directory(
    tmp_path: Path, name: str, machine: Callable[[str], None]
) -> None:
    home = prepared(tmp_path / "moving", name)
    for number, parallelism in enumerate((2, 1, 3)):
        machine(f"machine-{number}")
        with pytest.raises(FiresteelError, match="cannot be read now"):
            run(home, name, FAILURES, parallelism, epoch_records=11)
    machine("the last")
    run(home, name, FAILURES, 2, epoch_records=11)
    assert table(home) == expected(tmp_path, name)

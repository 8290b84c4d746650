"""What is visible of a query is at every commit the query's table over the rows that have been read."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.control import EpochStats, JobHandle
from tests.recovery.sql.jobs import (
    QUERIES,
    ROWS,
    UPSERTING,
    answer_of,
    expected,
    prepared,
    read_so_far,
    run,
    state_of,
    table,
)


@pytest.mark.parametrize("parallelism", [1, 2, 3])
@pytest.mark.parametrize("name", UPSERTING)
def test_a_table_is_that_of_the_rows_read_at_every_commit(
    tmp_path: Path, name: str, parallelism: int
) -> None:
    home = prepared(tmp_path / "job", name)
    lengths = []

    def compare(handle: JobHandle, stats: EpochStats) -> None:
        read = read_so_far(state_of(home))
        lengths.append(len(read))
        assert table(home) == answer_of(name, read), stats.epoch

    run(home, name, parallelism=parallelism, act=compare, epoch_records=13)
    assert len({*lengths}) >= 5
    assert lengths[-1] == ROWS


@pytest.mark.parametrize("name", [name for name in QUERIES if name not in UPSERTING])
def test_rows_that_are_visible_stay_and_all_are_of_the_answer(tmp_path: Path, name: str) -> None:
    home = prepared(tmp_path / "job", name)
    answer = expected(tmp_path, name)
    seen = [table(home)]

    def compare(handle: JobHandle, stats: EpochStats) -> None:
        now = table(home)
        assert seen[-1] <= now <= answer, stats.epoch
        seen.append(now)

    run(home, name, parallelism=2, act=compare, epoch_records=13)
    assert seen[-1] == answer

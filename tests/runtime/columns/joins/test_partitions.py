"""Sides of joins on the disk: each row is in the partition of its key, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.common.errors import StateError
from firesteel.functions.columns.joins import Side
from firesteel.runtime.columns.joins import partitions
from firesteel.runtime.columns.joins.partitions import COUNT, Partitions
from tests.runtime.columns.joins.lists import INSERT, Row, batch, spec

JOIN = spec("INNER", keys=True, null_safe=False, smaller=False)
LEFT: list[Row] = [(number % 500, number, str(number)) for number in range(3_000)]
RIGHT: list[Row] = [(number, None if number % 7 == 0 else number % 900) for number in range(2_000)]


@pytest.mark.parametrize("build", [0, 1])
@pytest.mark.parametrize("buffered", [0, 500, 1 << 30], ids=["each batch", "some rows", "all in memory"])
def test_equal_keys_are_in_one_partition(build: Side, buffered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "_BUFFERED", buffered)
    dealt = Partitions(JOIN, build)
    given: tuple[list[Row], list[Row]] = (LEFT, RIGHT)
    for start in range(0, 3_000, 100):
        for side, rows in enumerate(given):
            if rows[start : start + 100]:
                part = batch(side, [(INSERT, row) for row in rows[start : start + 100]])[1].rows
                dealt.add(0 if side == 0 else 1, part)
    found: tuple[list[Row], list[Row]] = ([], [])
    keys: tuple[list[set[int]], list[set[int]]] = ([], [])
    for built, met in dealt.each():
        for side, batches in ((build, built), (1 - build, met)):
            rows = [tuple(row.values()) for part in batches for row in part.to_pylist()]
            found[side].extend(rows)
            keys[side].append({row[0 if side == 0 else 1] for row in rows})
    assert [sorted(rows, key=str) for rows in found] == [sorted(rows, key=str) for rows in given]
    assert len(keys[0]) == COUNT
    for mine in keys:
        assert sum(map(len, mine)) == len(set().union(*mine))
    for left, right in zip(*keys, strict=True):
        assert {key for key in right if key is not None and key < 500} <= left


def test_a_disk_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "file"))
    monkeypatch.setattr(partitions, "_BUFFERED", 0)
    with pytest.raises(StateError, match=r"a side of a join in .* cannot be written"):
        Partitions(JOIN, 0).add(0, batch(0, [(INSERT, LEFT[0])])[1].rows)

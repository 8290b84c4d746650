"""The outbox: rows come out in the order in which they went in, and memory holds a bounded part of them."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from firesteel.common.errors import StateError
from firesteel.runtime import outbox as outboxes
from firesteel.runtime.outbox import Outbox


@pytest.fixture(autouse=True)
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "local"))
    return tmp_path / "local"


def test_rows_come_out_once_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outboxes, "HELD_BYTES", 100)
    outbox, expected = Outbox(), []
    for turn in range(5):
        rows = [(0, 1, 2, 100 * turn + number, bytes(turn * 7)) for number in range(20)]
        outbox.send(*rows[0])
        for row in rows[1:]:
            outbox.pass_on(row)
        assert list(outbox.drain()) == rows
        expected.extend(rows)
    assert list(outbox.drain()) == []
    assert outbox.bytes == sum(len(row[4]) for row in expected)


def test_memory_holds_a_part_of_them(local: Path) -> None:
    outbox, block = Outbox(), 1 << 20
    tracemalloc.start()
    try:
        for number in range(200):
            outbox.send(0, 0, 0, number, bytes(block))
        assert tracemalloc.get_traced_memory()[1] < 4 * outboxes.HELD_BYTES
        assert [row[3] for row in outbox.drain()] == list(range(200))
        assert tracemalloc.get_traced_memory()[1] < 4 * outboxes.HELD_BYTES
    finally:
        tracemalloc.stop()
    assert list(local.iterdir()) == []


def test_a_disk_without_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outboxes, "HELD_BYTES", 10)
    (tmp_path / "file").touch()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "file" / "local"))
    outbox = Outbox()
    with pytest.raises(StateError, match=r"a temporary file in .*/file/local cannot be written"):
        outbox.send(0, 0, 0, 0, bytes(11))

"""SIGKILL in the middle of apply: the copy is at the epoch before or after, or says that it is between them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from firesteel.state.disk.copy import close_working_stores, open_working_store
from firesteel.state.disk.directories import filter_files

KEYS = 30_000

IN_THE_MIDDLE = """
import signal, sys
from pathlib import Path
from firesteel.state.disk.copy import open_working_store

class Entries:
    def __iter__(self):
        for number in range(30_000):
            if number == int(sys.argv[2]):
                print("here", flush=True)
                signal.pause()
            yield b"%06d" % number, b"2" * 100

store = open_working_store(Path(sys.argv[1]), "job", 0, 127)
store.apply(1, [(b"%06d" % number, b"1" * 100) for number in range(30_000)])
store.apply(2, Entries())
"""

EPOCH_AFTER_EPOCH = """
import sys
from pathlib import Path
from firesteel.state.disk.copy import open_working_store
store = open_working_store(Path(sys.argv[1]), "job", 0, 127)
for epoch in range(store.version + 1, 1_000_000):
    store.apply(epoch, [(b"%06d" % number, b"%d" % epoch) for number in range(3_000)])
    print(epoch, flush=True)
"""

NEW_KEYS = """
import sys
from pathlib import Path
from firesteel.state.disk import key_filter
from firesteel.state.disk.copy import open_working_store
key_filter.SMALLEST = 1000
store = open_working_store(Path(sys.argv[1]), "job", 0, 127)
for epoch in range(store.version + 1, 1_000_000):
    store.apply(epoch, [(b"%08d" % number, b"x") for number in range(epoch * 2_000, (epoch + 1) * 2_000)])
    print(epoch, flush=True)
"""


def killed_after(lines: int, program: str, *arguments: object) -> None:
    """Run a program and kill it once it has printed so many lines."""
    with subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None
        for _ in range(lines):
            assert process.stdout.readline()
        process.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("position", [0, 1, 8192, 29_999])
def test_killed_in_the_middle_of_a_transaction(tmp_path: Path, position: int) -> None:
    killed_after(1, IN_THE_MIDDLE, tmp_path, position)
    store = open_working_store(tmp_path, "job", 0, 127)
    with store.read() as reader:
        assert reader.version == (1 if position <= 8192 else 0)
        assert reader.version == 0 or {value for _, value in reader.scan(b"")} == {b"1" * 100}
    store.apply(2, [(b"%06d" % number, b"2") for number in range(KEYS)], since=1)
    with store.read() as reader:
        assert [value for _, value in reader.scan(b"")] == [b"2"] * KEYS
    close_working_stores(tmp_path)


def test_killed_at_any_time(tmp_path: Path) -> None:
    seen = 0
    for lines in random.Random(5).sample(range(1, 15), 6):
        killed_after(lines, EPOCH_AFTER_EPOCH, tmp_path)
        store = open_working_store(tmp_path, "job", 0, 127)
        with store.read() as reader:
            assert reader.version >= seen + lines
            assert {value for _, value in reader.scan(b"")} == {b"%d" % reader.version}
            seen = reader.version
        close_working_stores(tmp_path)


def test_killed_while_the_filter_of_its_keys_grows(tmp_path: Path) -> None:
    for lines in random.Random(7).sample(range(1, 15), 6):
        killed_after(lines, NEW_KEYS, tmp_path)
        store = open_working_store(tmp_path, "job", 0, 127)
        with store.read() as reader:
            bound = (reader.version + 1) * 2_000
            keys = [b"%08d" % number for number in range(2_000, bound + 5_000)]
            assert list(reader.get_many(keys)) == keys[: bound - 2_000]
            assert len(filter_files(tmp_path)) == 1
        close_working_stores(tmp_path)

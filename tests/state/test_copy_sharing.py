"""Working copies that several processes use, and how large they become."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from firesteel.state.disk.copy import WorkingStore, close_working_stores, open_working_store
from firesteel.state.values.chunks import Entry
from tests.state.copies import contents

RunPython = Callable[..., CompletedProcess[str]]

SIBLING = """
import os, sys
from pathlib import Path
from firesteel.state.disk.copy import open_working_store
store = open_working_store(Path(sys.argv[1]), "job", 0, 127, map_size=1 << 16)
store.apply(store.version + 1, [(b"%06d" % number, b"x" * 100) for number in range(20_000)])
print(store.version)
"""


def test_processes_share_a_copy_that_grows(tmp_path: Path, run_python: RunPython) -> None:
    store = open_working_store(tmp_path / "copy", "job", 0, 127, map_size=1 << 16)
    store.apply(1, [(b"000000", b"1")])
    sibling = run_python("-c", SIBLING, store.directory)
    assert sibling.stdout == "2\n", sibling.stderr
    assert (store.version, len(contents(store))) == (2, 20_000)
    store.apply(3, [(b"000000", None)])
    assert len(contents(store)) == 19_999
    close_working_stores(tmp_path)


FORKING = """
import os, sys
from pathlib import Path
from firesteel.common.errors import StateError
from firesteel.state.disk.copy import open_working_store
copy = Path(sys.argv[1])
store = open_working_store(copy, "job", 0, 127)
store.apply(1, [(b"a", b"1")])
snapshot = store.read()
if os.fork() == 0:
    try:
        open_working_store(copy, "job", 0, 127)
    except StateError as error:
        sys.exit(3)
print(os.waitstatus_to_exitcode(os.wait()[1]))
for epoch in range(2, 10):
    store.apply(epoch, [(b"a", b"%d" % epoch)])
print(snapshot.get(b"a"), store.version)
"""


def test_a_child_process_does_not_touch_the_copies_of_its_parent(
    tmp_path: Path, run_python: RunPython
) -> None:
    forked = run_python("-c", FORKING, tmp_path / "copy")
    assert forked.stdout == "3\nb'1' 9\n", forked.stderr


def size_of(store: WorkingStore) -> int:
    return (store.directory / "data.mdb").stat().st_size


def changes_of(size: int, share: float, epochs: int) -> Iterator[list[Entry]]:
    chosen = random.Random(size)
    keys = [b"key-%08d" % number for number in range(3_000_000 // (size + 100))]
    for _ in range(epochs):
        count = int(share * len(keys)) or 1
        yield [
            (key, bytes(chosen.randint(size // 2, size * 3 // 2)))
            for key in sorted(chosen.sample(keys, count))
        ]


@pytest.mark.parametrize(
    ("size", "share"), [(50, 1.0), (50, 0.1), (2000, 1.0), (20_000, 0.3), (100_000, 1.0)]
)
def test_a_copy_stays_about_as_large_as_what_it_holds(store: WorkingStore, size: int, share: float) -> None:
    sizes = []
    for epoch, changes in enumerate(changes_of(size, share, 200), start=1):
        store.apply(epoch, changes)
        with store.read() as reader:
            assert reader.get(changes[0][0]) == changes[0][1]
        sizes.append(size_of(store))
    fresh = open_working_store(store.directory.parent / "fresh", "job", 0, 127)
    fresh.load(1, contents(store))
    assert sizes[-1] <= 1.1 * sizes[99]
    # where an epoch changes entries on every page, three versions of a page exist at a time, two thirds full
    assert sizes[-1] <= 5 * size_of(fresh)


READING = """
import signal, sys
from pathlib import Path
from firesteel.state.disk.copy import open_working_store
reader = open_working_store(Path(sys.argv[1]), "job", 0, 127).read()
print("here", flush=True)
signal.pause()
"""


def test_the_snapshot_of_a_process_that_was_killed_does_not_make_the_copy_grow(store: WorkingStore) -> None:
    epochs = enumerate(changes_of(2000, 1.0, 40), start=1)
    for _ in range(5):
        store.apply(*next(epochs))
    before = size_of(store)
    with subprocess.Popen(
        [sys.executable, "-c", READING, str(store.directory)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        process.kill()
    for epoch, changes in epochs:
        store.apply(epoch, changes)
    assert size_of(store) <= 2 * before

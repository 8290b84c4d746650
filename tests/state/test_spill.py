"""State of which one epoch changes more than memory should hold."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.errors import StateError
from firesteel.state.descriptors import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from firesteel.state.disk import lmdb_file
from firesteel.state.live.memory import Memory
from firesteel.state.live.spill import Spill
from firesteel.state.values.chunks import Entry
from tests.state.memory import MemoryReader, MemoryStore

KEYS = st.binary(min_size=1, max_size=3) | st.binary(min_size=1, max_size=2).map(
    lambda tail: b"k" * 505 + tail
)
CHANGES = st.dictionaries(KEYS, st.none() | st.binary(max_size=4), max_size=10).map(
    lambda changes: sorted(changes.items())
)
LIMIT = 1 << 20


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    return tmp_path


def left_in(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file()]


@given(base=st.dictionaries(KEYS, st.binary(max_size=4), max_size=10), added=st.lists(CHANGES, max_size=4))
def test_a_spill_shows_its_changes_on_top_of_what_it_was_given(
    base: dict[bytes, bytes], added: list[list[Entry]]
) -> None:
    spill = Spill(MemoryReader(base))
    changed: dict[bytes, bytes | None] = {}
    for changes in added:
        spill.add(changes)
        changed.update(changes)
    model = {key: value for key, value in {**base, **changed}.items() if value is not None}
    assert list(spill.entries()) == sorted(changed.items())
    for prefix in [b"", b"k" * 505, *(key[:1] for key in changed), *base]:
        for start in (None, prefix + b"\1"):
            expected = [key for key in sorted(model) if key.startswith(prefix) and key >= (start or b"")]
            assert list(spill.scan(prefix, start)) == [(key, model[key]) for key in expected]
    assert all(spill.get(key) == model.get(key) for key in [*base, *changed, b"absent"])
    spill.close()


def test_what_is_read_while_changes_are_added_is_what_was_there_before() -> None:
    spill = Spill(MemoryReader({b"a": b"0"}))
    spill.add([(b"a", b"1"), (b"b", b"1")])

    def changes() -> Iterator[Entry]:
        for number in range(20_000):
            yield b"a%05d" % number, b"2"
            assert number % 999 or list(spill.scan(b"")) == [(b"a", b"1"), (b"b", b"1")]

    spill.add(changes())
    assert len(list(spill.scan(b""))) == 20_002
    spill.close()


class Keyed:
    """A backend under a memory limit beside a model of its states."""

    def __init__(self, limit: int) -> None:
        self.store = MemoryStore(memory_limit=limit)
        backend = self.store.backend
        self.scope = backend.keyed
        self.value = backend.value_state(ValueStateDescriptor("value"))
        self.elements = backend.list_state(ListStateDescriptor("list"))
        self.entries = backend.map_state(MapStateDescriptor("map"))

    @property
    def spills(self) -> int:
        return self.store.backend.spills


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("size", [10, 2000, 100_000])
def test_an_epoch_may_change_many_times_what_memory_may_hold(size: int, keep: bool, directory: Path) -> None:
    run = Keyed(LIMIT)
    model: dict[str, tuple[bytes, list[bytes], dict[int, bytes]]] = {}
    chosen = random.Random(size)
    keys = [f"key-{number}" for number in range(max(100, 2 * LIMIT // (size + 240)))]
    most = 0
    for _ in range(3):
        held = 0
        for number in range(2 * len(keys)):
            key = run.scope.current = chosen.choice(keys)
            value = bytes([number % 251]) * size
            old = model.get(key, (None, [], {}))
            assert run.value.value() == old[0]
            run.value.update(value)
            if number % 4 == 0:
                run.elements.add(value)
                run.entries.put(number % 5, value)
                old = value, [*old[1], value], {**old[2], number % 5: value}
            elif number % 97 == 1:
                assert run.elements.get() == old[1]
                assert dict(run.entries.items()) == old[2]
                run.elements.clear()
                run.entries.remove(1)
                old = value, [], {key: held for key, held in old[2].items() if key != 1}
            model[key] = (value, *old[1:])
            held += size
            if held > LIMIT // 16 or number % 60 == 0:
                held = 0
                run.store.backend.relax()
                most = max(most, run.store.backend.weigh().kept)
        assert most <= 2 * LIMIT
        run.store.next_epoch(keep)
    assert run.spills >= 3
    assert left_in(directory) == []
    for key, expected in model.items():
        run.scope.current = key
        assert (run.value.value(), run.elements.get(), dict(run.entries.items())) == expected


def test_a_list_and_a_map_of_one_key_may_be_larger_than_memory() -> None:
    run = Keyed(200_000)
    run.scope.current = "key"
    for number in range(30_000):
        run.elements.add(number)
        run.entries.put(number, "x" * 20)
        if number % 100 == 0:
            run.store.backend.relax()
            assert run.store.backend.weigh().kept < 600_000
    assert run.spills > 10
    assert sum(1 for _ in run.entries.items()) == 30_000
    run.store.next_epoch()
    assert run.elements.get() == list(range(30_000))
    assert list(run.entries.keys()) == list(range(30_000))


def test_large_clean_values_are_not_kept_beyond_the_limit() -> None:
    run = Keyed(LIMIT)
    for number in range(100):
        run.scope.current = number
        run.value.update(bytes(100_000))
    run.store.next_epoch(keep=False)
    for number in range(100):
        run.scope.current = number
        assert run.value.value() == bytes(100_000)
        run.store.backend.relax()
        assert run.store.backend.weigh().kept <= 2 * LIMIT
    assert run.spills == 0


def test_a_state_that_fits_is_not_spilled_and_stays_cached() -> None:
    run = Keyed(LIMIT)
    for _ in range(3):
        for number in range(1000):
            run.scope.current = number
            run.value.update(number)
            run.store.backend.relax()
        gets = run.store.reader.gets
        run.store.next_epoch()
    assert run.spills == 0
    assert gets == 0


def test_backends_of_a_process_share_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Memory, "_of_process", Memory(LIMIT))
    runs = [Keyed(0) for _ in range(4)]
    for number in range(10_000):
        for run in runs:
            run.scope.current = number
            run.value.update("x" * 100)
            if number % 50 == 0:
                run.store.backend.relax()
    assert all(run.spills for run in runs)
    assert sum(run.store.backend.weigh().kept for run in runs) <= 2 * LIMIT


FULL = """
import resource, signal, sys
from firesteel.common.errors import StateError
from firesteel.state.live.spill import Spill
from tests.state.memory import MemoryReader
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    Spill(MemoryReader({})).add((b"%06d" % number, bytes(1000)) for number in range(100_000))
except StateError as error:
    print(error)
"""

KILLED = """
import signal
from firesteel.state.live.spill import Spill
from tests.state.memory import MemoryReader
spill = Spill(MemoryReader({}))
spill.add([(b"a", b"1")])
print("here", flush=True)
signal.pause()
"""


def run_python(program: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_a_disk_that_is_full_is_named(directory: Path) -> None:
    with run_python(FULL) as process:
        output = process.communicate()[0]
    assert output.startswith(f"state, in {directory}")
    assert "requires room for what one epoch changes; got " in output
    assert "SPARK_LOCAL_DIRS" in output


def test_nothing_is_left_of_a_process_that_is_killed(directory: Path) -> None:
    with run_python(KILLED) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGKILL)
    assert left_in(directory) == []


def test_a_directory_that_cannot_be_made_is_named(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (directory / "file").touch()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(directory / "file"))
    with pytest.raises(StateError, match="requires room for what one epoch changes"):
        Spill(MemoryReader({}))


def test_a_spill_grows_and_names_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lmdb_file, "_room_for", lambda size: size <= 3 << 20)
    spill = Spill(MemoryReader({}))
    entries: list[Entry] = [(b"%06d" % number, bytes(100)) for number in range(20_000)]
    spill.add(entries[:5000], 500_000)
    monkeypatch.setattr(lmdb_file, "_room_for", lambda size: size <= 40 << 20)
    spill.add(entries[5000:], 1_500_000)
    assert len(list(spill.scan(b""))) == 20_000
    with pytest.raises(StateError, match=r"requires more than \d+ MiB of address space.*\n.*pyspark.memory"):
        spill.add(((b"x%06d" % number, bytes(1000)) for number in range(100_000)), 10)
    spill.close()


@given(room=st.integers(20, 44))
@settings(max_examples=25)
def test_the_map_is_as_large_as_there_is_address_space(room: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lmdb_file, "_room_for", lambda size: size <= 1 << room)
        spill = Spill(MemoryReader({}))
        size: Any = spill._environment.info()["map_size"]
        spill.close()
    assert size == max(1 << 20, min(64 << 30, 1 << (room - 1)))

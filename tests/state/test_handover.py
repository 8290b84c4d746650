"""Several processes take turns with one subtask; each keeps its caches and takes over what the others changed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common import Time, Types
from firesteel.datastream.functions import AggregateFunction
from firesteel.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from firesteel.datastream.window import TimeWindow
from firesteel.functions.windows import WINDOW_CODEC
from firesteel.runtime.timers import TimerQueue
from firesteel.state.keys.groups import state_key
from firesteel.state.live import handover
from firesteel.state.live.backend import KeyedStateBackend
from firesteel.state.live.durable import RunRef, StateVersion
from firesteel.state.live.handed import MOST_MISSED, hand_over, missed
from tests.state.memory import MemoryReader

KEYS = [state_key(key) for key in ("a", "b", "ü\0", 1, -5, 2**70, (1, "x"), 2.5)]
WINDOWS = [TimeWindow(0, 10), TimeWindow(10, 20)]
STEP_MS = 40
TTL_MS = 100


@dataclass
class Point:
    x: int
    tags: list[str] = field(default_factory=list)


VALUES = [
    0,
    -1,
    2**80,
    "s",
    "\ud800",
    b"b",
    1.5,
    True,
    (1, "a"),
    (1, (2,)),
    [1, 2],
    [[1]],
    {"k": [1]},
    Point(3),
]


class Total(AggregateFunction):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


def expiring(descriptor: Any) -> Any:
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(TTL_MS)).build())
    return descriptor


class Process:
    """A worker process: a backend with state of every kind."""

    def __init__(self, **limits: Any) -> None:
        backend = self.backend = KeyedStateBackend(16, WINDOW_CODEC, **limits)
        TimerQueue(backend, "event")
        windowed = backend.windowed
        self.version: StateVersion | None = None
        self.values = [
            backend.value_state(ValueStateDescriptor("any")),
            backend.value_state(expiring(ValueStateDescriptor("expiring"))),
            backend.value_state(ValueStateDescriptor("windowed"), windowed),
        ]
        self.longs = backend.value_state(ValueStateDescriptor("long", Types.LONG()))
        self.lists = [
            backend.list_state(ListStateDescriptor("list")),
            backend.list_state(expiring(ListStateDescriptor("expiring list"))),
            backend.list_state(ListStateDescriptor("windowed list"), windowed),
        ]
        self.folds = [
            backend.reducing_state(ReducingStateDescriptor("most", max, Types.INT())),
            backend.aggregating_state(
                AggregatingStateDescriptor("total", Total(), Types.PICKLED_BYTE_ARRAY())
            ),
        ]
        self.maps = [
            backend.map_state(MapStateDescriptor("map", Types.STRING(), Types.INT())),
            backend.map_state(expiring(MapStateDescriptor("expiring map", Types.STRING(), Types.INT()))),
            backend.broadcast_state(MapStateDescriptor("rules", Types.STRING(), Types.INT())),
        ]
        # Some states are declared by an epoch that needs them, and only in the process that runs it.
        self.late: Any = None

    def current(self, key: Any, window: TimeWindow) -> None:
        self.backend.keyed.current = key
        self.backend.windowed.current = (key, window)

    def act(self, rnd: random.Random) -> None:
        self.current(rnd.choice(KEYS), rnd.choice(WINDOWS))
        kind, number = rnd.randrange(7), rnd.randrange(9)
        if kind == 0:
            rnd.choice(self.values).update(rnd.choice([*VALUES, None]))
        elif kind == 1:
            self.longs.update((self.longs.value() or 0) + number)
        elif kind == 2:
            state = rnd.choice(self.lists)
            rnd.choice([lambda: state.add(rnd.choice(VALUES)), lambda: state.update([number]), state.clear])()
        elif kind == 3:
            state = rnd.choice(self.folds)
            state.clear() if number == 8 else state.add(number)
        elif kind == 4:
            state, name = rnd.choice(self.maps), rnd.choice("xyz")
            rnd.choice([lambda: state.put(name, number), lambda: state.remove(name), state.clear])()
        elif kind == 5:
            self.see()
        else:
            self.late = self.late or self.backend.value_state(ValueStateDescriptor("late"))
            self.late.update(number)

    def see(self) -> list[Any]:
        """All that a program can see at the current key."""
        return [
            *(state.value() for state in (*self.values, self.longs)),
            *(list(state.get()) for state in self.lists),
            *(state.get() for state in self.folds),
            *(list(state.items()) for state in self.maps),
        ]

    def see_all(self) -> list[Any]:
        seen = []
        for key in KEYS:
            for window in WINDOWS:
                self.current(key, window)
                seen.append(self.see())
        return seen


def run_ref(epoch: int, attempt: int) -> RunRef:
    return RunRef(f"runs/op/{epoch:012d}-00000-{attempt}.run", 1, 1, "sum", epoch, "op", 0, 0, 15)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32), limited=st.booleans())
def test_a_cache_that_took_over_shows_what_the_store_has(tmp_path_factory, seed, limited):
    rnd = random.Random(seed)
    directory = tmp_path_factory.mktemp("copy")
    limits = {"cache_limit": 6, "memory_limit": rnd.choice([2_000, 20_000, 1 << 20])} if limited else {}
    processes = [Process(**limits) for _ in range(3)]
    entries: dict[bytes, bytes] = {}
    committed = StateVersion("history", 0, 0, None)
    for epoch in range(1, 16):
        now = epoch * STEP_MS
        at = rnd.randrange(3)
        for attempt in range(rnd.choice([1, 1, 2])):  # two: the first is lost after it has handed over
            process = processes[at]
            begin(process, entries, committed, directory, now)
            for _ in range(rnd.choice([0, 3, 30])):
                process.act(rnd)
                process.backend.relax()
            changes = list(process.backend.changes())
            after = StateVersion("history", 0, epoch, run_ref(epoch, attempt) if changes else None)
            changed = process.backend.changed()
            if changed is not None:
                hand_over(directory, committed, after, changed)
            process.version = after
            if rnd.random() < 0.5:
                at = rnd.randrange(3)
            if rnd.random() < 0.1:
                processes[at] = Process(**limits)  # it is killed
        committed = after
        for key, value in changes:
            if value is None:
                entries.pop(key, None)
            else:
                entries[key] = value
        assert_shows_the_store(rnd.choice(processes), entries, committed, directory, now + STEP_MS)


def begin(process, entries, committed, directory, now):
    found = None if process.version is None else missed(directory, process.version, committed)
    process.reader = MemoryReader(dict(entries))
    process.backend.begin(process.reader, found is not None, now)
    for changes in found or ():
        process.backend.adopt(changes)


def assert_shows_the_store(process, entries, committed, directory, now):
    """An epoch that only looks; its changes (expired entries) are lost."""
    fresh = Process()
    fresh.backend.begin(MemoryReader(dict(entries)), False, now)
    begin(process, entries, committed, directory, now)
    assert process.see_all() == fresh.see_all()
    process.version = None


def handed(process, first, *, to, entries, epochs=1):
    """Hand over what the process changed, from version `first` on; return the version after it."""
    changes = dict(process.backend.changes())
    entries.update(changes)
    after = StateVersion("history", 0, first.epoch + 1, run_ref(first.epoch + 1, 0) if changes else None)
    hand_over(to, first, after, process.backend.changed())
    process.version = after
    return after


@pytest.fixture
def turns(tmp_path):
    """One process has cached a key, which another one has changed since."""
    entries: dict[bytes, bytes] = {}
    start, one, other = StateVersion("history", 0, 0, None), Process(), Process()
    begin(one, entries, start, tmp_path, 0)
    one.current("a", WINDOWS[0])
    one.longs.update(1)
    one.values[0].update(Point(1))
    first = handed(one, start, to=tmp_path, entries=entries)
    begin(other, entries, first, tmp_path, 0)
    other.current("a", WINDOWS[0])
    other.longs.update(2)
    other.values[0].update(Point(2))
    second = handed(other, first, to=tmp_path, entries=entries)
    return one, entries, second


def test_a_new_value_is_not_read_again_and_an_object_is(tmp_path, turns):
    one, entries, committed = turns
    begin(one, entries, committed, tmp_path, 0)
    one.current("a", WINDOWS[0])
    assert one.longs.value() == 2
    assert one.reader.gets == 0
    assert one.values[0].value() == Point(2)
    assert one.reader.gets == 1


@pytest.mark.parametrize("epochs", [1, MOST_MISSED - 1, MOST_MISSED])
def test_a_cache_survives_epochs_without_changes_up_to_a_limit(tmp_path, turns, epochs):
    one, entries, committed = turns
    other = Process()
    for _ in range(epochs):
        begin(other, entries, committed, tmp_path, 0)
        committed = handed(other, committed, to=tmp_path, entries=entries)
    assert (missed(tmp_path, one.version, committed) is not None) == (epochs < MOST_MISSED)
    begin(one, entries, committed, tmp_path, 0)
    one.current("a", WINDOWS[0])
    assert one.longs.value() == 2
    assert one.reader.gets == (epochs == MOST_MISSED)


def test_only_the_committed_attempt_counts(tmp_path, turns):
    one, entries, committed = turns
    lost = Process()
    begin(lost, entries, committed, tmp_path, 0)
    lost.current("a", WINDOWS[0])
    lost.longs.update(99)
    after = StateVersion("history", 0, committed.epoch + 1, run_ref(committed.epoch + 1, 7))
    assert list(lost.backend.changes())
    hand_over(tmp_path, committed, after, lost.backend.changed())
    again = handed(Process(), committed, to=tmp_path, entries=entries)
    assert missed(tmp_path, after, again) is None
    begin(one, entries, again, tmp_path, 0)
    one.current("a", WINDOWS[0])
    assert one.longs.value() == 2


def test_other_histories_and_missing_or_broken_files_end_the_cache(tmp_path, turns):
    one, _, committed = turns
    elsewhere = StateVersion("another", 0, committed.epoch, committed.run)
    assert missed(tmp_path, one.version, elsewhere) is None
    assert missed(tmp_path, committed, one.version) is None
    [file] = [path for path in tmp_path.iterdir() if path.name.startswith("000000000002")]
    file.write_bytes(b"")
    assert missed(tmp_path, one.version, committed) is None
    file.unlink()
    assert missed(tmp_path, one.version, committed) is None


def test_files_do_not_pile_up(tmp_path):
    committed = StateVersion("history", 0, 0, None)
    for _ in range(100):
        committed = handed(Process(), committed, to=tmp_path, entries={})
    assert MOST_MISSED <= len(list(tmp_path.iterdir())) <= 3 * MOST_MISSED + 1


def test_a_disk_that_cannot_be_written_costs_the_caches_only(tmp_path, turns, caplog):
    one, entries, committed = turns
    occupied = tmp_path / "occupied"
    occupied.write_text("")
    other = Process()
    begin(other, entries, committed, occupied, 0)
    after = handed(other, committed, to=occupied / "below", entries=entries)
    assert "caches cannot be handed over" in caplog.text
    occupied.unlink()
    assert missed(occupied / "below", one.version, after) is None


def test_changes_that_memory_does_not_hold_are_not_handed_over():
    process = Process(memory_limit=3_000)
    process.backend.begin(MemoryReader({}), False, 0)
    for number in range(500):
        process.current(number, WINDOWS[0])
        process.longs.update(number)
        process.backend.relax()
    assert len(list(process.backend.changes())) == 500
    assert process.backend.changed() is None


def test_what_is_taken_over_stays_within_the_memory_limit(tmp_path):
    entries: dict[bytes, bytes] = {}
    committed = StateVersion("history", 0, 0, None)
    small, large = Process(memory_limit=20_000), Process()
    begin(small, entries, committed, tmp_path, 0)
    small.version = committed
    for epoch in range(4):
        begin(large, entries, committed, tmp_path, 0)
        for number in range(500):
            large.current(epoch * 500 + number, WINDOWS[0])
            large.longs.update(number)
        committed = handed(large, committed, to=tmp_path, entries=entries)
    begin(small, entries, committed, tmp_path, 0)
    assert 0 < small.backend.cached_entries < 100
    assert small.backend.changed() == []  # nothing has been moved out of memory


def test_what_memory_has_no_room_for_is_not_kept_to_be_handed_over() -> None:
    backend = KeyedStateBackend(128, WINDOW_CODEC)
    value = backend.value_state(ValueStateDescriptor("value", Types.STRING()))
    backend.begin(MemoryReader({}), False)
    backend.keyed.current = "a"
    value.update("spilled")
    backend.spill()
    backend.keyed.current = "b"
    value.update("in memory")
    assert len([*backend.changes()]) == 2
    assert backend.changed() is None
    backend.begin(MemoryReader({}), False)
    value.update("again")
    assert len([*backend.changes()]) == 1
    changed = backend.changed()
    assert changed is not None
    assert [(each.keys, each.values) for each in changed] == [(["b"], ["again"])]
    backend.close()


def test_changes_are_handed_over_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover, "_PART", 2)
    before, after = (StateVersion("lineage", 0, epoch, None) for epoch in (1, 2))
    one, other = TimeWindow(0, 5), TimeWindow(5, 10)
    collected = handover.Handover(WINDOW_CODEC)
    collected.note(1, ["a", "b", "c", "d", "e"], [1, None, 3, 4, 5])
    collected.note(2, [("a", one), ("b", other), ("c", one)], None)
    hand_over(tmp_path, before, after, collected.take() or [])
    (step,) = missed(tmp_path, before, after) or ()
    read = {}
    for part in step:
        assert len(part.keys) <= 2
        currents = collected.currents_of(part)
        read.update({(part.state_id, each): None for each in currents})
        if part.values is not None:
            read.update(zip([(part.state_id, each) for each in currents], part.values, strict=True))
    assert read == {
        **{(1, key): value for key, value in zip("abcde", [1, None, 3, 4, 5], strict=True)},
        (2, ("a", one)): None,
        (2, ("b", other)): None,
        (2, ("c", one)): None,
    }

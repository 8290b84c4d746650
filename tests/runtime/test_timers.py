"""The timer queue equals a sorted set of timers, wherever epochs end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firesteel.common.errors import ProgramError
from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.functions.windows import WINDOW_CODEC, TimeWindow
from firesteel.runtime import timers
from firesteel.runtime.timer_keys import TimerKeys
from firesteel.state.keys.composite import key_segment
from firesteel.state.keys.groups import state_key
from tests.state.memory import MemoryStore

Timer = tuple[int, Any]
CURRENTS = [
    *map(state_key, ["a", "b", "a\0", "", "ä", 1, -1, 2**70, (1, "x"), 1.0]),
    ("a", TimeWindow(0, 10)),
    ("a", TimeWindow(-10, 0)),
    (1, TimeWindow(0, 10)),
]
TIMERS = st.tuples(
    st.one_of(st.integers(0, 3), st.sampled_from([MIN_WATERMARK, -1, 9, MAX_WATERMARK])), st.integers(0, 2)
)
STEPS = st.one_of(
    st.tuples(st.just("register"), TIMERS),
    st.tuples(st.just("register"), TIMERS),
    st.tuples(st.just("delete"), TIMERS),
    st.tuples(st.just("pop"), st.tuples(st.integers(-1, 5), st.integers(0, 5))),
    st.tuples(st.just("pop and register"), st.tuples(st.integers(-1, 5), TIMERS)),
    st.tuples(st.just("pop and delete"), st.tuples(st.integers(-1, 5), TIMERS)),
    st.tuples(st.just("pop and spill"), st.tuples(st.integers(-1, 5), st.none())),
    st.tuples(st.just("epoch"), st.booleans()),
    st.tuples(st.sampled_from(["crash", "spill"]), st.none()),
)


def place(timer: Timer) -> tuple[int, bytes]:
    time, current = timer
    if isinstance(current, tuple):
        window = WINDOW_CODEC.encode(current[1])
        return time, key_segment(current[0]) + len(window).to_bytes(4, "big") + window
    return time, key_segment(current)


class Model:
    """The timers that are set, and those that were when the epoch began."""

    def __init__(self) -> None:
        self.timers: set[Timer] = set()
        self.committed: set[Timer] = set()
        self.currents: list[Any] = []

    def first(self) -> Timer | None:
        return min(self.timers, key=place, default=None)


def act(store: MemoryStore, model: Model, step: str, argument: Any) -> None:
    if step in ("register", "delete"):
        timer = argument[0], model.currents[argument[1]]
        if step == "register":
            store.queue.register(*timer)
            model.timers.add(timer)
        else:
            store.queue.delete(*timer)
            model.timers.discard(timer)
    elif step == "spill":
        store.backend.spill()
    elif step == "epoch":
        store.next_epoch(keep=argument)
        model.committed = set(model.timers)
    elif step == "crash":
        store.restart()
        model.timers = set(model.committed)
    elif step == "pop":
        pop(store, model, argument[0], None, None)
    else:
        pop(store, model, argument[0], step.removeprefix("pop and "), argument[1])


def pop(store: MemoryStore, model: Model, upto: int, action: str | None, timer: Any) -> None:
    for time, current in store.queue.pop_due(upto):
        fired = (time, current)
        assert fired in model.timers
        assert time == min(model.timers, key=lambda each: each[0])[0] <= upto
        if action is None:
            assert fired == model.first()
        model.timers.discard(fired)
        if action is not None:
            act(store, model, action, timer)
            action = None
    assert all(time > upto for time, _ in model.timers)


@pytest.fixture(params=[1 << 14, 1], ids=["", "drawn-one-by-one"])
def drawn(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timers, "_DRAWN_AT_ONCE", request.param)
        yield


@pytest.mark.usefixtures("drawn")
@given(
    currents=st.lists(st.sampled_from(CURRENTS), min_size=3, max_size=3),
    steps=st.lists(STEPS, min_size=30, max_size=80),
)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_queue_equals_a_sorted_set(currents: list[Any], steps: list[tuple[str, Any]]) -> None:
    store, model = MemoryStore(max_parallelism=4), Model()
    model.currents = currents
    for step, argument in steps:
        act(store, model, step, argument)
        first = model.first()
        assert store.queue.next_due() == (first and first[0])
    store.next_epoch()
    assert len(store.entries) == len(model.timers)
    assert list(store.queue.pop_due(MAX_WATERMARK)) == sorted(model.timers, key=place)
    store.next_epoch()
    assert store.entries == {}


def test_a_timer_registered_while_popping_fires_in_its_turn() -> None:
    store = MemoryStore()
    queue = store.queue
    for time in (10, 20, 30):
        queue.register(time, "a")
    fired = []
    for time, current in queue.pop_due(25):
        fired.append((time, current))
        if (time, current) == (10, "a"):
            queue.register(15, "b")
            queue.register(10, "c")
            queue.register(99, "d")
    assert fired == [(10, "a"), (10, "c"), (15, "b"), (20, "a")]
    assert queue.next_due() == 30


def test_a_timer_fires_again_if_it_registers_itself_again() -> None:
    queue = MemoryStore().queue
    queue.register(10, "a")
    fired = 0
    for time, current in queue.pop_due(10):
        fired += 1
        if fired < 3:
            queue.register(time, current)
    assert fired == 3


def test_timers_of_one_time_fire_in_the_order_of_their_keys_whichever_epoch_they_are_of() -> None:
    keys = [f"key-{number:02}" for number in range(20)]
    for epochs in (False, True):
        store = MemoryStore()
        for key in reversed(keys):
            store.queue.register(5, key)
            if epochs:
                store.next_epoch()
        assert [current for _, current in store.queue.pop_due(5)] == keys


@given(
    st.dictionaries(
        st.one_of(st.integers(-3, 3), st.sampled_from([MIN_WATERMARK, MAX_WATERMARK])),
        st.sets(st.one_of(st.integers(-3, 3), st.sampled_from([-(2**63), 2**63 - 1, 2**63])), max_size=4),
        max_size=4,
    )
)
def test_timers_of_integer_keys_are_stored_in_bulk_as_they_are_one_by_one(
    registered: dict[int, set[int]],
) -> None:
    keys = TimerKeys(7, 128, WINDOW_CODEC)
    one_by_one = list(keys._one_by_one(registered))
    assert one_by_one == sorted(one_by_one)
    assert list(keys.changes(registered, {}, ())) == [(key, b"") for key in one_by_one]
    fits = all(-(2**63) <= key < 2**63 for currents in registered.values() for key in currents)
    if any(registered.values()):
        assert keys._in_bulk(registered) == (one_by_one if fits else None)


def test_a_timer_that_fired_and_is_set_again_is_stored() -> None:
    store = MemoryStore()
    for key in (1, 2, 3):
        store.queue.register(5, key)
    store.next_epoch()
    for _, key in store.queue.pop_due(5):
        if key == 2:
            store.queue.delete(9, 1)
            store.queue.register(6, 2)
    store.queue.register(5, 3)
    store.next_epoch()
    assert list(store.queue.pop_due(MAX_WATERMARK)) == [(5, 3), (6, 2)]


def test_stored_timers_fire_in_order_while_others_of_their_time_are_set_and_removed() -> None:
    store = MemoryStore(max_parallelism=4)
    for time in (1, 2):
        for key in ("a", "c", "e", "g"):
            store.queue.register(time, key)
    store.next_epoch()
    fired = []
    for time, key in store.queue.pop_due(2):
        fired.append((time, key))
        if (time, key) == (1, "c"):
            store.queue.delete(1, "e")
            store.queue.delete(1, "c")
            store.queue.register(1, "f")
            store.queue.delete(2, "a")
    assert fired == [(1, "a"), (1, "c"), (1, "f"), (1, "g"), (2, "c"), (2, "e"), (2, "g")]
    store.next_epoch()
    assert store.entries == {}


def test_timers_that_are_not_due_are_not_read() -> None:
    store = MemoryStore(max_parallelism=4)
    for number in range(1000):
        store.queue.register(1000 + number, number)
    store.next_epoch()
    read = 0
    scan = store.reader.scan

    def counting(prefix: bytes, start: bytes | None = None) -> Any:
        nonlocal read
        for entry in scan(prefix, start):
            read += 1
            yield entry

    store.reader.scan = counting  # type: ignore[method-assign]
    assert len(list(store.queue.pop_due(1009))) == 10
    assert read <= 10 + 4
    assert store.reader.scans <= 4 + 1


def test_timers_set_and_removed_in_an_epoch_are_not_stored_if_they_fired() -> None:
    store = MemoryStore()
    store.queue.register(1, "a")
    store.queue.register(1, "b")
    store.queue.delete(1, "b")
    assert list(store.queue.pop_due(3)) == [(1, "a")]
    assert store.next_epoch() == []


def test_stored_timers_that_were_deleted_do_not_fire_with_others_of_their_time() -> None:
    keys = [f"key-{number}" for number in range(8)]
    store = MemoryStore(max_parallelism=4)
    for key in keys:
        store.queue.register(5, key)
    store.next_epoch()
    for key in keys[::2]:
        store.queue.delete(5, key)
    store.queue.register(5, keys[0])
    assert [current for _, current in store.queue.pop_due(5)] == [keys[0], *keys[1::2]]
    store.next_epoch()
    assert store.entries == {}


def test_a_time_beyond_64_bits_is_refused() -> None:
    queue = MemoryStore().queue
    with pytest.raises(ProgramError, match="a timer requires a time in milliseconds that fits 64 bits"):
        queue.register(2**63, "a")


def test_a_timer_without_a_current_key_is_refused() -> None:
    store = MemoryStore()
    store.queue.register(1, None)
    with pytest.raises(ProgramError, match="only while an element or a timer is processed"):
        store.commit()


def test_a_timer_registered_for_the_time_that_fires_takes_its_place_among_the_keys() -> None:
    queue = MemoryStore().queue
    for key in ("a", "c", "d"):
        queue.register(0, key)
    fired = []
    for _, key in queue.pop_due(0):
        fired.append(key)
        if key == "a":
            queue.register(0, "b")
            queue.register(0, "e")
            queue.delete(0, "d")
    assert fired == ["a", "b", "c", "e"]


@pytest.mark.parametrize("windowed", [False, True])
@pytest.mark.parametrize("spilled", [False, True])
def test_many_timers_of_one_time_are_read_some_at_a_time_and_fire_in_order(
    monkeypatch: pytest.MonkeyPatch, windowed: bool, spilled: bool
) -> None:
    monkeypatch.setattr(timers, "_DRAWN_AT_ONCE", 7)
    monkeypatch.setattr(timers, "_FIRED_BETWEEN_LOOKS", 10)
    keys = [f"key-{number:03}" for number in range(200)]
    currents: list[Any] = [(key, TimeWindow(0, 6)) for key in keys] if windowed else list(keys)
    store = MemoryStore(max_parallelism=16)
    for current in currents[::2]:
        store.queue.register(5, current)
    store.next_epoch()
    for current in currents[1::2]:
        store.queue.register(5, current)
    for current in currents[::20]:
        store.queue.delete(5, current)
    fired, most = [], 0
    for _, current in store.queue.pop_due(5):
        fired.append(current)
        number = currents.index(current)
        if number % 50 == 2:
            store.queue.delete(5, currents[number + 2])  # stored, and it may not have been read yet
            store.queue.delete(5, current)
            store.queue.register(5, currents[-1])
        if spilled and number % 30 == 5:
            store.backend.spill()
        most = max(most, len(store.queue._buckets[5]) if 5 in store.queue._buckets else 0)
    gone = {*currents[::20], *currents[4::50]}
    assert fired == [current for current in currents if current not in gone]
    registered = len(keys) // 2
    assert spilled or most <= registered + max(7, registered // 4)
    store.next_epoch()
    assert store.entries == {}


def test_many_timers_that_fire_do_not_stay_in_memory() -> None:
    store = MemoryStore(memory_limit=200_000)
    for number in range(5_000):
        store.queue.register(number, "a")
    store.next_epoch()
    fired = 0
    for time, _ in store.queue.pop_due(5_000):
        assert time == fired
        store.queue.register(10_000 + time, "a")
        fired += 1
        assert store.queue.weigh().dirty < 600_000
    assert fired == 5_000
    store.next_epoch()
    assert [time for time, _ in store.queue.pop_due(20_000)] == list(range(10_000, 15_000))

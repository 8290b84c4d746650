"""Reading state of every kind, by key and in order, against what a program must have left in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from itertools import chain
from pathlib import Path

import msgspec
import pytest

from firesteel.common.errors import KeyEncodingError, StateError
from firesteel.functions.windows import TimeWindow
from firesteel.queryable.access import contents_of
from firesteel.queryable.contents import ABSENT, Bounds, StateContents, Windowed, keys_within
from firesteel.queryable.forms import Form, JsonForm, PythonForm, from_json
from firesteel.queryable.reader import StateReader
from firesteel.state.keys.groups import state_key
from tests.queryable.jobs import count_job
from tests.state import kinds

KEYS = sorted({key for key, *_ in kinds.EVENTS})

pytestmark = pytest.mark.usefixtures("working_copies")


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The state directory of a program that has ended."""
    return kinds.run(tmp_path_factory.mktemp("kinds") / "state", parallelism=2, epoch_records=20)


@pytest.fixture
def reader(left: str) -> Iterator[StateReader]:
    reader = StateReader(left)
    yield reader
    reader.close()


def contents(
    reader: StateReader, operator: str, state: str, form: Form | None = None, epoch: int | None = None
) -> StateContents:
    found = contents_of(reader.snapshot(operator, epoch), state, form or PythonForm())
    assert isinstance(found, StateContents)
    return found


def test_values_of_every_kind_by_key(reader: StateReader):
    expected = defaultdict(list)
    for name, rows in kinds.expected().items():
        for key, *rest in rows:
            expected[name, key].append(rest)
    for name in ("count", "highest", "mean", "last"):
        assert contents(reader, "kinds", name).of(KEYS) == [expected[name, key][0][0] for key in KEYS]
    visits = contents(reader, "kinds", "visits").of(KEYS)
    assert [[tuple(row) for row in rows] for rows in visits] == [
        [row for _, row in expected["visits", key]] for key in KEYS
    ]
    assert contents(reader, "kinds", "amounts").of(KEYS) == [
        dict(map(tuple, expected["amounts", key])) or ABSENT for key in KEYS
    ]
    assert contents(reader, "kinds", "count").of(["nobody", KEYS[0], "nobody"])[::2] == [ABSENT, ABSENT]


def test_windows_timers_and_broadcast_state(reader: StateReader):
    events = kinds.EVENTS[:60]  # at the end of the input all windows and timers fire
    last = events[-1][2]
    held = defaultdict(lambda: defaultdict(list))
    for event in events:
        start = event[2] - event[2] % 5000
        if start + 5000 > last:
            held[event[0]][TimeWindow(start, start + 5000)].append(event)
    found = contents(reader, "sizes", "window-contents", epoch=3).of(KEYS)
    shown = [ABSENT if each is ABSENT else {one.window: one.content for one in each} for each in found]
    assert shown == [dict(held[key]) or ABSENT for key in KEYS]
    assert contents(reader, "limits", "rules").of(["high", "low", "none"]) == [5, None, ABSENT]
    timers = contents(reader, "kinds", "event", epoch=3).of(["user3"])[0]
    assert timers == [Windowed(None, 1_000_000 + number) for key, number, _ in events if key == "user3"]


@pytest.mark.parametrize("most", [1, 3, 100])
def test_pages_together_are_all_keys_in_order(reader: StateReader, most: int):
    for state in ("count", "visits", "amounts", "event"):
        found = contents(reader, "kinds", state, epoch=3)
        pages, after = [], b""
        while after is not None:
            page = found.page(Bounds(), after, most)
            assert len(page.items) <= most
            pages.append(page.items)
            after = page.next
        items = list(chain.from_iterable(pages))
        if state == "event":
            assert [one.content for _, (one,) in items] == [
                1_000_000 + number for _, number, _ in kinds.EVENTS[:60]
            ]
        else:
            assert items == [
                (key, value) for key, value in zip(KEYS, found.of(KEYS), strict=True) if value is not ABSENT
            ]


def test_prefixes_and_ranges(reader: StateReader):
    found = contents(reader, "kinds", "count")

    def within(*bounds: str | None) -> list[str]:
        return [key for key, _ in found.page(keys_within(*bounds, "a state"), b"", 100).items]

    assert within("user1", None, None) == ["user1", "user10"]
    assert within("x", None, None) == []
    assert within(None, "user2", "user4") == ["user2", "user3"]
    assert within(None, "user8", None) == ["user8", "user9"]
    assert within(None, None, "user10") == ["user0", "user1"]
    with pytest.raises(StateError, match="both"):
        within("user", "a", None)


def test_entries_of_a_map_one_by_one_and_in_pages(reader: StateReader):
    found = contents(reader, "kinds", "amounts")
    whole = found.of(["user3"])[0]
    assert found.entries_of("user3", [0, 1, 2, 7]) == [whole[0], whole[1], whole[2], ABSENT]
    first = found.entries_page("user3", b"", 2)
    second = found.entries_page("user3", first.next, 2)
    assert (first.items + second.items, second.next) == (sorted(whole.items()), None)
    with pytest.raises(StateError, match="has no entries"):
        contents(reader, "kinds", "count").entries_page("user3", b"", 2)


def test_json_of_every_kind(reader: StateReader):
    def of(operator: str, state: str, key: str) -> object:
        return msgspec.json.decode(
            msgspec.json.encode(contents(reader, operator, state, JsonForm()).of([key])[0])
        )

    numbers = [number for key, number, _ in kinds.EVENTS if key == "user1"]
    assert of("kinds", "count", "user1") == len(numbers)
    assert of("kinds", "mean", "user1") == [sum(numbers), len(numbers)]
    assert of("kinds", "anything", "user1") == {"seen": [numbers[-1]]}
    amounts = {number % 3: Decimal(number) / 4 for number in numbers}
    assert from_json(of("kinds", "amounts", "user1")) == amounts
    first = of("kinds", "visits", "user1")[0]
    assert from_json(first) == {"at": kinds.visit_of(numbers[0])[0], "page": kinds.visit_of(numbers[0])[1]}
    assert of("limits", "rules", "low") is None


@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_an_earlier_epoch_is_as_it_was(reader: StateReader, epoch: int):
    seen = [key for key, *_ in kinds.EVENTS[: 20 * epoch]]
    found = contents(reader, "kinds", "count", epoch=epoch).of(KEYS)
    assert found == [seen.count(key) or ABSENT for key in KEYS]


def test_what_is_not_there_is_said_with_what_is(reader: StateReader):
    with pytest.raises(StateError, match="requires an operator with the uid, name or id 'kid'"):
        reader.snapshot("kid")
    with pytest.raises(StateError, match=r"has no state 'cnt'; got .*count \(keyed ValueState<LONG>\)"):
        contents(reader, "kinds", "cnt")
    with pytest.raises(StateError, match="requires epoch 99; got the epochs 1, 2, 3"):
        reader.snapshot("kinds", 99)


def test_lists_without_keys_are_refused_and_nothing_of_a_program_is_unpickled(
    reader: StateReader, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("pickle.loads", None)
    with pytest.raises(StateError, match=r"has lists without keys .* which the state processor reads"):
        contents(reader, "seen", "seen")
    with pytest.raises(StateError, match=r"an operator with the uid, name or id 'sen'; got .*seen"):
        reader.snapshot("sen")


def test_arrangements_by_key_by_other_columns_and_in_pages(tmp_path: Path):
    job = count_job(tmp_path)
    reader = StateReader(job.url)
    try:
        counts = contents_of(reader.snapshot("Count"), "counts", JsonForm())
        assert counts.of([{"key": 0}, {"key": 10**6}]) == [[{"key": 0, "count": job.model[0]}], ABSENT]
        with_count = [{"key": key, "count": 1} for key, count in sorted(job.model.items()) if count == 1]
        by_count = counts.of([{"count": 1}])[0]
        assert (by_count or []) == with_count or sorted(by_count, key=str) == sorted(with_count, key=str)
        pages, after = [], b""
        while after is not None:
            page = counts.page(after, 3)
            pages += [row for _, row in page.items]
            after = page.next
        assert sorted((row["key"], row["count"]) for row in pages) == sorted(job.model.items())
        records = contents_of(reader.snapshot("Count"), "records", JsonForm())
        assert {row["$weight"] for row in records.of([{"key": 0}])[0]} == {1}
        recent = contents_of(reader.snapshot("Count"), "recent", JsonForm())
        assert len(recent.of([{"key": 0}])[0]) == sum(0 in keys for keys in job.epochs[-3:])
        for wrong in ({"kye": 1}, {"key": "a"}, {}):
            with pytest.raises(KeyEncodingError):
                counts.of([wrong])
    finally:
        reader.close()


def test_a_reader_follows_the_epochs_of_arrangements(tmp_path: Path):
    job = count_job(tmp_path)
    reader = StateReader(job.url)
    try:
        for number in range(6):
            job.parallelism = 1 + number % 3
            job.epoch([number % 3, 4])
            snapshot = reader.snapshot("Count")
            found = contents_of(snapshot, "counts", PythonForm()).of([{"key": 4}, {"key": 0}])
            assert [rows[0]["count"] for rows in found] == [job.model[4], job.model[0]]
            records = contents_of(snapshot, "records", PythonForm()).of([{"key": 4}])[0]
            assert len(records) == job.model[4]
    finally:
        reader.close()


def test_a_key_is_looked_up_in_its_own_kind(reader: StateReader):
    assert contents(reader, "kinds", "count").of([state_key(("user3", 1)), 5]) == [ABSENT, ABSENT]

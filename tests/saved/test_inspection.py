"""Looking into saved state, against what a program must have left in it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from firesteel.common.errors import StateCorruptedError, StateError
from firesteel.common.typeinfo import Types
from firesteel.functions.windows import WINDOW_CODEC, TimeWindow
from firesteel.graph.uids import id_of_uid
from firesteel.saved.columns import type_of_keys
from firesteel.saved.entries import value_decoder, value_type
from firesteel.saved.inspection import SavedState
from firesteel.saved.row_columns import RowColumns, RowTypes
from firesteel.state.keys.groups import state_key, user_key
from firesteel.state.live import sweeping
from firesteel.testing import ManualClock
from tests.recovery.jobs import Watch, start
from tests.state import kinds

pytestmark = pytest.mark.usefixtures("working_copies")


def run(directory: Path, **settings) -> SavedState:
    """Run the program to its end and open what it left."""
    return SavedState.open(kinds.run(directory, **settings))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> SavedState:
    return run(tmp_path_factory.mktemp("kinds") / "state")


def rows(saved, uid, name, key=None, scope="keyed"):
    """The rows of a state as tuples: key, place if there is one, value."""
    operator = saved.operator(uid, id_of_uid(uid))
    schema = operator.state(name, (scope,))
    decode = value_decoder(value_type(schema), name)
    found = []
    for row in saved.rows(operator, schema, WINDOW_CODEC, key=key):
        value = decode(row.value) if schema["kind"] != "timers" else None
        place = user_key(row.place) if type(row.place) is bytes else row.place
        shown = tuple(value) if schema["name"] == "visits" else value
        shown = repr(value) if schema["name"] == "anything" else shown
        found.append(tuple(part for part in (row.key, row.namespace, place, shown) if part is not None))
    return sorted(found)


@pytest.mark.parametrize("parallelism", [1, 2, 3])
@pytest.mark.parametrize("compact_every", [1, 2, 100])
def test_every_kind_of_keyed_state(tmp_path, parallelism, compact_every):
    saved = run(tmp_path / "state", parallelism=parallelism, compact_every=compact_every, epoch_records=20)
    for name, expected in kinds.expected().items():
        assert rows(saved, "kinds", name) == expected, name
    assert rows(saved, "limits", "rules", scope="broadcast") == [("high", 5), ("low",), ("mid", 3)]


@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_a_kept_epoch_is_as_it_was(saved, epoch):
    earlier = SavedState.open(saved.storage.url, epoch)
    events = kinds.EVENTS[: 30 * epoch]
    assert rows(earlier, "kinds", "count") == sorted(Counter(key for key, *_ in events).items())
    waiting = [
        (key, window, event)
        for event in events
        for key, at in [(event[0], event[2])]
        for window in [TimeWindow(at - at % 5000, at - at % 5000 + 5000)]
        if window.end > events[-1][2]
    ]
    found = rows(earlier, "sizes", "window-contents", scope="windowed")
    assert sorted((key, window, value) for key, window, *_, value in found) == sorted(waiting)
    timers = rows(earlier, "kinds", "event", scope="timers")
    assert timers == sorted((key, 1_000_000 + number) for key, number, _ in events)


def test_a_savepoint_is_read_as_a_state_directory_is(tmp_path):
    taken = []

    def act(handle, stats):
        if stats.epoch == 2:
            taken.append(handle.savepoint(str(tmp_path / "savepoints")))

    watch = Watch(act)
    with kinds.environment(tmp_path / "state", listeners=(watch,)) as env:
        kinds.build(env)
        start(env, watch).wait(60)
    savepoint = SavedState.open(taken[0].result(10))
    whole = SavedState.open(str(tmp_path / "state"), savepoint.manifest.epoch)
    assert savepoint.manifest.epoch == 2
    for name in kinds.expected():
        assert rows(savepoint, "kinds", name) == rows(whole, "kinds", name) != []
    with pytest.raises(StateError, match="requires epoch 1; got the epochs 2"):
        SavedState.open(savepoint.storage.url, 1)


def test_the_rows_of_one_key(saved):
    expected = kinds.expected()
    for name in expected:
        mine = [row for row in expected[name] if row[0] == "user3"]
        assert rows(saved, "kinds", name, key=state_key("user3")) == mine
    assert rows(saved, "kinds", "count", key=state_key("user")) == []
    earlier = SavedState.open(saved.storage.url, 2)
    timers = rows(earlier, "kinds", "event", key="user3", scope="timers")
    assert timers == sorted((key, 1_000_000 + at) for key, at, _ in kinds.EVENTS[:60] if key == "user3")


def test_what_has_expired_is_left_out_unless_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(sweeping, "LEAST", 0)  # else the last epochs remove it
    monkeypatch.setattr(sweeping, "PER_CHANGE", 0)
    clock = ManualClock(kinds.NOW)

    def act(handle, stats):
        if stats.epoch == 17:  # 119 of the 120 events
            clock.advance(60_000)

    watch = Watch(act)
    with kinds.environment(tmp_path / "state", epoch_records=7, clock=clock, listeners=(watch,)) as env:
        kinds.build(env)
        start(env, watch).wait(60)
    saved = SavedState.open(str(tmp_path / "state"))
    key, number, _ = kinds.EVENTS[-1]
    assert rows(saved, "kinds", "last") == [(key, number)]
    operator = saved.operator("every kind")
    assert saved.held(operator)[operator.state("last")["id"]].entries == 1
    part = saved.slice(operator, [operator.state("last")], expired=True)
    kept = [row for groups in operator.ranges() for row in part.rows(saved.storage, groups, WINDOW_CODEC)]
    stamps = {row.key: row.stamp for row in kept}
    assert stamps == {f"user{at}": kinds.NOW + (60_000 if f"user{at}" == key else 0) for at in range(11)}


def test_how_much_is_held(saved):
    operator = saved.operator("every kind")
    held = saved.held(operator)
    assert {
        schema["name"]: held[schema["id"]].entries
        for schema in operator.states()
        if schema["kind"] != "timers"
    } == {name: len(expected) for name, expected in kinds.expected().items()}
    limits = saved.operator("limits")
    assert saved.held(limits)[limits.state("rules")["id"]].entries == 3
    # State id and key group are 4 bytes, a text has a tag and a terminator of 2, and a small count is 1.
    counts = held[operator.state("count")["id"]].bytes
    assert counts == sum(4 + 1 + len(f"user{at}") + 2 + 1 for at in range(11))


def test_operator_list_state(saved):
    parts = saved.operator("seen").lists()["seen"]
    decode = value_decoder({"type": "INT"}, "seen")
    assert sorted(decode(item) for part in parts for item in part.elements) == list(range(120))
    assert saved.operator("every kind").lists() == {}


def test_keys_are_sampled_for_their_type(saved):
    keys = saved.some_keys(saved.operator("kinds", id_of_uid("kinds")), WINDOW_CODEC)
    assert set(keys) <= {f"user{at}" for at in range(11)}
    assert type_of_keys(keys) == Types.STRING()


def test_operators_are_found_by_uid_name_and_the_beginning_of_an_id(saved):
    found = saved.operator("kinds", id_of_uid("kinds"))
    assert saved.operator("every kind") == saved.operator(found.id[:6]) == saved.operator(found.id) == found
    with pytest.raises(
        StateError, match=r"requires one operator 'Collection Source'; got Collection Source \(id"
    ):
        saved.operator("Collection Source")
    with pytest.raises(StateError, match="uid, name or id 'other'; got every kind"):
        saved.operator("other", id_of_uid("other"))
    with pytest.raises(StateError, match=r"has no state 'cnt'; got amounts .keyed MapState<INT, BIG_DEC>"):
        found.state("cnt")


def test_a_damaged_run_and_a_directory_of_something_else_are_named(tmp_path):
    saved = run(tmp_path / "state")
    operator = saved.operator("every kind")
    path = tmp_path / "state" / operator.layers[0].runs[0].path
    path.write_bytes(b"x" + path.read_bytes()[1:])
    with pytest.raises(StateCorruptedError, match=path.name):
        rows(saved, "kinds", "count")
    with pytest.raises(StateError, match=r"requires a savepoint.*; got no such directory"):
        SavedState.open(str(tmp_path / "nothing"))
    assert not (tmp_path / "nothing").exists()
    with pytest.raises(StateError, match="got a directory that holds neither"):
        SavedState.open(str(tmp_path))


def test_columns_of_what_has_no_type_show_text_and_the_bytes_stored(saved):
    operator = saved.operator("every kind")
    schema = operator.state("anything")
    columns = RowColumns(schema, RowTypes(), "state 'anything'")
    assert columns.arrow_schema.names == ["key", "key_raw", "namespace", "value", "value_raw"]
    [row] = saved.rows(operator, schema, WINDOW_CODEC, key="user0")
    last = max(number for key, number, _ in kinds.EVENTS if key == "user0")
    assert columns.record(row) == {"key": "user0", "namespace": None, "value": f"{{'seen': [{last}]}}"}
    [batch] = columns.batches([row])
    assert batch.column("value_raw").to_pylist() == [row.value]

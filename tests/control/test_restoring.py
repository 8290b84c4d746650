"""Savepoints that jobs begin with, and state that the program has no operator for."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from firesteel.checkpoint.integrity import damage_of
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.retention import collect_garbage, kept_epochs
from firesteel.checkpoint.savepoint import open_savepoint
from firesteel.common import Types, WatermarkStrategy
from firesteel.common.errors import (
    ConfigurationError,
    FiresteelError,
    StateCorruptedError,
    StateError,
    StateMismatchError,
)
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.control.restoring import open_history
from firesteel.datastream.functions import (
    KeyedBroadcastProcessFunction,
    ProcessWindowFunction,
)
from firesteel.datastream.state import ListStateDescriptor, MapStateDescriptor
from firesteel.state.disk.copy import close_working_stores
from firesteel.testing import ScriptedSource
from tests.checkpoint import histories, test_retention
from tests.recovery import ledger
from tests.recovery.jobs import Watch, environment, start

NO_WATERMARKS = WatermarkStrategy.no_watermarks()
EVENTS = [(f"k{number % 6}", number) for number in range(72)]
RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
PER_EPOCH = 6
HALF = 6
OFTEN = MaintenancePolicy(3, 3, inline=True)


@pytest.fixture(autouse=True)
def _machine(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "machine"))
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    yield
    close_working_stores(tmp_path)
    for name in ("first", "second", "third"):
        ledger.forget(name)


class Apply(KeyedBroadcastProcessFunction):
    """Says what a key has seen so far by the rule of now; at the end, everything."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))

    def process_element(self, value, ctx):
        self.seen.add(value[1])
        ctx.timer_service().register_event_time_timer(1_000)
        yield "seen", value[0], len(list(self.seen.get()))

    def on_timer(self, timestamp, ctx):
        rule = ctx.get_broadcast_state(RULES).get(ctx.get_current_key())
        yield "end", ctx.get_current_key(), rule, tuple(self.seen.get())

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)
        yield from ()


class Windows(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "window", key, tuple(number for _, number in elements)


def program(env, name, uid="apply", windows=True):
    rules = env.from_source(
        ScriptedSource([(f"k{key}", key * 10) for key in range(6)]), NO_WATERMARKS, "rules"
    )
    events = env.from_source(ScriptedSource(EVENTS), NO_WATERMARKS, "events").uid("events")
    keyed = events.key_by(lambda event: event[0])
    applied = keyed.connect(rules.uid("rules").broadcast(RULES)).process(Apply()).uid(uid)
    if windows:
        counted = keyed.count_window(5).process(Windows()).uid("windows")
        applied = applied.union(counted)
    applied.sink_to(ledger.LedgerSink(name)).uid("ledger")


SEEN = [("seen", f"k{number % 6}", number // 6 + 1) for number in range(72)]
ENDS = [("end", f"k{key}", key * 10, tuple(range(key, 72, 6))) for key in range(6)]
WINDOWS = [
    ("window", f"k{key}", tuple(range(key, 72, 6))[first : first + 5]) for key in range(6) for first in (0, 5)
]


def whole() -> Counter:
    """What the program puts out, all of it."""
    return Counter([*SEEN, *ENDS, *WINDOWS])


def run(
    directory, name, restore_from=None, act=None, parallelism=2, build=program, max_parallelism=None, **more
):
    """Run the program with its state in `directory`/state; `act(handle, stats)` is called after each epoch."""
    watch = Watch(act or (lambda handle, stats: None))
    options = {"maintenance": OFTEN, "epoch_records": PER_EPOCH, "restore_from": restore_from, **more}
    with environment(directory, parallelism=parallelism, listener=watch, **options) as env:
        if max_parallelism is not None:
            env.set_max_parallelism(max_parallelism)
        build(env, name)
        handle = start(env, watch)
        return handle, handle.wait(60)


class Asked:
    """Asks a job for something after some epoch, and keeps the answer."""

    def __init__(self, epoch, ask):
        self.epoch, self.ask, self.answer = epoch, ask, None

    def __call__(self, handle, stats):
        if stats.epoch >= self.epoch and self.answer is None:
            self.answer = self.ask(handle)


@pytest.fixture
def savepoint(tmp_path):
    """A savepoint of the program in the middle, moved, without the job it is of; what that job had put out is lost."""
    asked = Asked(HALF, lambda handle: handle.stop(str(tmp_path / "taken")))
    run(tmp_path / "first", "first", act=asked)
    moved = tmp_path / "moved"
    Path(asked.answer.result(30)).rename(moved)
    shutil.rmtree(tmp_path / "first")
    close_working_stores(tmp_path)
    shutil.rmtree(tmp_path / "machine")
    return moved


def test_the_program_itself(tmp_path):
    run(tmp_path, "first")
    assert Counter(ledger.rows("first")) == whole()


@pytest.mark.parametrize("parallelism", [1, 2, 3, 5])
def test_a_savepoint_that_was_moved_goes_on_at_any_parallelism(tmp_path, savepoint, parallelism):
    done = Counter(ledger.rows("first"))
    assert 0 < done.total() < whole().total()
    run(tmp_path / "second", "second", str(savepoint), parallelism=parallelism)
    assert done + Counter(ledger.rows("second")) == whole()


@pytest.mark.parametrize("at", [1, 2, 5, 9])
def test_a_savepoint_of_a_running_job_is_of_one_epoch_and_the_job_goes_on(tmp_path, at):
    asked = Asked(at, lambda handle: (handle.savepoint(str(tmp_path / "taken")), len(ledger.rows("first"))))
    run(tmp_path / "first", "first", act=asked)
    assert Counter(ledger.rows("first")) == whole()
    answer, visible = asked.answer
    file = open_savepoint(Storage.of(answer.result(30)))
    assert (file.epoch, file.max_parallelism) == (at, 128)
    run(tmp_path / "second", "second", answer.result())
    before = Counter(ledger.rows("first")[:visible])
    assert before + Counter(ledger.rows("second")) == whole()


def test_the_same_command_again_goes_on(tmp_path, savepoint):
    done = Counter(ledger.rows("first"))
    stop = Asked(0, lambda handle: handle.stop())
    for _ in range(3):
        stop.answer = None
        run(tmp_path / "second", "second", str(savepoint), act=stop)
    shutil.rmtree(savepoint / "runs")  # it is not read again
    run(tmp_path / "second", "second", str(savepoint))
    assert done + Counter(ledger.rows("second")) == whole()


@pytest.mark.parametrize("restore_from", [None, "latest"])
def test_the_job_goes_on_without_naming_the_savepoint_again(tmp_path, savepoint, restore_from):
    done = Counter(ledger.rows("first"))
    run(tmp_path / "second", "second", str(savepoint), act=lambda handle, stats: handle.stop())
    savepoint.rename(tmp_path / "elsewhere")
    run(tmp_path / "second", "second", restore_from)
    assert done + Counter(ledger.rows("second")) == whole()


def test_a_directory_in_which_a_job_has_begun_and_not_committed_can_be_used(tmp_path, savepoint):
    done = Counter(ledger.rows("first"))

    def fails(env, name):
        def fail(value):
            raise RuntimeError("no")

        env.from_collection([1]).map(fail).print()

    with pytest.raises(FiresteelError, match="RuntimeError"):
        run(tmp_path / "second", "second", build=fails)
    stop = Asked(0, lambda handle: handle.stop())
    run(tmp_path / "second", "second", str(savepoint), act=stop)
    run(tmp_path / "second", "second", str(savepoint))
    assert done + Counter(ledger.rows("second")) == whole()


def test_a_savepoint_of_the_job_that_began_with_one(tmp_path, savepoint):
    done = Counter(ledger.rows("first"))
    asked = Asked(HALF + 3, lambda handle: handle.stop(""))
    run(tmp_path / "second", "second", str(savepoint), act=asked, parallelism=3)
    again = asked.answer.result(30)
    assert Path(again).parent == tmp_path / "second/state/savepoints"
    run(tmp_path / "third", "third", again, parallelism=1)
    assert done + Counter(ledger.rows("second")) + Counter(ledger.rows("third")) == whole()


def test_from_the_state_directory_of_another_job(tmp_path):
    run(tmp_path / "first", "first", act=lambda handle, stats: handle.stop() if stats.epoch == HALF else None)
    source = tmp_path / "first/state"
    for _ in range(2):
        run(tmp_path / "second", "second", str(source), act=lambda handle, stats: handle.stop())
    run(tmp_path / "second", "second", str(source), parallelism=1)
    assert Counter(ledger.rows("first")) + Counter(ledger.rows("second")) == whole()
    assert ManifestReader(Storage.of(source)).epochs()[-1] == HALF


def test_a_directory_with_a_history_of_its_own_is_refused(tmp_path, savepoint):
    run(tmp_path / "second", "second", act=lambda handle, stats: handle.stop())
    with pytest.raises(StateMismatchError, match="requires a separate state directory"):
        run(tmp_path / "second", "second", str(savepoint))
    other = Asked(2, lambda handle: handle.savepoint(str(tmp_path / "other")))
    run(tmp_path / "third", "third", act=other)
    run(tmp_path / "fresh", "fresh", str(savepoint), act=lambda handle, stats: handle.stop())
    with pytest.raises(StateMismatchError, match="requires a separate state directory"):
        run(tmp_path / "fresh", "fresh", other.answer.result(30))
    ledger.forget("fresh")


def test_what_is_no_savepoint_is_refused(tmp_path, savepoint):
    (tmp_path / "empty").mkdir()
    for wrong in (tmp_path / "empty", savepoint / "manifests"):
        with pytest.raises(StateError, match="requires a savepoint, or the state directory of a job"):
            run(tmp_path / "second", "second", str(wrong))
    with pytest.raises(StateError, match="is missing"):
        run(tmp_path / "second", "second", str(tmp_path / "nowhere"))
    with pytest.raises(StateError, match="requires latest; got no epoch that was committed"):
        run(tmp_path / "second", "second", "latest")
    with pytest.raises(ConfigurationError, match="requires a state directory for the job"):
        run(tmp_path / "second", "second", str(savepoint), state_dir=None)


def renamed(env, name):
    program(env, name, uid="renamed")


def without_windows(env, name):
    program(env, name, windows=False)


def test_another_program_is_told_which_states_it_lacks(tmp_path, savepoint):
    with pytest.raises(StateMismatchError) as error:
        run(tmp_path / "second", "second", str(savepoint), build=renamed)
    assert f"the state in {savepoint} belongs to another program" in str(error.value)
    assert "rules, seen" in str(error.value)
    assert "--allow-non-restored-state" in str(error.value)
    run(tmp_path / "second", "second", str(savepoint))  # nothing has been begun in its directory
    assert Counter(ledger.rows("first")) + Counter(ledger.rows("second")) == whole()


def test_state_without_an_operator_can_be_dropped(tmp_path, savepoint):
    done = Counter(ledger.rows("first"))
    run(
        tmp_path / "second",
        "second",
        str(savepoint),
        build=without_windows,
        allow_non_restored_state=True,
    )
    assert done + Counter(ledger.rows("second")) >= Counter([*SEEN, *ENDS])
    reader = ManifestReader(Storage.of(tmp_path / "second/state"))
    last = reader.latest()
    assert set(reader.all_layers(0, last.epoch)) <= set(last.operators)


def test_another_max_parallelism_is_refused(tmp_path, savepoint):
    with pytest.raises(
        StateMismatchError, match=r"requires the max parallelism 128; got a program with 64\n.*128"
    ):
        run(tmp_path / "second", "second", str(savepoint), max_parallelism=64)


@pytest.mark.parametrize("policy", [OFTEN, MaintenancePolicy(1000, 1000)], ids=["compacted", "not compacted"])
def test_state_that_was_dropped_does_not_come_back(tmp_path, policy):
    """In the same directory: the windows' operator is left out for a while, and begins again without anything."""
    more = {"maintenance": policy}
    act = Asked(4, lambda handle: handle.stop())
    run(tmp_path, "first", act=act, **more)
    first = ledger.rows("first")
    allow = {**more, "allow_non_restored_state": True}
    run(tmp_path, "second", act=Asked(7, lambda handle: handle.stop()), build=without_windows, **allow)
    kept = ManifestReader(Storage.of(tmp_path / "state"))
    taken = Asked(8, lambda handle: handle.savepoint(str(tmp_path / "taken")))
    run(tmp_path, "third", act=taken, **more)
    read = [row for row in SEEN if row in Counter(first) + Counter(ledger.rows("second"))]
    shown = Counter(ledger.rows("third"))
    ends = [row for row in shown if row[0] == "end"]
    assert sorted(ends) == sorted(ENDS)
    seen = Counter(key for _, key, _ in read)
    rest = {f"k{key}": tuple(range(key, 72, 6))[seen[f"k{key}"] :][:5] for key in range(6)}
    windows = Counter(("window", key, numbers) for key, numbers in rest.items() if len(numbers) == 5)
    assert Counter({row: count for row, count in shown.items() if row[0] == "window"}) == windows
    last = kept.latest()
    assert damage_of(Storage.of(tmp_path / "state"), last.epoch) is None
    assert open_savepoint(Storage.of(taken.answer.result(30))) is not None


def damages(savepoint):
    """Every way to harm each file of a savepoint."""
    files = [path for path in sorted(savepoint.rglob("*")) if path.is_file() and ".staged" not in path.parts]
    for path in files:
        data = path.read_bytes()
        middle = len(data) // 2
        altered = data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :]
        for what, harmed in (("cut", data[:-1]), ("altered", altered), ("empty", b""), ("missing", None)):
            yield path, what, data, harmed


def test_every_damage_to_a_savepoint_is_named(tmp_path, savepoint):
    done = Counter(ledger.rows("first"))
    count = 0
    for path, what, data, harmed in damages(savepoint):
        path.unlink() if harmed is None else path.write_bytes(harmed)
        incomplete = path.name == "savepoint.json" and what == "missing"
        expected = "requires a savepoint" if incomplete else path.name
        kind = StateError if incomplete else StateCorruptedError
        with pytest.raises(kind, match=expected):
            run(tmp_path / "second", "second", str(savepoint))
        path.write_bytes(data)
        count += 1
    assert count >= 4 * 5
    assert ledger.rows("second") == []
    with pytest.raises(StateError, match=r"was to start from a savepoint, but did not finish taking it over"):
        run(tmp_path / "second", "second")
    run(tmp_path / "second", "second", str(savepoint))
    assert done + Counter(ledger.rows("second")) == whole()


def test_open_parts_of_a_file_sink_are_finished_by_who_takes_over_its_directory(tmp_path):
    def writes(env, name):
        numbers = env.from_source(ScriptedSource(list(range(72))), NO_WATERMARKS, "numbers").uid("numbers")
        long = FileSink(tmp_path / "out", TextLines(), BasePathBuckets(), RollingPolicy(part_size=10_000))
        numbers.map(str, Types.STRING()).sink_to(long).uid("out")

    def shown():
        parts = [path for path in (tmp_path / "out").iterdir() if not path.name.startswith(".")]
        return Counter(line for path in parts for line in path.read_text().splitlines())

    asked = Asked(HALF, lambda handle: handle.stop(str(tmp_path / "taken")))
    run(tmp_path / "first", "first", act=asked, build=writes)
    assert shown() == Counter()
    run(tmp_path / "second", "second", asked.answer.result(30), build=writes, parallelism=1)
    assert shown() == Counter(map(str, range(72)))


@pytest.mark.parametrize("back_to", ["10", "11"])
def test_going_back_keeps_no_epoch_that_was_given_up(tmp_path, back_to):
    """Manifests of given up epochs stay while those that are kept need them, though what they name is removed."""
    mine = histories.Driver(Storage.of(tmp_path), test_retention.OPERATORS, retained=3)
    made = None
    for epoch in range(1, 13):
        mine.commit(test_retention.changes(epoch), 2, made if epoch == 10 else None)
        made = mine.merged(99) if epoch == 6 else made
    collect_garbage(mine.storage, 12)
    assert [int(path[-12:]) for path in mine.storage.list("manifests")] == [*range(7, 13)]
    assert kept_epochs(mine.log) == [10, 11, 12]
    log = open_history(mine.storage, histories.program(mine.operators), back_to)
    assert kept_epochs(log) == [10, 11, 12, 13]
    mine.models[13] = mine.models[int(back_to)]
    test_retention.check(mine.storage, mine.models)

"""Arrangements on storage beside a model: whatever is merged, every range of key groups reads the same rows."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.checkpoint.arranged import read_changes, write_level
from firesteel.checkpoint.integrity import damage_of
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.recovery import runs_within
from firesteel.checkpoint.savepoint import write_savepoint
from firesteel.common.errors import StateCorruptedError
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.runtime.plan import SubtaskReport
from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.chunk import chunk_of
from firesteel.state.arrangements.drops import Drop
from firesteel.state.arrangements.hashing import key_groups
from firesteel.state.arrangements.layout import Kind, Layout, decode_layout, encode_layout
from firesteel.state.arrangements.levels import InMemory
from firesteel.state.arrangements.names import operator_of, state_name
from firesteel.state.keys.groups import key_group_range
from tests.checkpoint.histories import GROUPS, Driver

ROWS = pa.schema([("time", pa.int64()), ("key", pa.string()), ("value", pa.int64())])
OPERATOR = "a"
STATE = state_name(OPERATOR, "rows")
Row = tuple[int, str | None, int]
Change = tuple[Row, int]

LAYOUTS = [
    Layout(ROWS, ("key",)),
    Layout(ROWS, ("key",), leading="time"),
    Layout(ROWS, ("key",), Kind.MULTISET),
    Layout(ROWS, ("key",), Kind.MULTISET, leading="time"),
    Layout(ROWS, ("key",), time_to_live=3),
    Layout(ROWS, ("key",), Kind.MULTISET, leading="time", time_to_live=3),
]

rows = st.tuples(st.integers(0, 2), st.sampled_from(["a", "b", "c", "d", None]), st.integers(0, 2))
changes = st.lists(st.tuples(rows, st.sampled_from([1, -1])), max_size=6)
steps = st.lists(
    st.tuples(st.just("commit"), st.integers(1, 3), changes, st.none() | st.integers(-1, 2))
    | st.tuples(st.just("merge"), st.none() | st.integers(1, 4), st.just([]), st.none())
    | st.tuples(st.just("wait"), st.integers(1, 3), st.just([]), st.none()),
    max_size=12,
)


@pytest.fixture(autouse=True, scope="module")
def _no_flush() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


def batch_of(given: Sequence[Row]) -> pa.RecordBatch:
    columns = [pa.array([row[at] for row in given], kind) for at, kind in enumerate(ROWS.types)]
    return pa.RecordBatch.from_arrays(columns, schema=ROWS)


class History:
    """A job with one arrangement, written as tasks and driver write it, beside its rows."""

    def __init__(
        self, storage: Storage, layout: Layout, policy: MaintenancePolicy | None = None, retained: int = 1_000
    ) -> None:
        self.storage, self.layout = storage, layout
        self.driver = Driver(storage, [OPERATOR], policy=policy, retained=retained)
        self.model = Counter[Row]()
        self.written = dict[Row, int]()

    def wait(self, milliseconds: int) -> None:
        self.driver.now += milliseconds
        limit = self.layout.time_to_live
        for row in list(self.model):
            if limit is not None and self.driver.now >= self.written[row] + limit:
                del self.model[row]

    def commit(self, parallelism: int, given: Sequence[Change], drop: int | None = None) -> None:
        """Commit an epoch, in which each subtask drops rows first: those up to `drop` plus its number."""
        reports = self.driver.work({}, parallelism)
        batch = batch_of([row for row, _ in given])
        weights = np.array([weight for _, weight in given], np.int64)
        groups = key_groups(self.layout.hash_of(batch), GROUPS)
        for report in reports:
            mine = key_group_range(report.subtask, parallelism, GROUPS)
            at = np.flatnonzero((groups >= mine.start) & (groups < mine.stop))
            report.arrangements = {STATE: encode_layout(self.layout)}
            limit = None if drop is None or self.layout.leading is None else drop + report.subtask
            report.arranged = self._written(report, batch.take(pa.array(at)), weights[at], mine, limit)
            if limit is not None:
                for row in self.expected(mine):
                    if row[0] <= limit:
                        del self.model[row]
        self.driver.finish({}, reports)
        for row, weight in given:
            self._apply(row, weight)

    def merge(self, count: int | None) -> None:
        layers = self.driver.log.all_layers(0, self.driver.epoch)
        if layers:
            compaction = self.driver.merged(count)
            self.driver.commit({}, compaction=compaction)

    def read(self, groups: range) -> Counter[Row]:
        layers = self.driver.log.layers(STATE, 0, self.driver.epoch)
        runs = runs_within(layers, (groups.start, groups.stop - 1))
        arrangement = Arrangement(self.layout)
        for changes in read_changes(self.storage, runs, self.layout, groups, GROUPS, InMemory()):
            arrangement.load(changes)
        arrangement.advance(self.driver.now)
        return Counter(
            row
            for batch in arrangement.rows()
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        )

    def expected(self, groups: range) -> Counter[Row]:
        there = [row for row, count in self.model.items() if count > 0]
        groups_of = key_groups(self.layout.hash_of(batch_of(there)), GROUPS)
        return Counter(row for row, group in zip(there, groups_of.tolist(), strict=True) if group in groups)

    def _written(
        self, report: SubtaskReport, batch: pa.RecordBatch, weights: Any, groups: range, drop: int | None
    ) -> list[Any]:
        path = f"runs/{STATE}/{self.driver.epoch + 1:012d}-{report.subtask:05d}.run"
        run = write_level(
            self.storage,
            path,
            self.layout,
            [chunk_of(self.layout, batch, weights, self.driver.now)],
            [] if drop is None else [Drop(drop)],
            state=STATE,
            epoch=self.driver.epoch + 1,
            subtask=report.subtask,
            groups=groups,
            max_parallelism=GROUPS,
        )
        return [] if run is None else [run]

    def _apply(self, row: Row, weight: int) -> None:
        self.written[row] = self.driver.now
        if self.layout.kind is Kind.MULTISET:
            self.model[row] += weight
            return
        for other in [other for other in self.model if self._same_key(other, row)]:
            del self.model[other]
        if weight > 0:
            self.model[row] = 1

    def _same_key(self, one: Row, other: Row) -> bool:
        return one[1] == other[1] and (self.layout.leading is None or one[0] == other[0])


def sensible(layout: Layout, history: History, given: list[Change], drop: int | None) -> list[Change]:
    """Leave out what removes rows of a multiset that are not there, or may have been dropped just before."""
    if layout.kind is Kind.UPSERT:
        return given
    there, result = Counter(history.model), []
    if drop is not None and layout.leading is not None:
        there = Counter({row: count for row, count in there.items() if row[0] > drop + 2})
    for row, weight in given:
        if weight > 0 or there[row] > 0:
            there[row] += weight
            result.append((row, weight))
    return result


@given(steps, st.sampled_from(LAYOUTS))
@settings(max_examples=60)
def test_every_range_of_key_groups_reads_its_rows(given: list[Any], layout: Layout) -> None:
    with TemporaryDirectory() as directory:
        history = History(Storage.of(directory), layout)
        history.commit(1, [])
        for step, number, rows_changed, drop in given:
            if step == "commit":
                history.commit(number, sensible(layout, history, rows_changed, drop), drop)
            elif step == "wait":
                history.wait(number)
            else:
                history.merge(number)
        for parallelism in (1, 2, 3):
            for subtask in range(parallelism):
                groups = key_group_range(subtask, parallelism, GROUPS)
                assert history.read(groups) == history.expected(groups)


def test_layers_are_merged_and_deletes_vanish(tmp_path: Path) -> None:
    history = History(Storage.of(str(tmp_path)), LAYOUTS[0])
    for number in range(20):
        history.commit(2, [((number, f"key {number}", number), 1)])
    history.commit(2, [((number, f"key {number}", number), -1) for number in range(19)])
    assert len(history.driver.log.layers(STATE, 0, history.driver.epoch)) == 21
    history.merge(21)
    (layer, *rest) = history.driver.log.layers(STATE, 0, history.driver.epoch)
    assert layer.whole
    assert sum(run.entries for run in layer.runs) == 1
    assert not rest
    assert history.read(range(GROUPS)) == history.expected(range(GROUPS)) == Counter([(19, "key 19", 19)])


def test_maintenance_merges_layers_and_removes_runs_that_nobody_needs(tmp_path: Path) -> None:
    policy = MaintenancePolicy(compact_every=4, collect_every=4, inline=True)
    history = History(Storage.of(str(tmp_path)), LAYOUTS[0], policy, retained=2)
    for number in range(40):
        history.commit(2, [((number, f"key {number % 7}", number), 1)])
    assert len(history.driver.log.layers(STATE, 0, history.driver.epoch)) <= 8
    assert len([*history.storage.list("runs")]) < 30
    assert history.read(range(GROUPS)) == history.expected(range(GROUPS))


def test_a_savepoint_has_the_arrangements(tmp_path: Path) -> None:
    history = History(Storage.of(str(tmp_path / "job")), LAYOUTS[2])
    for number in range(5):
        history.commit(2, [((0, "a", number), 1), ((0, "b", 0), 1)])
    target = Storage.of(str(tmp_path / "savepoint"))
    write_savepoint(history.storage, history.driver.epoch, target)
    snapshot = ManifestReader(target).read(history.driver.epoch).operators[OPERATOR]
    assert decode_layout(snapshot.arrangements[STATE]) == LAYOUTS[2]
    assert operator_of(STATE) == OPERATOR
    layers = ManifestReader(target).layers(STATE, 0, history.driver.epoch)
    runs = runs_within(layers, (0, GROUPS - 1))
    changes = read_changes(target, runs, LAYOUTS[2], range(GROUPS), GROUPS, InMemory())
    assert sum(len(chunk) for change in changes for chunk in change.level) == 10


def test_dropping_rows_costs_a_mark_and_merges_forget_them(tmp_path: Path) -> None:
    history = History(Storage.of(str(tmp_path)), LAYOUTS[1])
    history.commit(2, [((number % 3, f"key {number}", number), 1) for number in range(300)])
    history.commit(2, [], drop=0)
    (_, layer) = history.driver.log.layers(STATE, 0, history.driver.epoch)
    assert [run.entries for run in layer.runs] == [0, 0]
    assert history.read(range(GROUPS)) == history.expected(range(GROUPS))
    history.merge(2)
    (layer,) = history.driver.log.layers(STATE, 0, history.driver.epoch)
    assert sum(run.entries for run in layer.runs) == sum(history.model.values()) < 200


def test_a_merge_of_some_layers_still_drops_older_rows(tmp_path: Path) -> None:
    history = History(Storage.of(str(tmp_path)), LAYOUTS[1])
    history.commit(2, [((number % 4, f"key {number}", number), 1) for number in range(40)])
    history.commit(2, [((0, "early", 1), 1)], drop=1)
    history.commit(1, [((3, "late", 1), 1)], drop=0)
    history.merge(2)
    layers = history.driver.log.layers(STATE, 0, history.driver.epoch)
    assert [layer.whole for layer in layers] == [False, False]
    for groups in (range(GROUPS), key_group_range(0, 3, GROUPS), key_group_range(2, 3, GROUPS)):
        assert history.read(groups) == history.expected(groups)


@pytest.mark.parametrize("layout", LAYOUTS[4:])
def test_merges_drop_what_has_expired(tmp_path: Path, layout: Layout) -> None:
    history = History(Storage.of(str(tmp_path)), layout)
    for number in range(20):
        history.commit(2, [((number, f"key {number}", number), 1)])
        history.wait(1)
    history.merge(20)
    (layer,) = history.driver.log.layers(STATE, 0, history.driver.epoch)
    assert sum(run.entries for run in layer.runs) == 3
    assert history.read(range(GROUPS)) == history.expected(range(GROUPS))


def test_a_damaged_run_is_named(tmp_path: Path) -> None:
    history = History(Storage.of(str(tmp_path)), LAYOUTS[0])
    history.commit(1, [((0, "a", 1), 1)])
    (run,) = runs_within(history.driver.log.layers(STATE, 0, 1), (0, GROUPS - 1))
    file = tmp_path / run.path
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    with pytest.raises(StateCorruptedError, match="00000-"):
        history.read(range(GROUPS))
    assert run.path in str(damage_of(history.storage, 1))

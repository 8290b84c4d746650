"""Histories of epochs, written as tasks and driver write them but without a job, beside a model of each epoch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from firesteel.checkpoint.compaction import (
    Compaction,
    MergeTask,
    merge,
    merge_tasks,
    merged_layer,
    to_merge,
)
from firesteel.checkpoint.log import ManifestLog, ManifestReader
from firesteel.checkpoint.manifest import Manifest, runs_of
from firesteel.checkpoint.newest import newest_entries
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.recovery import catch_up
from firesteel.checkpoint.retention import kept_epochs
from firesteel.checkpoint.runs import write_run
from firesteel.control.clock import Moment
from firesteel.control.journal import Journal
from firesteel.control.maintenance import Maintenance, MaintenancePolicy
from firesteel.runtime.plan import OperatorSpec, Plan, SubtaskReport
from firesteel.state.arrangements.layout import decode_layout
from firesteel.state.arrangements.names import operator_of
from firesteel.state.disk.copy import close_working_stores, open_working_store
from firesteel.state.keys.groups import key_group_range
from firesteel.state.live.durable import RunRef
from firesteel.state.values.evolution import Converter
from firesteel.state.values.expiry import ExpiryRule

GROUPS = 8
BROADCAST = 0xFFFF
Change = tuple[int, int, int]
"""State id, key group, key."""

Entries = dict[bytes, bytes]


def encode(change: Change) -> bytes:
    state, group, key = change
    return state.to_bytes(2, "big") + group.to_bytes(2, "big") + key.to_bytes(2, "big")


def program(operators: Iterable[str], parallelism: int = 1) -> Plan:
    """A plan of operators that nobody runs."""
    specs = (
        OperatorSpec(index, name, name, name, "", 0, parallelism, GROUPS, b"", None, True, True, 1)
        for index, name in enumerate(operators)
    )
    return Plan("job", GROUPS, tuple(specs), ())


class Merger:
    """Merges in this process, and counts what it reads and writes."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.read = self.written = 0

    def merge(self, task: MergeTask) -> RunRef | None:
        self.read += sum(layer.size for layer in task.layers)
        run = merge(self.storage, task)
        self.written += 0 if run is None else run.size
        return run


class Driver:
    """One driver of a job: it commits epochs whose states are in `models` (by epoch and operator)."""

    def __init__(
        self,
        storage: Storage,
        operators: Iterable[str] = ("a",),
        *,
        retained: int = 1_000_000,
        policy: MaintenancePolicy | None = None,
        models: dict[int, dict[str, Entries]] | None = None,
        allow_non_restored_state: bool = False,
        name: str = "driver",
    ) -> None:
        self.storage, self.operators, self.name = storage, tuple(operators), name
        self.log = ManifestLog.open_or_create(storage, GROUPS)
        self.journal = Journal(
            self.log,
            storage,
            program(self.operators),
            retained=retained,
            allow_non_restored_state=allow_non_restored_state,
        )
        self.journal.recover()
        self.merger = Merger(storage)
        policy = policy or MaintenancePolicy(1_000_000, 1_000_000, inline=True)
        self.maintenance = Maintenance(storage, self.merger, policy)  # type: ignore[arg-type]
        self.models = {0: {}} if models is None else models
        self.now = 0
        self._tries = 0

    @property
    def epoch(self) -> int:
        return self.journal.epoch

    @property
    def last(self) -> Manifest:
        assert self.journal.last is not None
        return self.journal.last

    def work(
        self, changes: Mapping[str, Mapping[Change, bytes | None]], parallelism: int = 1
    ) -> list[SubtaskReport]:
        """Write the runs of the next epoch."""
        self._tries += 1
        plan = program(self.operators, parallelism)
        self.journal.go_on_with(plan)
        number = self.epoch + 1
        reports = []
        for spec in plan.operators:
            for subtask in range(parallelism):
                groups = key_group_range(subtask, parallelism, GROUPS)
                mine = {
                    encode(change): value
                    for change, value in changes.get(spec.id, {}).items()
                    if change[1] in groups or change[1] == BROADCAST
                }
                path = f"runs/{spec.id}/{number:012d}-{subtask:05d}-{self.name}-{self._tries}.run"
                run = write_run(
                    self.storage,
                    path,
                    sorted(mine.items()),
                    epoch=number,
                    operator=spec.id,
                    subtask=subtask,
                    first_group=groups[0],
                    last_group=groups[-1],
                )
                schemas = {"keyed:s": {"id": 0, "scope": "keyed", "name": "s", "kind": "value"}}
                reports.append(SubtaskReport(spec.index, subtask, 0, run=run, schemas=schemas))
        return reports

    def commit(
        self,
        changes: Mapping[str, Mapping[Change, bytes | None]],
        parallelism: int = 1,
        compaction: Compaction | None = None,
    ) -> None:
        """Run an epoch, and what maintenance follows it."""
        self.finish(changes, self.work(changes, parallelism), compaction)

    def finish(
        self,
        changes: Mapping[str, Mapping[Change, bytes | None]],
        reports: list[SubtaskReport],
        compaction: Compaction | None = None,
    ) -> None:
        epoch = self.journal.next_epoch(self.name, str(self._tries), 1, Moment(self.now, self.now), False, {})
        found = compaction or self.maintenance.take_compaction(epoch.facts.lineage)
        before = self.models.get(self.epoch, {})
        after = {operator: {**before.get(operator, {})} for operator in self.operators}
        for operator, mine in changes.items():
            for change, value in mine.items():
                after[operator].pop(encode(change), None)
                if value is not None:
                    after[operator][encode(change)] = value
        expected = self.models.get(epoch.facts.number)
        self.models[epoch.facts.number] = after  # before it happens: a crash may come right after it
        try:
            self.journal.commit(epoch, reports, {}, found)
        except Exception:
            if expected is not None:
                self.models[epoch.facts.number] = expected
            raise
        self.maintenance.after_epoch(self.last)

    def merged(
        self,
        count: int | None = None,
        *,
        parallelism: int = 1,
        rules: tuple[ExpiryRule, ...] = (),
        converters: tuple[Converter, ...] = (),
    ) -> Compaction:
        """Merge the last `count` layers of each operator (None: as many as the policy says)."""
        layers = self.log.all_layers(0, self.epoch)
        for operator, found in layers.items():
            number = to_merge(found) if count is None else min(count, len(found))
            if number:
                layout = self.last.operators[operator_of(operator)].arrangements.get(operator)
                tasks = merge_tasks(
                    operator,
                    found,
                    number,
                    max_parallelism=GROUPS,
                    parallelism=parallelism,
                    epoch=self.epoch + 1,
                    now=self.now,
                    rules=rules,
                    converters=converters,
                    layout=None if layout is None else decode_layout(layout),
                )
                layers[operator] = [
                    *found[:-number],
                    merged_layer(tasks, [self.merger.merge(task) for task in tasks]),
                ]
        return Compaction(self.journal.lineage, self.epoch, layers)


def in_groups(entries: Entries, groups: range) -> Entries:
    """What of a state a subtask with these key groups has."""
    wanted = {*groups, BROADCAST}
    return {key: value for key, value in entries.items() if int.from_bytes(key[2:4], "big") in wanted}


def read_whole(storage: Storage, operator: str, epoch: int) -> Entries:
    """A state, as its layers say."""
    layers = ManifestReader(storage).layers(operator, 0, epoch)
    parts = newest_entries(storage, layers, (0, GROUPS - 1))
    rows = [
        row for part in parts for row in zip(*(column.to_pylist() for column in part.columns), strict=True)
    ]
    assert [key for key, _ in rows] == sorted({key for key, _ in rows})
    return {key: value for key, value in rows if value is not None}


def read_copy(storage: Storage, operator: str, epochs: Iterable[int], groups: range) -> list[Entries]:
    """What a working copy, empty at first, shows at each of these epochs, which it is brought to one by one."""
    found = []
    with TemporaryDirectory() as directory:
        store = open_working_store(Path(directory), "copy", groups[0], groups[-1])
        for epoch in epochs:
            catch_up(store, storage, operator, (groups[0], groups[-1]), epoch, None)
            with store.read() as reader:
                assert reader.version == epoch
                found.append(dict(reader.scan(b"")))
        close_working_stores(Path(directory))
    return found


def referred(storage: Storage) -> set[str]:
    """The runs that kept epochs need."""
    reader = ManifestReader(storage)
    return {run.path for epoch in kept_epochs(reader) for run in runs_of(reader.all_layers(0, epoch))}

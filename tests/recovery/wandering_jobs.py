"""Jobs of one operator whose tasks run in several processes, lose attempts and change their parallelism."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Final

import cloudpickle
import pyarrow as pa
from hypothesis import strategies as st

from firesteel.checkpoint.attach import CheckpointedState
from firesteel.checkpoint.compaction import merge
from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import Storage
from firesteel.control.clock import Moment
from firesteel.control.journal import Journal
from firesteel.control.maintenance import Maintenance, MaintenancePolicy
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.keying import KeyColumnsEdge
from firesteel.runtime.operator import Epoch, Operator
from firesteel.runtime.outbox import Row
from firesteel.runtime.plan import Distribution, EdgeSpec, EpochPlan, OperatorSpec, Plan, TaskReport
from firesteel.runtime.task import Worker, read_results, run_task

GROUPS: Final = 16
KEYS: Final = 7
PASSED_MS: Final = 10
"""The time from epoch to epoch."""

Make = Callable[[], Operator[Any]]
Steps = Sequence[tuple[str, Any]]


class Feed(Operator[ColumnBatch]):
    """Emits the keys that the test gives for the epoch, a column `key`."""

    keys: ClassVar[list[int]] = []

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._left = True

    def process(self, batch: ColumnBatch, port: int) -> None:
        raise AssertionError

    def pump(self) -> bool:
        if self._left:
            mine = self.keys[self.context.subtask :: self.context.parallelism]
            rows = pa.RecordBatch.from_pydict({"key": pa.array(mine, pa.int64())})
            self.output.emit(ColumnBatch(rows))
        self._left = False
        return False


def plan_of(parallelism: int, *operators: tuple[Make, int], key: str = "key") -> Plan:
    """Return a plan of a chain of operators, each with its level; `key` is the column of exchanges."""
    specs = tuple(
        OperatorSpec(
            index, "abcd"[index] * 32, name, name, "op", level, parallelism, GROUPS,
            cloudpickle.dumps(make), None, keyed=False, stateful=False, ports=min(index, 1),
        )
        for index, (make, level) in enumerate(operators)
        for name in [getattr(make, "__name__", "operator")]
    )  # fmt: skip
    exchange = cloudpickle.dumps(KeyColumnsEdge((key,), parallelism, GROUPS))
    edges = tuple(
        EdgeSpec(
            index, index, index + 1, 0, Distribution.FORWARD if local else Distribution.HASH, parallelism,
            parallelism, GROUPS, local=local, who="e", functions=None if local else exchange,
        )
        for index, ((_, before), (_, after)) in enumerate(pairwise(operators))
        for local in [before == after]
    )  # fmt: skip
    return Plan("job", GROUPS, specs, edges)


class WanderingJob(ABC):
    """A job whose tasks run in several processes; `model` has the number of records of each key.

    Contract for subclasses: `plan` is that of the next epoch; `check` compares what a committed epoch reports with
    what it must.
    """

    def __init__(self, directory: str, seed: int) -> None:
        self.url = directory
        self.parallelism = 1
        self.shared = seed % 3 > 0
        self.storage = Storage.of(directory)
        self.random = random.Random(seed)
        self.journal = Journal(
            ManifestLog.open_or_create(self.storage, GROUPS), self.storage, self.plan(), retained=2
        )
        self.journal.recover()
        policy = MaintenancePolicy(compact_every=3, collect_every=3, inline=True)
        self.maintenance = Maintenance(self.storage, Merger(self.storage), policy)  # type: ignore[arg-type]
        self.processes = [self.process() for _ in range(3)]
        self.model = Counter[int]()
        self.epochs: list[list[int]] = []
        self.tries = 0

    @abstractmethod
    def plan(self) -> Plan:
        """Return the plan of the next epoch."""

    @abstractmethod
    def check(self, committed: list[Any]) -> None:
        """Compare what the operators report as committables with the model."""

    def process(self) -> tuple[Worker, CheckpointedState]:
        return Worker(), CheckpointedState(self.url, shared=self.shared)

    def follow(self, given: Steps) -> None:
        """Take steps, each a word and a value."""
        for step, value in given:
            if step == "process":
                self.processes[value] = self.process()
            elif step == "rescale":
                self.parallelism = value
            else:
                self.work(value, lost=step == "lost")

    def work(self, keys: list[int], *, lost: bool = False) -> None:
        """Run an epoch with a record for each key."""
        self.epoch(keys, lost=lost)

    def epoch(self, keys: list[int], *, lost: bool = False, plan: Plan | None = None) -> None:
        self.tries += 1
        plan = plan or self.plan()
        self.journal.go_on_with(plan)
        epoch = self.journal.next_epoch("driver", f"{self.tries}", 1, self.now(), False, {})
        Feed.keys = keys
        reports = self.run(plan, epoch)
        if lost:
            return
        compaction = self.maintenance.take_compaction(epoch.facts.lineage)
        self.journal.commit(epoch, [report for task in reports for report in task.subtasks], {}, compaction)
        self.maintenance.after_epoch(self.journal.last)  # type: ignore[arg-type]
        self.model.update(keys)
        self.epochs.append(keys)
        reported = (report for task in reports for report in task.subtasks)
        self.check([committable for report in reported for committable in report.committables])

    def now(self) -> Moment:
        return Moment(PASSED_MS * len(self.epochs), 0)

    def run(self, plan: Plan, epoch: EpochPlan) -> list[TaskReport]:
        rows: list[Row] = []
        for level, width in enumerate(plan.levels):
            ordered, rows = sorted(rows, key=lambda row: (row[3], row[2])), []
            for subtask in range(width):
                mine = [row for row in ordered if row[0] == subtask]
                for again in (True, False) if self.random.random() < 0.2 else (False,):
                    facts = replace(epoch.facts, attempt=f"{epoch.facts.attempt}-{again}")
                    task = plan, replace(epoch, facts=facts), level, subtask, mine
                    made = [*run_task(*task, *self.random.choice(self.processes))]
                rows += made
        return read_results(rows)


class Merger:
    """Merges in this process."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def merge(self, task: Any) -> Any:
        return merge(self._storage, task)


keys = st.lists(st.integers(0, KEYS - 1), max_size=12)
steps = st.lists(
    st.tuples(st.just("epoch"), keys)
    | st.tuples(st.just("lost"), keys)
    | st.tuples(st.just("process"), st.integers(0, 2))
    | st.tuples(st.just("rescale"), st.integers(1, 3)),
    max_size=16,
)
"""An epoch, one that is lost, a process that is replaced, another parallelism."""

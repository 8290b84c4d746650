"""What an operator takes first in an epoch: broadcast records, then timers that are due, then everything else."""

from __future__ import annotations

from typing import Any

import cloudpickle

from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.epoch import EpochFacts
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.blocks import encode_block
from firesteel.runtime.operator import Operator, OperatorReport
from firesteel.runtime.plan import Distribution, EdgeSpec, EpochPlan, OperatorSpec, Plan
from firesteel.runtime.task import Worker, read_results, run_task
from tests.runtime.stateless import Stateless


class Journal(Operator[RowBatch]):
    """Reports what it is asked to do, in order."""

    def begin_epoch(self, epoch: Any) -> None:
        super().begin_epoch(epoch)
        self.events: list[Any] = []

    def process(self, batch: RowBatch, port: int) -> None:
        self.events.append((port, *batch.values))

    def advance_watermark(self, watermark: int) -> None:
        self.events.append(f"watermark {watermark}")

    def advance_processing_time(self, now: int) -> None:
        self.events.append(f"time {now}")

    def end_epoch(self) -> OperatorReport:
        return OperatorReport(committables=self.events)


class Telling(Operator[RowBatch]):
    """The first subtask emits two records, each with a watermark after it; the second is at the end of time."""

    def announce(self) -> None:
        if self.context.subtask:
            self.emit_watermark(MAX_WATERMARK)

    def process(self, batch: RowBatch, port: int) -> None:
        raise AssertionError("it has no input")

    def pump(self) -> bool:
        if not self.context.subtask:
            self.output.emit(RowBatch([5]))
            self.emit_watermark(10)
            self.output.emit(RowBatch([15]))
        return False


def plan() -> Plan:
    """Two sources, of which the second is taken first, into two operators of one task."""
    operators = [
        OperatorSpec(
            index, f"op-{index}", "op", "op", "op", index // 2, 1, 128,
            cloudpickle.dumps(Journal), None, keyed=False, stateful=False, ports=2,
        )
        for index in range(4)
    ]  # fmt: skip
    edges = []
    for target in (2, 3):
        for port in (0, 1):
            kind = Distribution.BROADCAST if port else Distribution.GLOBAL
            edges.append(
                EdgeSpec(
                    len(edges), port, target, port, kind, 1, 1, 128,
                    local=False, who="e", first=bool(port),
                )
            )  # fmt: skip
    return Plan("job", 128, tuple(operators), tuple(edges))


def journals(marks: dict[int, list[tuple[int, int | None]]], *edges: int) -> list[list[Any]]:
    """Run the second level on a record for each of these edges; return what its operators did."""
    spec = plan()
    rows = []
    for edge in edges:
        block = encode_block(RowBatch([edge]), marks.get(edge, []))
        rows.append((0, edge, 0, spec.edges[edge].first_seq, block))
    rows.sort(key=lambda row: (row[3], row[2]))
    epoch = EpochPlan("job", EpochFacts(1, "a", 77), 1, 0)
    tasks = read_results(run_task(spec, epoch, 1, 0, rows, Worker(), Stateless()))
    return [list(report.committables) for task in tasks for report in task.subtasks]


def test_broadcast_records_come_before_timers_and_all_else() -> None:
    assert journals({}, 0, 1, 2, 3) == [[(1, 1), "time 77", (0, 0)], [(1, 3), "time 77", (0, 2)]]


def test_timers_fire_where_only_broadcast_records_come_and_where_nothing_comes() -> None:
    assert journals({}, 1) == [[(1, 1), "time 77"], ["time 77"]]


def test_the_watermark_of_both_inputs_decides() -> None:
    marks: dict[int, list[tuple[int, int | None]]] = {1: [(1, 50)], 0: [(0, 10), (1, 90)]}
    assert journals(marks, 0, 1)[0] == [(1, 1), "time 77", "watermark 10", (0, 0), "watermark 50"]


def test_later_operators_of_a_task_take_their_broadcast_records_earlier() -> None:
    edges = plan().edges
    assert edges[3].first_seq < edges[1].first_seq < 0 == edges[0].first_seq == edges[2].first_seq


def test_each_channel_says_how_far_it_is_before_any_record() -> None:
    """Of two channels, the second has no records; its watermark counts from the first record on."""
    wide = Plan(
        "job",
        128,
        tuple(
            OperatorSpec(
                index, f"op-{index}", "op", "op", "op", index, width, 128,
                cloudpickle.dumps(factory), None, keyed=False, stateful=False, ports=1,
            )
            for index, (factory, width) in enumerate([(Telling, 2), (Journal, 1)])
        ),
        (EdgeSpec(0, 0, 1, 0, Distribution.GLOBAL, 2, 1, 128, local=False, who="e"),),
    )  # fmt: skip
    epoch = EpochPlan("job", EpochFacts(1, "a", 77), 1, 0)
    rows = [row for task in (0, 1) for row in run_task(wide, epoch, 0, task, [], Worker(), Stateless())]
    sent = sorted((row for row in rows if row[1] == 0), key=lambda row: (row[3], row[2]))
    [task] = read_results(run_task(wide, epoch, 1, 0, sent, Worker(), Stateless()))
    assert list(task.subtasks[0].committables) == ["time 77", (0, 5), "watermark 10", (0, 15)]

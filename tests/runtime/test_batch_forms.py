"""What moves batches needs their protocol only: a form with a column of numbers and one of kinds goes all the way."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import cloudpickle
import pytest

from firesteel.functions.epoch import EpochFacts
from firesteel.runtime import blocks
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.operator import Operator, OperatorReport
from firesteel.runtime.outbox import Outbox, Row
from firesteel.runtime.plan import Distribution, EdgeSpec, EpochPlan, OperatorSpec, Plan, SubtaskReport
from firesteel.runtime.routing import BLOCK_BYTES, FixedRouter
from firesteel.runtime.task import Worker, read_results, run_task
from tests.runtime.stateless import Stateless

CODEC = 200
KINDS = b"+-"


class Columns:
    """Numbers, and of each the kind of its change."""

    MOST = 500

    def __init__(self, numbers: Iterable[int], kinds: bytes) -> None:
        self.numbers = array("q", numbers)
        self.kinds = kinds

    def __len__(self) -> int:
        return len(self.numbers)

    def slice(self, start: int, stop: int, step: int = 1) -> Columns:
        return Columns(self.numbers[start:stop:step], self.kinds[start:stop:step])

    def take(self, positions: Sequence[int]) -> Columns:
        return Columns([self.numbers[at] for at in positions], bytes(self.kinds[at] for at in positions))

    def scatter(self, targets: Sequence[int], count: int) -> Iterable[tuple[int, Columns]]:
        for target in range(count):
            if positions := [at for at, chosen in enumerate(targets) if chosen == target]:
                yield target, self.take(positions)

    def joined(self, others: Sequence[Columns]) -> Columns:
        parts = [self, *others]
        return Columns(
            [number for part in parts for number in part.numbers], b"".join(part.kinds for part in parts)
        )

    def copy(self) -> Columns:
        return Columns(self.numbers, self.kinds)

    def encode(self) -> tuple[int, bytes]:
        return CODEC, self.kinds + self.numbers.tobytes()

    @staticmethod
    def decode(data: memoryview) -> Columns:
        count = len(data) // 9
        numbers = array("q")
        numbers.frombytes(data[count:])
        return Columns(numbers, bytes(data[:count]))

    def pairs(self) -> list[tuple[int, str]]:
        return list(zip(self.numbers, self.kinds.decode(), strict=True))


class Counting(Operator[Columns]):
    """A source: numbers in batches, and behind each batch the watermark that counts them."""

    left = 0

    def begin_epoch(self, epoch: Any) -> None:
        super().begin_epoch(epoch)
        self.left = 4

    def process(self, batch: Columns, port: int) -> None:
        raise AssertionError

    def pump(self) -> bool:
        self.left -= 1
        first = self.context.subtask * 4_000 + (3 - self.left) * 1_000
        self.output.emit(Columns(range(first, first + 1_000), KINDS * 500))
        self.advance_watermark((4 - self.left) * 1_000)
        return self.left > 0


class Negate(Operator[Columns]):
    def process(self, batch: Columns, port: int) -> None:
        self.output.emit(Columns([-number for number in batch.numbers], batch.kinds))


class Keep(Operator[Columns]):
    """Reports what it received."""

    def begin_epoch(self, epoch: Any) -> None:
        super().begin_epoch(epoch)
        self.events: list[Any] = []

    def process(self, batch: Columns, port: int) -> None:
        self.events.extend(batch.pairs())

    def advance_watermark(self, watermark: int) -> None:
        super().advance_watermark(watermark)
        self.events.append(watermark)

    def end_epoch(self) -> OperatorReport:
        return OperatorReport(committables=self.events)


class ByNumber:
    """The functions of an edge: a number goes to the subtask that is its remainder."""

    def __init__(self, targets: int) -> None:
        self._targets = targets

    def open(self, runtime_context: Any) -> None:
        pass

    def direct(self, batch: Columns) -> tuple[Columns, list[int]]:
        return batch, [number % self._targets for number in batch.numbers]

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(blocks.FORMS, CODEC, Columns.decode)


def plan_of(distribution: Distribution, senders: int, receivers: int) -> Plan:
    """A source, an exchange, an operator, and two that keep what comes out of it."""
    widths = (senders, receivers, receivers, receivers)
    operators = [
        OperatorSpec(
            index, f"op-{index}", kind.__name__, kind.__name__, "op", min(index, 1), width, 128,
            cloudpickle.dumps(kind), None, keyed=False, stateful=False, ports=1,
        )
        for index, (kind, width) in enumerate(zip((Counting, Negate, Keep, Keep), widths, strict=True))
    ]  # fmt: skip
    functions = None
    if distribution in (Distribution.HASH, Distribution.CUSTOM):
        functions = cloudpickle.dumps(ByNumber(receivers))
    exchange = EdgeSpec(
        0, 0, 1, 0, distribution, senders, receivers, 128, local=False, who="e", functions=functions
    )
    local = [
        EdgeSpec(at, 1, at + 1, 0, Distribution.FORWARD, receivers, receivers, 128, local=True, who="e")
        for at in (1, 2)
    ]
    return Plan("job", 128, tuple(operators), (exchange, *local))


def run(plan: Plan) -> list[SubtaskReport]:
    """Run an epoch, task by task."""
    worker = Worker()
    epoch = EpochPlan("job", EpochFacts(1, "a", 0), 1, 0)
    rows: list[Row] = []
    for level, width in enumerate(plan.levels):
        ordered = sorted(rows, key=lambda row: (row[3], row[2]))
        rows = []
        for subtask in range(width):
            mine = [row for row in ordered if row[0] == subtask]
            rows += run_task(plan, epoch, level, subtask, mine, worker, Stateless())
    return [report for task in read_results(rows) for report in task.subtasks]


@pytest.mark.parametrize("receivers", [2, 6])
@pytest.mark.parametrize("distribution", list(Distribution))
def test_every_way_between_tasks(distribution: Distribution, receivers: int) -> None:
    senders = receivers if distribution is Distribution.FORWARD else 3
    reports = run(plan_of(distribution, senders, receivers))
    sent = [(-number, KINDS.decode()[number % 2]) for number in range(4_000 * senders)]
    for kept in (2, 3):
        mine = [report for report in reports if report.operator == kept]
        received = [event for report in mine for event in report.committables if isinstance(event, tuple)]
        copies = receivers if distribution is Distribution.BROADCAST else 1
        assert sorted(received) == sorted(sent * copies)
        for report in mine:
            check_marks(report.committables, connected=bool(report.records_in))
    assert {report.records_out for report in reports if report.operator == 0} == {4_000}


def check_marks(events: list[Any], connected: bool) -> None:
    """No record comes behind the watermark that counts it."""
    watermark = 0
    for event in events:
        if isinstance(event, tuple):
            assert -event[0] % 4_000 >= watermark
        else:
            watermark = event
    assert watermark == 4_000 or not connected


def test_a_block_holds_records_of_one_form() -> None:
    outbox = Outbox()
    router = FixedRouter(0, 0, 1, outbox, [0])
    router.receive(RowBatch([1, 2]))
    router.receive(Columns([3], b"+"))
    router.receive(Columns([4], b"-"))
    router.receive(RowBatch([5]))
    router.flush()
    found = [blocks.decode_block(row[4])[0] for row in outbox.drain()]
    assert [batch.pairs() if isinstance(batch, Columns) else batch.values for batch in found] == [
        [1, 2],
        [(3, "+"), (4, "-")],
        [5],
    ]


def test_blocks_stay_small_whatever_the_form() -> None:
    class Wide(Columns):
        def slice(self, start: int, stop: int, step: int = 1) -> Wide:
            return Wide(self.numbers[start:stop:step], self.kinds[start:stop:step])

        def encode(self) -> tuple[int, bytes]:
            return CODEC, bytes(100_000 * len(self))

    outbox = Outbox()
    router = FixedRouter(0, 0, 1, outbox, [0])
    router.receive(Wide(range(100), b"+" * 100))
    router.flush()
    assert max(len(row[4]) for row in outbox.drain()) <= BLOCK_BYTES

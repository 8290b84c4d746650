"""The operators of columnar sources and sinks: ranges, reports, budgets, and one writer an epoch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pytest

from firesteel.common.errors import UserFunctionError
from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSink, ColumnSource, ColumnWriter, Kinds
from firesteel.functions.columns.windows import WatermarkAssignment
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import Committer, WriterContext
from firesteel.functions.source import END_OF_SPLIT, Split
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.sink import ColumnSinkOperator
from firesteel.runtime.columns.source import ColumnSourceOperator
from firesteel.runtime.operator import Epoch, OperatorContext, OperatorReport
from firesteel.runtime.output import Output
from firesteel.runtime.plan import SplitInput


class Gather:
    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.watermarks: list[int | None] = []

    def receive(self, batch: Any) -> None:
        self.batches.append(batch.rows["n"].to_pylist())

    def receive_watermark(self, watermark: int | None) -> None:
        self.watermarks.append(watermark)


def context(gather: Gather) -> OperatorContext:
    return OperatorContext(
        job_id="job",
        job_name="job",
        operator_id="source",
        name="source",
        who="source 'numbers'",
        subtask=0,
        parallelism=1,
        max_parallelism=128,
        attempt=0,
        job_parameters={},
        output=Output([gather]),
        side_outputs={},
    )


class Numbers(ColumnSource):
    """The positions themselves, `size` at a time, with a column that makes rows large."""

    def __init__(self, size: int, weight: int = 0, ends_at: int | None = None) -> None:
        self.size = size
        self.weight = weight
        self.ends_at = ends_at
        self.ranges: list[tuple[int, int]] = []

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return []

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        self.ranges.append((start, end))
        for low in range(start, end, self.size):
            numbers = list(range(low, min(low + self.size, end)))
            if self.ends_at is not None and numbers[-1] >= self.ends_at:
                return END_OF_SPLIT
            yield pa.RecordBatch.from_pydict({"n": numbers, "w": [bytes(self.weight)] * len(numbers)}), None
        return None


def run(
    source: ColumnSource, *inputs: SplitInput, assignment: WatermarkAssignment | None = None, **facts: Any
) -> tuple[Gather, OperatorReport]:
    gather = Gather()
    operator = ColumnSourceOperator(source, assignment)
    operator.open(context(gather))
    operator.begin_epoch(Epoch(EpochFacts(1, "a", 0, **facts), MIN_WATERMARK, input=inputs))
    operator.announce()
    while operator.pump():
        pass
    return gather, operator.end_epoch()


def test_ranges_are_read_in_order_and_reported() -> None:
    source = Numbers(30)
    gather, report = run(
        source, SplitInput(Split("a", 0, 200), 10, 100), SplitInput(Split("b", 0, 50), 50, 50)
    )
    assert [n for batch in gather.batches for n in batch] == list(range(10, 100))
    first, second = report.splits
    assert (first.split_id, first.position, first.finished, first.records) == ("a", 100, False, 90)
    assert (second.split_id, second.finished) == ("b", True)
    assert gather.watermarks == []


def test_a_finished_bounded_source_is_at_the_end_of_time() -> None:
    gather, _ = run(Numbers(1000), SplitInput(Split("a", 0, 100), 0, 100))
    assert gather.watermarks == [MAX_WATERMARK]


class Times(Numbers):
    """Rows whose time is their number in seconds."""

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        for rows, _ in super().read_columns(split, start, end):
            times = pa.array([n * 1_000_000 for n in rows["n"].to_pylist()], pa.timestamp("us"))
            yield pa.RecordBatch.from_arrays([rows["n"], times], ["n", "t"]), None
        return None


def test_watermarks_are_the_least_of_those_of_the_splits() -> None:
    assignment = WatermarkAssignment(1, column=1, delay=1)
    inputs = SplitInput(Split("a", 0, 50), 0, 40), SplitInput(Split("b", 0, 30), 0, 20)
    gather, report = run(Times(10), *inputs, assignment=assignment)
    assert gather.watermarks == sorted(gather.watermarks)
    assert gather.watermarks[-1] == 18_999
    states = [split.generator_state for split in report.splits]
    later = [
        SplitInput(Split("a", 0, 50), 40, 50, states[0]),
        SplitInput(Split("b", 0, 30), 20, 30, states[1]),
    ]
    gather, _ = run(Times(10), *later, assignment=assignment)
    assert gather.watermarks[-1] == MAX_WATERMARK
    gather, _ = run(
        Times(10), later[0], SplitInput(Split("b", 0, 30), 20, 20, states[1]), assignment=assignment
    )
    assert gather.watermarks == [18_999]


def test_batches_that_are_too_long_are_cut() -> None:
    gather, _ = run(Numbers(200_000), SplitInput(Split("a", 0, 200_000), 0, 200_000))
    assert max(map(len, gather.batches)) == ColumnBatch.MOST
    assert sum(map(len, gather.batches)) == 200_000


def test_an_epoch_ends_where_its_bytes_are_used_up() -> None:
    source = Numbers(64, weight=1 << 20)
    gather, report = run(source, SplitInput(Split("a", 0, 1000), 0, 1000), budget=100 << 20)
    [split] = report.splits
    assert split.position == sum(map(len, gather.batches)) < 150
    assert source.ranges[0] == (0, 64)


def test_a_split_without_a_known_end_ends_when_its_reader_says_so() -> None:
    _, report = run(Numbers(10, ends_at=35), SplitInput(Split("a", 0, None), 0, 1000))
    [split] = report.splits
    assert split.finished
    assert split.records == 30


def test_an_error_of_a_source_names_the_operator() -> None:
    class Broken(Numbers):
        def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
            yield from super().read_columns(split, start, start + 1)
            raise ValueError("no more")

    with pytest.raises(UserFunctionError, match="source 'numbers'"):
        run(Broken(10), SplitInput(Split("a", 0, 10), 0, 10))


class Noting(ColumnSink):
    def __init__(self) -> None:
        self.notes: list[Any] = []

    def create_writer(self, context: WriterContext) -> ColumnWriter:
        return NotingWriter(self.notes, context)

    def create_committer(self) -> Committer:
        raise AssertionError


class NotingWriter(ColumnWriter):
    def __init__(self, notes: list[Any], context: WriterContext) -> None:
        self.notes = notes
        notes.append(("opened", context.epoch, context.state))

    def write_columns(self, rows: pa.RecordBatch, kinds: Kinds | None) -> None:
        self.notes.append(rows["n"].to_pylist())

    def prepare_commit(self) -> Sequence[Any]:
        return ["committable"]

    def snapshot_state(self) -> Any:
        return "state"

    def abort(self) -> None:
        self.notes.append("aborted")


def test_a_sink_has_one_writer_an_epoch_and_none_without_need() -> None:
    sink = Noting()
    operator = ColumnSinkOperator(sink)
    operator.open(context(Gather()))
    operator.begin_epoch(Epoch(EpochFacts(1, "a", 0), MIN_WATERMARK))
    assert operator.end_epoch().committables == ()
    operator.begin_epoch(Epoch(EpochFacts(2, "a", 0), MIN_WATERMARK))
    batch = ColumnBatch(pa.RecordBatch.from_pydict({"n": [1]}))
    operator.process(batch, 0)
    operator.process(batch, 0)
    report = operator.end_epoch()
    assert (report.operator_state, report.committables) == ("state", ["committable"])
    operator.begin_epoch(Epoch(EpochFacts(3, "a", 0), MIN_WATERMARK, "state"))
    assert operator.end_epoch().committables == ["committable"]
    operator.begin_epoch(Epoch(EpochFacts(4, "a", 0), MIN_WATERMARK))
    operator.process(batch, 0)
    operator.close()
    assert sink.notes == [
        ("opened", 2, None),
        [1],
        [1],
        ("opened", 3, "state"),
        ("opened", 4, None),
        [1],
        "aborted",
    ]

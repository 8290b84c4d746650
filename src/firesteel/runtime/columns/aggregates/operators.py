"""The operators of aggregates by key: what comes before an exchange by the keys, and what comes after it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import pyarrow as pa

from firesteel.functions.columns.aggregates import GroupAggregate
from firesteel.runtime.columns.aggregates.adding import Partials
from firesteel.runtime.columns.aggregates.form import Form
from firesteel.runtime.columns.aggregates.gathering import Gathered
from firesteel.runtime.columns.aggregates.groups import Groups
from firesteel.runtime.columns.aggregates.held import HeldGroups
from firesteel.runtime.columns.aggregates.parts import Given
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.ending import EndingOperator
from firesteel.runtime.columns.settling import SettlingOperator
from firesteel.runtime.operator import Epoch, Operator, OperatorContext, OperatorReport


class LocalAggregateOperator(Operator[ColumnBatch]):
    """Adds up its input by key before the exchange, within an epoch; the output is for `GroupAggregateOperator`.

    The output's columns are those of `Form`: the keys, named as in `output`, then the parts of accumulators. If there
    are nearly as many keys as rows, rows pass by as partial results of their own. It has no state.
    """

    def __init__(self, spec: GroupAggregate) -> None:
        self._form = Form(spec)
        self._gathered = Gathered(self._form)

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Add up a batch."""
        rows = self._form.lift(given(batch))
        if self._gathered.pays():
            self._take(rows)
        else:
            self._emit()
            self._send(rows)

    def finish(self) -> None:
        """Emit what has been added up."""
        self._flush()

    def end_epoch(self) -> OperatorReport:
        """Emit what has been added up."""
        self._flush()
        return OperatorReport()

    def _flush(self) -> None:
        self._emit()

    def _take(self, partials: pa.RecordBatch) -> None:
        """Add partial results."""
        self._gathered.add(partials)
        if self._gathered.full:
            self._emit()

    def _send(self, partials: pa.RecordBatch) -> None:
        for part in ColumnBatch(self._form.sent(partials)).parts():
            self.output.emit(part)

    def _emit(self) -> None:
        for rows in self._gathered.parts():
            self._send(self._form.shrink(rows))


class _AddingOperator(SettlingOperator):
    """Adds up its input, which comes by the keys; `partial`: it is that of `LocalAggregateOperator`.

    Contract for subclasses: `open` sets `_groups`, which is told of epochs; `_change` takes partial results, as
    `Form.combine` returns them.
    """

    _groups: Groups | HeldGroups

    def __init__(self, spec: GroupAggregate, *, partial: bool = False) -> None:
        self._spec = spec
        self._partial = partial
        self._form = Form(spec)
        self._gathered = Gathered(self._form)

    def open(self, context: OperatorContext) -> None:
        """Open the user's functions."""
        super().open(context)
        self._form.open(context)

    def close(self) -> None:
        """Close the user's functions."""
        self._form.close()
        super().close()

    def begin_epoch(self, epoch: Epoch) -> None:
        """Start an epoch."""
        super().begin_epoch(epoch)
        self._groups.begin_epoch(self.epoch)

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Take rows, or partial results."""
        self._gathered.add(
            self._form.received(batch.rows) if self._partial else self._form.lift(given(batch))
        )
        if self._gathered.full:
            self._work()

    def _work(self) -> None:
        if (partials := self._gathered.take()) is not None:
            self._change(partials)

    @abstractmethod
    def _change(self, partials: Partials) -> None: ...

    def _kept_groups(self) -> Groups:
        """Return the groups in arrangements."""
        assert self.context.arrangements is not None
        return Groups(self._spec, self._form, self.context.arrangements, self.context.max_parallelism)


class GroupAggregateOperator(_AddingOperator):
    """Keeps the aggregates of each group up to date; its input comes by the keys.

    At the end of an epoch, or before if very many groups wait, the groups that the input touched are looked up and
    changed, and the changes of their results go out. `partial`: the input is that of `LocalAggregateOperator`.
    """

    _groups: Groups

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangements."""
        super().open(context)
        self._groups = self._kept_groups()

    def _change(self, partials: Partials) -> None:
        if (changes := self._groups.apply(partials)) is not None:
            for part in changes.parts():
                self.output.emit(part)


class FinalAggregateOperator(EndingOperator, _AddingOperator):
    """Emits the aggregates of each group when the input has ended, and nothing before, in BATCH mode.

    Sums are held beside the state, for nothing of them outlives the epoch; what functions need besides sums is in
    arrangements. `partial`: the input is that of `LocalAggregateOperator`.
    """

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangements, if the functions need them."""
        super().open(context)
        self._groups = self._kept_groups() if self._form.shared else HeldGroups(self._form)

    def results(self) -> Iterator[ColumnBatch]:
        """Yield the final results."""
        self._work()
        return self._groups.all()

    def _settle(self) -> None:
        self._work()

    def _change(self, partials: Partials) -> None:
        self._groups.store(partials)


def given(batch: ColumnBatch) -> Given:
    """Return the rows of a batch as accumulators take them."""
    return Given(batch.rows, None if batch.kinds is None else batch.signs())

"""The operator that finds the matches of patterns that come as a stream of definitions.

Port 0 are the events, port 1 the definitions, which all subtasks receive, in the same order. A definition without a
time is about all events that are taken after it: within an epoch it comes before all events. One with a time is about
events from that time on, so it finds the same wherever it comes, as long as the watermark has not passed its time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from firesteel.common.errors import PointedError, ProgramError
from firesteel.common.types import Row
from firesteel.functions.output_tag import OutputTag
from firesteel.functions.patterns.processors import NamedPattern, PatternProcessor, PatternSource
from firesteel.functions.patterns.results import PatternProcessFunction
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.context import TaskRuntimeContext
from firesteel.runtime.operator import OperatorContext
from firesteel.runtime.patterns.many.operator import ManyPatternsOperator
from firesteel.runtime.patterns.many.registry import Record
from firesteel.runtime.patterns.many.running import RunningPattern

_log = logging.getLogger(__name__)

_Rejected = Row("definition", "message", "line", "column")


class DynamicPatternsOperator(ManyPatternsOperator):
    """Looks for the patterns that `source` makes of definitions; `functions` live as long as the operator.

    A definition that is wrong goes to the side output of `rejected_tag`, as a Row of the record, the message, and the
    line and column if it is about a place in a text; without a tag it is counted (`numRejectedDefinitions`) and
    logged. If `strict`, it is an error.
    """

    def __init__(
        self,
        source: PatternSource,
        functions: Sequence[PatternProcessFunction] = (),
        *,
        rejected_tag: OutputTag | None = None,
        strict: bool = False,
        event_time: bool = True,
        comparator: Callable[[Any, Any], int] | None = None,
        late_tag: OutputTag | None = None,
    ) -> None:
        super().__init__({}, event_time=event_time, comparator=comparator, late_tag=late_tag)
        self._source = source
        self._shared = functions
        self._rejected_tag = rejected_tag
        self._strict = strict

    def _open_patterns(self, context: OperatorContext, runtime: TaskRuntimeContext) -> None:
        super()._open_patterns(context, runtime)
        self._rejected = runtime.get_metrics_group().counter("numRejectedDefinitions")

    def _functions(self) -> Sequence[PatternProcessFunction]:
        return self._shared

    def _take_over(self) -> None:
        """Do nothing: the patterns are those that have come."""

    def process(self, batch: RowBatch, port: int) -> None:
        if port == 0:
            super().process(batch, port)
            return
        for value in batch.values:
            try:
                self._define(value)
            except ProgramError as error:
                if self._strict:
                    raise
                self._reject(value, error)
        self._collector.flush()

    def _define(self, value: Any) -> None:
        """Take a definition. Raises ProgramError if it is wrong."""
        new = self._source.read(value, self.context.who)
        latest = self._registry.latest(new.id)
        if latest is not None and new == PatternProcessor(*latest.definition):
            return  # it has come before
        self._check_version(new, latest)
        if new.pattern is None:
            self._registry.end(new.id, new.timestamp)
        else:
            self._registry.add(new.id, new.version, new.timestamp, new.parts())

    def _check_version(self, new: PatternProcessor, latest: RunningPattern | None) -> None:
        who = f"{self.context.who}: pattern {new.id!r}"
        removes = new.pattern is None
        if latest is None:
            if removes:
                raise ProgramError(
                    "requires a pattern that is in use, to remove it", who=who, got="none of this id"
                )
            return
        assert latest.version is not None
        if new.version is not None and new.version < latest.version + (not removes):
            least = "at least" if removes else "above"
            raise ProgramError(
                f"requires a version {least} {latest.version}, which is in use",
                who=who,
                got=f"version {new.version}",
            )

    def _reject(self, value: Any, error: ProgramError) -> None:
        if self.context.subtask > 0:
            return  # all subtasks have the same definitions; the first one tells
        self._rejected.inc()
        place = (error.line, error.column) if isinstance(error, PointedError) else (None, None)
        if self._rejected_tag is not None:
            self._collector.side(self._rejected_tag, _Rejected(value, str(error), *place), None)
        else:
            _log.warning("%s", error)

    def _named(self, record: Record) -> NamedPattern:
        who = f"{self.context.who}: pattern {record.id!r} version {record.version}"
        return self._source.named(PatternProcessor(*record.definition), who)

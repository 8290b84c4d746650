"""What the operator of MATCH_RECOGNIZE computes of each row, and of each match."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from firesteel.common.logical_types import Field, LogicalType, RowType, TimestampType
from firesteel.common.logical_types.temporal import is_proctime
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.row_patterns import (
    InputOf,
    KeyOf,
    MatchRecognize,
    MatchValue,
    TimeOf,
    TotalOf,
    ValueAt,
    WhetherTimedOut,
)
from firesteel.functions.columns.sorting import SortColumn
from firesteel.functions.patterns.growth import Remedies, warn_of_growth
from firesteel.relational.expressions import Expression, InputRef
from firesteel.relational.logical.printing import expression_text
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.row_patterns import Match
from firesteel.relational.row_patterns import MatchTime, MatchTimedOut, RowsTotal, RowValue
from firesteel.relational.rules.substitution import refs
from firesteel.relational.translation import program
from firesteel.relational.translation.row_conditions import EventColumns, row_condition, row_parts
from firesteel.runtime.columns.matching.definition import pattern_definition

_REMEDY: Final = "add WITHIN INTERVAL ... after PATTERN (...), or bounds: {1,100}"


def match_recognize(plan: Match, options: PlanOptions) -> MatchRecognize:
    """Return what the operator of a node does."""
    given = plan.input.row
    columns = EventColumns(given, options.zone)
    located = _Located(columns)
    everything = refs(given, plan.shown) if plan.pattern.all_rows else ()
    for ref in everything:
        columns.place(ref)
    for expression in (*(one.condition for one in plan.definitions), *plan.measures):
        for part in row_parts(expression):
            located(part)
    kept = len(columns.expressions)
    conditions = tuple(row_condition(one, columns, located) for one in plan.definitions)
    values = _Values(located)
    results: list[Expression] = [values.input(columns.place(ref), ref.type) for ref in everything]
    if not plan.pattern.all_rows:
        results = [values.key(place, given.fields[key].type) for place, key in enumerate(plan.partition)]
    results += [values.of(measure) for measure in plan.measures]
    if not values.found:
        values.time()  # a match is a row, also if all of its columns are constants
    if plan.pattern.within is None and not options.batch:
        steps = pattern_definition(plan.pattern, {}).steps
        warn_of_growth(steps, "MATCH_RECOGNIZE", Remedies(_REMEDY, _REMEDY))
    time, *others = plan.order
    names = [f"e{place}" for place in range(len(columns.expressions))]
    return MatchRecognize(
        input=given,
        output=plan.row,
        keys=plan.partition,
        time=time.index,
        event_time=options.batch or not is_proctime(given.fields[time.index].type),
        order=tuple(SortColumn(key.index, key.ascending, key.nulls_first) for key in others),
        pattern=plan.pattern,
        events=program(given, columns.expressions, names, zone=options.zone),
        kept=kept,
        conditions=conditions,
        values=tuple(values.found),
        types=tuple(values.found.values()),
        results=program(values.row, results, plan.row.field_names, zone=options.zone),
    )


class _Located:
    """Says where values of rows are found: in which columns of them."""

    def __init__(self, columns: EventColumns) -> None:
        self._columns = columns

    def __call__(self, part: RowValue | RowsTotal) -> ValueAt | TotalOf:
        if isinstance(part, RowValue):
            return ValueAt(part.rows, self._columns.place(part.column), part.offset, part.first)
        return TotalOf(
            part.rows,
            Aggregation(
                part.function,
                tuple(map(self._columns.place, part.arguments)),
                tuple(argument.type for argument in part.arguments),
                part.type,
                expression_text(part, self._columns.given.field_names),
            ),
        )


@dataclass
class _Values:
    """The values of a match that its rows are computed of, with their types."""

    located: _Located
    found: dict[MatchValue, LogicalType] = field(default_factory=dict)

    @property
    def row(self) -> RowType:
        """The type of all values together."""
        return RowType(
            tuple(Field(f"v{place}", kind) for place, kind in enumerate(self.found.values())), nullable=False
        )

    def key(self, place: int, kind: LogicalType) -> Expression:
        """Return a column of the partition."""
        return self._ref(KeyOf(place), kind)

    def input(self, column: int, kind: LogicalType) -> Expression:
        """Return a column of the current row."""
        return self._ref(InputOf(column), kind)

    def time(self) -> Expression:
        """Return the time of the match."""
        return self._ref(TimeOf(event_time=True), TimestampType(3, nullable=False))

    def of(self, measure: Expression) -> Expression:
        """Return a measure over the values."""
        if isinstance(measure, RowValue | RowsTotal):
            # Rows that are not there make NULL of what no row has as NULL.
            return self._ref(self.located(measure), measure.type.copy(nullable=True))
        if isinstance(measure, MatchTime):
            return self._ref(TimeOf(measure.event_time), measure.type)
        if isinstance(measure, MatchTimedOut):
            return self._ref(WhetherTimedOut(), measure.type)
        if not measure.operands:
            return measure
        return measure.with_operands(tuple(map(self.of, measure.operands)))

    def _ref(self, value: MatchValue, kind: LogicalType) -> Expression:
        self.found.setdefault(value, kind)
        return InputRef(kind, [*self.found].index(value))

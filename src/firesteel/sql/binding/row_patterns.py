"""MATCH_RECOGNIZE to a plan: its clauses, and its pattern (Flink: CommonExecMatch, PatternVisitor)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from sqlglot import exp

from firesteel.common.logical_types import DayTimeIntervalType, Field, NullType, RowType
from firesteel.common.logical_types.temporal import regular
from firesteel.common.suggestions import suggestion
from firesteel.functions.columns.row_patterns import After, PatternStep, RowPattern
from firesteel.relational.expressions import Expression, InputRef, Literal, SortKey
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.logical.row_patterns import MatchRecognize, shown_columns
from firesteel.relational.row_patterns import Definition, MatchTime
from firesteel.sql import nodes
from firesteel.sql.binding.conditions import as_condition
from firesteel.sql.binding.context import Context, name_parts
from firesteel.sql.binding.functions import materialized
from firesteel.sql.binding.literals import bind_literal
from firesteel.sql.binding.row_values import RowExpressions, Variables
from firesteel.sql.binding.scope import Relation, Scope
from firesteel.sql.writing.parts import sql

_ALL_ROWS: Final = "ALL ROWS PER MATCH"
_REFUSED: Final[dict[type[exp.Expr], str]] = {
    nodes.PatternChoice: "| (a choice) in PATTERN",
    nodes.PatternPermutation: "PERMUTE",
    nodes.PatternGroup: "a group with a quantifier in PATTERN",
}


def bind_row_pattern(
    node: nodes.RowPattern, plan: LogicalNode, name: tuple[str, ...], context: Context
) -> LogicalNode:
    """Return the plan of MATCH_RECOGNIZE over the rows of a plan, whose columns can be called by `name`.

    Raises SqlValidationError for what means nothing, SqlUnsupportedError for what Flink has no operator for, either.
    """
    return _Clause(node, plan, name, context).plan()


class _Clause:
    """One MATCH_RECOGNIZE."""

    def __init__(
        self, node: nodes.RowPattern, plan: LogicalNode, name: tuple[str, ...], context: Context
    ) -> None:
        self._node = node
        self._input = plan
        self._context = context
        self._text = context.text
        self._scope = Scope((Relation(name, plan.row.fields),))

    def plan(self) -> LogicalNode:
        """Return the node."""
        steps = self._steps()
        variables = self._variables(steps)
        pattern = self._pattern(steps)
        definitions = self._definitions(steps, variables)
        binder = replace(self._binder(variables), timed_out=pattern.timed_out)
        measures = [self._measure(item, binder) for item in self._node.args.get("measures") or ()]
        partition, order = self._partition(), self._order()
        return MatchRecognize(
            self._input,
            partition,
            order,
            pattern,
            definitions,
            tuple(value for _, value in measures),
            self._row(shown_columns(pattern, partition, order, len(self._input.row.fields)), measures),
            place=self._text.place(self._node),
        )

    # Columns

    def _place(self, node: exp.Expr, clause: str) -> int:
        parts = name_parts(node) if isinstance(node, exp.Column) else []
        found, used = self._scope.column(parts, self._text) if parts else (None, 0)
        if not isinstance(found, InputRef) or used < len(parts):
            raise self._text.wrong(node, f"requires the name of a column of the input in {clause}")
        return found.index

    def _partition(self) -> tuple[int, ...]:
        keys = self._node.args.get("partition_by") or ()
        return tuple(dict.fromkeys(self._place(key, "PARTITION BY") for key in keys))

    def _order(self) -> tuple[SortKey, ...]:
        order = self._node.args.get("order")
        if order is None:
            raise self._text.wrong(
                self._node, "requires an ORDER BY, which begins with a time attribute, in MATCH_RECOGNIZE"
            )
        keys = []
        for key in order.expressions:
            ascending = not key.args.get("desc")
            written = key.args.get("nulls_first")
            nulls_first = ascending if written is None else bool(written)
            keys.append(SortKey(self._place(key.this, "ORDER BY"), ascending, nulls_first))
        return tuple(keys)

    def _row(self, shown: Sequence[int], measures: Sequence[tuple[str, Expression]]) -> RowType:
        given = self._input.row.fields
        all_rows = self._node.args.get("rows") == _ALL_ROWS
        first = [given[place] if all_rows else _plain(given[place]) for place in shown]
        taken = {field.name for field in first}
        for (name, _), item in zip(measures, self._node.args.get("measures") or (), strict=True):
            if name in taken:
                raise self._text.wrong(item, f"defines the column {name}, which the result has already")
            taken.add(name)
        if not taken:
            raise self._text.wrong(
                self._node, "requires MEASURES or PARTITION BY, so that the result has a column"
            )
        return RowType((*first, *(Field(name, value.type) for name, value in measures)), nullable=False)

    def _measure(self, item: exp.Expr, binder: RowExpressions) -> tuple[str, Expression]:
        value = binder.bind(item.this)
        if isinstance(value.type, NullType):
            raise self._text.wrong(item, "requires a value with a type", got="NULL")
        return item.alias, value if isinstance(value, MatchTime) else materialized(value)

    # The pattern

    def _pattern(self, steps: Sequence[PatternStep]) -> RowPattern:
        after, skips_to = self._after([step.variable for step in steps])
        all_rows = self._node.args.get("rows") == _ALL_ROWS
        within, timed_out = self._within(), bool(self._node.args.get("timed_out"))
        if timed_out and within is None:
            raise self._text.wrong(
                self._node.args["pattern"],
                "requires WITHIN after PATTERN (...): matches without it do not time out",
                got="WITH TIMED OUT MATCHES",
            )
        return RowPattern(tuple(steps), after, skips_to, within, all_rows, timed_out)

    def _steps(self) -> list[PatternStep]:
        for anchor in ("anchored_start", "anchored_end"):
            if self._node.args.get(anchor):
                raise self._text.unsupported(self._node.args["pattern"], "^ and $ in PATTERN")
        steps: list[PatternStep] = []
        for step, node in self._flat(self._node.args["pattern"]):
            if step.variable in {known.variable for known in steps}:
                raise self._text.unsupported(
                    node, f"the pattern variable {step.variable} twice", as_in_flink=True
                )
            steps.append(step)
        self._check_steps(steps)
        return steps

    def _check_steps(self, steps: Sequence[PatternStep]) -> None:
        pattern, last = self._node.args["pattern"], steps[-1]
        if not any(step.least for step in steps):
            raise self._text.unsupported(
                pattern,
                "a pattern that matches no rows at all",
                as_in_flink=True,
                hint="let at least one variable take a row: +, {n}, or no quantifier",
            )
        for before, step in pairwise(steps):
            if before.insists and not step.least:
                raise self._text.unsupported(
                    pattern,
                    f"the optional {step} after the greedy {before}",
                    as_in_flink=True,
                    hint=f"write {before}?, which takes as few as it can",
                )
        if last.insists:
            raise self._text.unsupported(
                pattern,
                "a greedy quantifier as the last element of a pattern",
                as_in_flink=True,
                hint=f"end with a variable that takes one row, or write {last}?, which takes as few as it can",
            )

    def _flat(self, node: exp.Expr, *, excluded: bool = False) -> Iterator[tuple[PatternStep, exp.Expr]]:
        """Yield the steps of a part of the pattern, with their nodes."""
        match node:
            case exp.Identifier():
                yield PatternStep(node.name, excluded=excluded), node
            case nodes.PatternSequence():
                for part in node.expressions:
                    yield from self._flat(part, excluded=excluded)
            case nodes.PatternGroup():
                yield from self._flat(node.this, excluded=excluded)
            case nodes.PatternExclusion():
                yield from self._flat(node.this, excluded=True)
            case nodes.PatternRepeat():
                yield self._repeated(node, excluded=excluded), node
            case _:
                raise self._text.unsupported(node, _REFUSED[type(node)], as_in_flink=True)

    def _repeated(self, node: nodes.PatternRepeat, *, excluded: bool) -> PatternStep:
        inner = node.this
        while isinstance(inner, nodes.PatternGroup):
            inner = inner.this
        if not isinstance(inner, exp.Identifier):
            raise self._text.unsupported(node, _REFUSED[nodes.PatternGroup], as_in_flink=True)
        low, high = (node.args.get(bound) for bound in ("low", "high"))
        least = 0 if low is None else int(low.name)
        most = None if high is None else int(high.name)
        if most is not None and (most < max(least, 1)):
            raise self._text.wrong(
                node, "requires the most rows of a quantifier to be at least 1, and at least the fewest"
            )
        greedy = not node.args.get("reluctant")
        if (least, most) == (0, 1) and not greedy:
            raise self._text.unsupported(node, "a reluctant optional variable (??)", as_in_flink=True)
        return PatternStep(inner.name, least, most, greedy, excluded)

    def _after(self, variables: Sequence[str]) -> tuple[After, str | None]:
        after = self._node.args.get("after")
        if after is None:
            return "TO NEXT ROW", None
        words, *target = after.expressions
        if not target:
            return ("PAST LAST ROW" if words.name == "PAST LAST ROW" else "TO NEXT ROW"), None
        name = target[0].name
        if name not in variables:
            raise self._unknown(target[0], name, variables)
        return ("TO FIRST" if words.name == "TO FIRST" else "TO LAST"), name

    def _within(self) -> int | None:
        node = self._node.args.get("within")
        if node is None:
            return None
        value = bind_literal(node, self._text)
        if not isinstance(value, Literal) or not isinstance(value.type, DayTimeIntervalType):
            raise self._text.wrong(node, "requires a constant interval of days or smaller units in WITHIN")
        length = int(value.value // dt.timedelta(milliseconds=1))
        if length < 0:
            raise self._text.wrong(node, "requires an interval of at least 0 in WITHIN")
        return length or None

    # Variables

    def _variables(self, steps: Sequence[PatternStep]) -> Variables:
        known = {step.variable: (step.variable,) for step in steps}
        found: dict[str, tuple[str, ...]] = dict(known)
        for subset in self._node.args.get("subsets") or ():
            name = subset.this.name
            if name in found:
                raise self._text.wrong(subset, f"defines the pattern variable {name} twice")
            members = [member.name for member in subset.expressions]
            for member, node in zip(members, subset.expressions, strict=True):
                if member not in known:
                    raise self._unknown(node, member, known)
            found[name] = tuple(step.variable for step in steps if step.variable in members)
        return found

    def _definitions(self, steps: Sequence[PatternStep], variables: Variables) -> tuple[Definition, ...]:
        """Return the conditions of the variables in PATTERN; as in Flink, there may be others, which say nothing."""
        found: dict[str, Definition] = {}
        for item in self._node.args["define"]:
            name = item.alias
            if name in found:
                raise self._text.wrong(item, f"defines the pattern variable {name} twice")
            binder = replace(
                self._binder({**variables, name: (name,)}), clause="DEFINE", defining=name, time=self._time()
            )
            found[name] = Definition(name, as_condition(binder, item.this), sql(item.this))
        return tuple(found[step.variable] for step in steps if step.variable in found)

    def _binder(self, variables: Variables) -> RowExpressions:
        return RowExpressions(self._context, self._scope, "MEASURES", variables=variables)

    def _time(self) -> Expression:
        first = self._order()[0].index
        return InputRef(self._input.row.fields[first].type, first)

    def _unknown(self, node: exp.Expr, name: str, known: Iterable[str]) -> Exception:
        hint = suggestion(name, [*known])
        return self._text.wrong(node, "requires the name of a variable in PATTERN", got=name, hint=hint)


def _plain(field: Field) -> Field:
    return Field(field.name, regular(field.type))

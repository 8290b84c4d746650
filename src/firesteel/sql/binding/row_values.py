"""Expressions of MATCH_RECOGNIZE: columns of pattern variables, FIRST and LAST, aggregates over rows of a match.

In DEFINE, a column without a variable is one of the row that is asked about, and so is the last one of the variable
that is defined. In MEASURES it is one of the last row of the match. Source: Calcite's SqlValidatorImpl
(PatternValidator) and Flink's MatchCodeGenerator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from sqlglot import exp

from firesteel.common.logical_types import (
    BooleanType,
    LocalZonedTimestampType,
    LogicalType,
    TimestampKind,
    TimestampType,
)
from firesteel.common.logical_types.temporal import AnyTimestampType, is_rowtime, regular
from firesteel.common.suggestions import suggestion
from firesteel.functions.columns.row_patterns import RowsOf
from firesteel.relational.expressions import Expression
from firesteel.relational.functions.aggregates import is_aggregate, result_type
from firesteel.relational.row_patterns import MatchTime, MatchTimedOut, RowsTotal, RowValue
from firesteel.sql import nodes
from firesteel.sql.binding.calls import resolved_aggregate
from firesteel.sql.binding.context import name_parts
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.scope import only

_LOGICAL: Final = frozenset({"FIRST", "LAST"})
_PHYSICAL: Final = frozenset({"PREV", "NEXT"})
_TIMES: Final = frozenset({"MATCH_ROWTIME", "MATCH_PROCTIME"})
_TIMED_OUT: Final = "MATCH_TIMED_OUT"
_UNKNOWN: Final = frozenset({"CLASSIFIER", "MATCH_NUMBER"})

Variables = Mapping[str, tuple[str, ...]]
"""The pattern variables that a name stands for: itself, or those of a SUBSET."""


@dataclass(frozen=True)
class Around:
    """The function that a column stands in: FIRST or LAST with an offset, or an aggregate (`name` only).

    `taken` collects whose columns stand in it.
    """

    name: str
    offset: int = 0
    total: bool = False
    taken: list[tuple[str, ...]] = field(default_factory=list)


@dataclass(frozen=True)
class RowExpressions(Expressions):
    """Binds expressions over the rows of a match; `scope` has the columns of the input.

    `defining` is the variable of DEFINE (None: among MEASURES), `final` whether FINAL stands before, `around` the
    function that the expression stands in, `time` the first column of the order. With `timed_out`, any variable may be
    without rows.
    """

    variables: Variables = field(default_factory=dict)
    defining: str | None = None
    final: bool = False
    around: Around | None = None
    time: Expression | None = None
    timed_out: bool = False

    def _bound(self, node: exp.Expr) -> Expression:
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return self._of_rows(node)
        if isinstance(node, nodes.Measured):
            return self._measured(node)
        if isinstance(node, nodes.Call) and len(node.args["names"]) == 1:
            found = self._called(node, node.function.upper())
            if found is not None:
                return found
        return super()._bound(node)

    def _called(self, node: nodes.Call, name: str) -> Expression | None:
        text = self.context.text
        if name in _LOGICAL:
            return self._located(node, name)
        if name in _PHYSICAL:
            return self._physical(node, name)
        if name in _TIMES:
            return self._time(node, name)
        if name == _TIMED_OUT:
            return self._whether_timed_out(node)
        if name in _UNKNOWN:
            raise text.unsupported(node, name, as_in_flink=True)
        return self._total(node, name) if is_aggregate(name) else None

    # Columns

    def _of_rows(self, node: exp.Column) -> Expression:
        text, parts = self.context.text, name_parts(node)
        variables: tuple[str, ...] = ()
        qualified = len(parts) > 1 and parts[0].name in self.variables
        if qualified:
            variables = self.variables[parts[0].name]
        elif len(parts) > 1 and not self.scope.named(parts[0].name):
            hint = suggestion(parts[0].name, [*self.variables, *self.scope.names])
            raise text.wrong(
                parts[0],
                "requires the name of a pattern variable or of a column",
                got=parts[0].name,
                hint=hint,
            )
        column, *path = parts[1:] if qualified else parts
        ref = only(self.scope.named(column.name), column, column.name, self.scope.fields, text)
        value = self._of(ref, variables)
        for part in path:
            value = self.field(value, part)
        return value

    def _of(self, ref: Expression, variables: tuple[str, ...]) -> Expression:
        around = self.around
        if around is not None:
            around.taken.append(variables)
            if around.total:
                return ref
        offset, first = (0, False) if around is None else (around.offset, around.name == "FIRST")
        defined = self.defining is not None and (not variables or self.defining in variables)
        if defined and not offset and not first:
            return ref
        kind = regular(ref.type)
        if self.timed_out:
            kind = kind.copy(nullable=True)
        return RowValue(kind, ref, RowsOf(variables, self.final), offset, first)

    # Functions

    def _measured(self, node: nodes.Measured) -> Expression:
        kind = str(node.args["kind"])
        if self.defining is not None or self.around is not None:
            raise self.context.text.wrong(
                node, f"uses {kind}, which stands before functions in MEASURES only"
            )
        return replace(self, final=kind == "FINAL").bind(node.this)

    def _located(self, node: nodes.Call, name: str) -> Expression:
        if self.around is not None and self.around.total and name == "LAST" and not self._offset(node, 0):
            return self.bind(node.expressions[0])  # the last of the rows up to each row is the row itself
        return self._inside(node, Around(name, self._offset(node, 0)), node.expressions[0])

    def _physical(self, node: nodes.Call, name: str) -> Expression:
        if self.defining is None:
            raise self.context.text.wrong(node, f"uses {name} in MEASURES; it belongs to DEFINE")
        if self._offset(node, 1):
            hint = "use LAST(variable.column, n), which counts the rows of a variable"
            raise self.context.text.unsupported(
                node, f"{name} (a physical offset)", hint=hint, as_in_flink=True
            )
        return self._inside(node, Around("LAST"), node.expressions[0])

    def _offset(self, node: nodes.Call, default: int) -> int:
        text, given = self.context.text, node.expressions
        if not 1 <= len(given) <= 2:
            raise text.wrong(node, f"requires an expression and an offset in {node.function.upper()}")
        if len(given) == 1:
            return default
        offset = given[1]
        if not (isinstance(offset, exp.Literal) and not offset.is_string and offset.name.isdigit()):
            raise text.wrong(
                offset, f"requires a whole number from 0 on as the offset of {node.function.upper()}"
            )
        return int(offset.name)

    def _inside(self, node: nodes.Call, around: Around, inner: exp.Expr) -> Expression:
        text = self.context.text
        if self.around is not None:
            raise text.wrong(node, f"uses {node.function.upper()} within {self.around.name}")
        found = replace(self, around=around).bind(inner)
        self._require_one_variable(node, around)
        if not around.taken:
            raise text.wrong(node, f"requires a column in {node.function.upper()}")
        return found

    def _total(self, node: nodes.Call, name: str) -> Expression:
        text = self.context.text
        if self.around is not None:
            raise text.wrong(node, f"uses the aggregate function {name} within {self.around.name}")
        if node.args.get("quantifier") == "DISTINCT":
            raise text.wrong(node, "uses DISTINCT, which aggregates in MATCH_RECOGNIZE do not have")
        around = Around(name, total=True)
        resolved = resolved_aggregate(replace(self, around=around), node)
        if resolved.function.ranks:
            raise text.wrong(node, f"uses {name} without OVER, which it requires")
        self._require_one_variable(node, around)
        if not around.taken and resolved.arguments:
            raise text.wrong(node, f"requires a column in {name}", hint="use COUNT(*) to count rows")
        (variables,) = {*around.taken} or {()}
        return RowsTotal(
            result_type(resolved, may_be_empty=True),
            resolved.function.name,
            resolved.arguments,
            RowsOf(variables, self.final),
        )

    def _require_one_variable(self, node: nodes.Call, around: Around) -> None:
        if len({*around.taken}) > 1:
            raise self.context.text.wrong(
                node, f"requires the columns in {around.name} to be of one pattern variable", got="several"
            )

    def _time(self, node: nodes.Call, name: str) -> Expression:
        text = self.context.text
        if self.around is not None:
            raise text.wrong(node, f"uses {name} within {self.around.name}")
        if name == "MATCH_PROCTIME":
            if node.expressions:
                raise text.wrong(node, "requires no arguments in MATCH_PROCTIME")
            kind: LogicalType = LocalZonedTimestampType(3, TimestampKind.PROCTIME, nullable=False)
            if self.defining is not None:
                raise text.unsupported(node, "MATCH_PROCTIME in DEFINE")
            return MatchTime(kind, event_time=False)
        if len(node.expressions) > 1:
            raise text.wrong(node, "requires at most one argument in MATCH_ROWTIME")
        wanted = self._rowtime(node)
        if self.time is None:
            return MatchTime(wanted, event_time=True)
        if not is_rowtime(self.time.type):
            raise text.wrong(
                node, "uses MATCH_ROWTIME in DEFINE, where rows are not in the order of a row time"
            )
        return self.time

    def _whether_timed_out(self, node: nodes.Call) -> Expression:
        text = self.context.text
        if node.expressions:
            raise text.wrong(node, f"requires no arguments in {_TIMED_OUT}")
        if not self.timed_out or self.around is not None:
            raise text.wrong(
                node,
                f"uses {_TIMED_OUT}, which is a measure of its own of matches WITH TIMED OUT MATCHES",
                hint="write ONE ROW PER MATCH WITH TIMED OUT MATCHES",
            )
        return MatchTimedOut(BooleanType(nullable=False))

    def _rowtime(self, node: nodes.Call) -> AnyTimestampType:
        """Return the type of the time of a match: that of the row time that is given, TIMESTAMP(3) without one."""
        if not node.expressions:
            return TimestampType(3, TimestampKind.ROWTIME, nullable=False)
        (given,) = node.expressions
        kind = replace(self, around=Around("MATCH_ROWTIME", total=True)).bind(given).type
        if not is_rowtime(kind):
            raise self.context.text.wrong(
                given, "requires a row time as the argument of MATCH_ROWTIME", got=str(kind)
            )
        assert isinstance(kind, AnyTimestampType)
        return kind

"""Expressions as they are written to typed expressions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlglot import exp

from firesteel.common.logical_types import STRING, LogicalTypeFamily, RowType, StructuredType
from firesteel.common.suggestions import suggestion
from firesteel.relational.expressions import Expression
from firesteel.relational.functions import cast, field_of, symbol
from firesteel.sql import nodes
from firesteel.sql.binding import calls, questions
from firesteel.sql.binding.context import Context, name_parts
from firesteel.sql.binding.functions import called, written_cast
from firesteel.sql.binding.literals import bind_literal, negated, number_literal
from firesteel.sql.binding.scope import Scope
from firesteel.sql.binding.types import type_of

_BINARY: Final[dict[type[exp.Expr], str]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.Like: "LIKE",
    exp.SimilarTo: "SIMILAR TO",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
}
_UNSUPPORTED: Final[dict[type[exp.Expr], str]] = {
    exp.Select: "a query as an argument",
    exp.ILike: "ILIKE",
    exp.WithinGroup: "WITHIN GROUP",
    nodes.Measured: "RUNNING and FINAL",
    nodes.TableArgument: "a table as an argument of a function",
    nodes.ModelArgument: "a model",
    nodes.DefaultArgument: "DEFAULT as an argument",
    nodes.NamedArgument: "an argument by name",
}


@dataclass(frozen=True)
class Expressions:
    """Binds expressions over the columns of a scope.

    `clause` is where they stand, for errors; `aggregates`, `overs` and `queries` say whether aggregates, windows and
    subqueries may be part of them. `one_group` is whether aggregates are over all rows, of which there may be none.
    `aliases` are names that hide the columns, `windows` those of WINDOW; `later` are the aliases of SELECT, which are
    not known here.
    """

    context: Context
    scope: Scope
    clause: str = "SELECT"
    aggregates: bool = False
    overs: bool = False
    queries: bool = False
    one_group: bool = False
    aliases: Mapping[str, Expression] = field(default_factory=dict)
    windows: Mapping[str, exp.Window] = field(default_factory=dict)
    later: Collection[str] = ()

    def bind(self, node: exp.Expr) -> Expression:
        """Return the expression that a node means, with its place.

        Raises SqlValidationError and SqlUnsupportedError.
        """
        return self._bound(node).at(self.context.text.place(node))

    def _bound(self, node: exp.Expr) -> Expression:
        literal = bind_literal(node, self.context.text)
        if literal is not None:
            return literal
        if type(node) in _BINARY:
            if isinstance(node.expression, exp.Any | exp.All):
                return questions.bind_quantified(self, node, _BINARY[type(node)])
            return self.call(_BINARY[type(node)], node, node.this, node.expression)
        method = _METHODS.get(type(node))
        if method is None:
            what = _UNSUPPORTED.get(type(node), type(node).__name__.upper())
            raise self.context.text.unsupported(node, what)
        return method(self, node)

    def call(self, function: str, node: exp.Expr, *operands: exp.Expr) -> Expression:
        """Return the call of a scalar function, whose operands are bound first."""
        bound = [self.bind(operand) for operand in operands]
        return called(function, bound, node, self.context.text, operands)

    def column(self, node: exp.Expr) -> Expression:
        """Return the column that a name stands for, or a field of it."""
        parts = name_parts(node)
        if isinstance(node.this, exp.Star):
            raise self.context.text.wrong(node, "has an asterisk where one value is required")
        if len(parts) == 1 and parts[0].name in self.aliases:
            return self.aliases[parts[0].name]
        if len(parts) == 1 and parts[0].name in self.later and parts[0].name not in self.scope.names:
            hint = f"{self.clause} does not know the names of SELECT: write the expression, or put the query into FROM"
            raise self.context.text.wrong(
                parts[0], "requires the name of a column", got=parts[0].name, hint=hint
            )
        found, used = self.scope.column(parts, self.context.text)
        value: Expression = found
        for part in parts[used:]:
            value = self.field(value, part)
        return value

    def field(self, value: Expression, part: exp.Expr) -> Expression:
        """Return a field of a row."""
        name, kind = part.name, value.type
        fields = kind.fields if isinstance(kind, RowType) else ()
        fields = kind.attributes if isinstance(kind, StructuredType) else fields
        if not fields:
            raise self.context.text.wrong(part, "requires a row to take a field of", got=str(kind))
        for place, candidate in enumerate(fields):
            if candidate.name == name:
                return field_of(value, place)
        hint = suggestion(name, [candidate.name for candidate in fields])
        raise self.context.text.wrong(part, f"requires a field of {kind}", got=name, hint=hint)

    def _connected(self, node: exp.Expr) -> Expression:
        kind, operands, rest = type(node), [], [node]
        while rest:
            part = rest.pop()
            if type(part) is kind:
                rest += [part.expression, part.this]
            else:
                operands.append(part)
        return self.call("AND" if kind is exp.And else "OR", node, *operands)

    def _not(self, node: exp.Expr) -> Expression:
        inner = node.this
        if isinstance(inner, exp.Is):
            return self._is(inner, "IS NOT ")
        return self.call("NOT", node, inner)

    def _is(self, node: exp.Expr, words: str = "IS ") -> Expression:
        match node.expression:
            case exp.Null():
                return self.call(f"{words}NULL", node, node.this)
            case nodes.Unknown():
                return self.call(f"{words}UNKNOWN", node, node.this)
            case what:
                return self.call(f"{words}{'TRUE' if what.this else 'FALSE'}", node, node.this)

    def _is_kind(self, node: exp.Expr) -> Expression:
        kind = str(node.args["kind"])
        if not kind.startswith("JSON"):
            raise self.context.text.unsupported(node, f"IS {kind}")
        found = self.call("IS JSON VALUE" if kind == "JSON" else f"IS {kind}", node, node.this)
        return called("NOT", [found], node, self.context.text) if node.args.get("negated") else found

    def _negative(self, node: exp.Expr) -> Expression:
        inner = node.this
        if isinstance(inner, exp.Literal) and not inner.is_string:
            return number_literal(inner, self.context.text, negative=True)
        value = self.bind(inner)
        constant = negated(value)
        return constant if constant is not None else called("-", [value], node, self.context.text)

    def _escaped(self, node: exp.Expr) -> Expression:
        like = node.this
        if type(like) not in _BINARY:
            raise self.context.text.unsupported(node, "ILIKE")
        return self.call(_BINARY[type(like)], node, like.this, like.expression, node.expression)

    def _overlaps(self, node: exp.Expr) -> Expression:
        points: list[exp.Expr] = []
        for span in (node.this, node.expression):
            row = isinstance(span, nodes.Call) and span.function.upper() == "ROW"
            parts = span.expressions if row or isinstance(span, exp.Tuple) else []
            if len(parts) != 2:
                hint = "write (start, end) OVERLAPS (start, end)"
                raise self.context.text.wrong(span, "requires two points in time in OVERLAPS", hint=hint)
            points += parts
        return self.call("OVERLAPS", node, *points)

    def _time_difference(self, node: exp.Expr) -> Expression:
        times = [self.bind(time) for time in (node.this.this, node.this.expression)]
        return called("MINUS_DATE", [symbol(node.args["unit"]), *times], node, self.context.text)

    def _between(self, node: exp.Expr) -> Expression:
        value, low, high = (self.bind(node.args[part]) for part in ("this", "low", "high"))
        found = self._within(value, low, high, node)
        if not node.args.get("symmetric"):
            return found
        return called("OR", [found, self._within(value, high, low, node)], node, self.context.text)

    def _within(self, value: Expression, low: Expression, high: Expression, node: exp.Expr) -> Expression:
        text = self.context.text
        bounds = [called(">=", [value, low], node, text), called("<=", [value, high], node, text)]
        return called("AND", bounds, node, text)

    def _in(self, node: exp.In) -> Expression:
        if node.args.get("query") is not None:
            return questions.bind_in(self, node)
        return self.call("IN", node, node.this, *node.expressions)

    def _case(self, node: exp.Expr) -> Expression:
        operands: list[Expression] = []
        value = self.bind(node.this) if node.this else None
        for branch in node.args["ifs"]:
            condition = self.bind(branch.this)
            if value is not None:
                condition = called("=", [value, condition], branch, self.context.text)
            operands += [condition, self.bind(branch.args["true"])]
        default = node.args.get("default") or exp.Null()
        operands.append(self.bind(default))
        return called("CASE", operands, node, self.context.text)

    def _cast(self, node: exp.Expr) -> Expression:
        target = type_of(node.args["to"], self.context.text)
        attempt = isinstance(node, exp.TryCast)
        return written_cast(self.bind(node.this), target, attempt, node, self.context.text)

    def _item(self, node: exp.Expr) -> Expression:
        return self.call("ITEM", node, node.this, *node.expressions)

    def _dot(self, node: exp.Expr) -> Expression:
        return self.field(self.bind(node.this), node.expression)

    def _field_at(self, node: exp.Expr) -> Expression:
        value, place = self.bind(node.this), node.args["place"]
        count = len(value.type.children) if isinstance(value.type, RowType | StructuredType) else 0
        if not 0 <= place < count:
            raise self.context.text.wrong(
                node, f"requires a row with a field at place {place}", got=str(value.type)
            )
        return field_of(value, place)

    def _plus(self, node: exp.Expr) -> Expression:
        operands = [self.bind(node.this), self.bind(node.expression)]
        texts = [part for part in operands if part.type.has_family(LogicalTypeFamily.CHARACTER_STRING)]
        if texts:
            operands = [part if part in texts else cast(part, STRING) for part in operands]
            return called("||", operands, node, self.context.text)
        return called("+", operands, node, self.context.text, (node.this, node.expression))

    def _constructor(self, node: exp.Expr) -> Expression:
        if node.args.get("query") is not None:
            raise self.context.text.unsupported(node, f"{node.name} of a query")
        if node.name == "MULTISET":
            raise self.context.text.unsupported(node, "MULTISET")
        return self.call(node.name, node, *node.expressions)

    def _row(self, node: exp.Expr) -> Expression:
        return self.call("ROW", node, *node.expressions)


_METHODS: Final[dict[type[exp.Expr], Callable[[Expressions, Any], Expression]]] = {
    exp.Column: Expressions.column,
    exp.Paren: lambda binder, node: binder.bind(node.this),
    exp.And: Expressions._connected,
    exp.Or: Expressions._connected,
    exp.Not: Expressions._not,
    exp.Is: Expressions._is,
    exp.Neg: Expressions._negative,
    exp.Escape: Expressions._escaped,
    exp.Overlaps: Expressions._overlaps,
    nodes.TimeDifference: Expressions._time_difference,
    exp.Between: Expressions._between,
    exp.In: Expressions._in,
    exp.Exists: questions.bind_query_value,
    exp.Subquery: questions.bind_query_value,
    exp.Case: Expressions._case,
    exp.Cast: Expressions._cast,
    exp.TryCast: Expressions._cast,
    exp.Bracket: Expressions._item,
    exp.Dot: Expressions._dot,
    exp.Tuple: Expressions._row,
    nodes.Constructor: Expressions._constructor,
    nodes.FieldAt: Expressions._field_at,
    nodes.Plus: Expressions._plus,
    nodes.IsKind: Expressions._is_kind,
    nodes.Call: calls.call,
    nodes.SpecialCall: calls.special_call,
    exp.Filter: calls.aggregate,
    nodes.NullTreatment: calls.aggregate,
    exp.Window: calls.over,
}

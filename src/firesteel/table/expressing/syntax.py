"""Expressions to the syntax that SQL's parser would make of the same words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlglot import exp

from firesteel.common.errors import ProgramError
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.sql import nodes
from firesteel.sql.binding.types import MONTHS
from firesteel.sql.dialect.flink import Flink
from firesteel.table.expressing import document_syntax
from firesteel.table.expressing.tree import Call, Kind, Name, Rows, TableRows, Text, Tree, Value, Word
from firesteel.table.window import GroupWindow, OverWindow

_BINARY: Final[dict[str, type[exp.Expr]]] = {
    "plus": nodes.Plus,
    "minus": exp.Sub,
    "times": exp.Mul,
    "divide": exp.Div,
    "equals": exp.EQ,
    "notEquals": exp.NEQ,
    "lessThan": exp.LT,
    "lessThanOrEqual": exp.LTE,
    "greaterThan": exp.GT,
    "greaterThanOrEqual": exp.GTE,
    "similar": exp.SimilarTo,
}
_TESTS: Final[dict[str, tuple[bool | None, bool]]] = {
    "isNull": (None, False),
    "isNotNull": (None, True),
    "isTrue": (True, False),
    "isNotTrue": (True, True),
    "isFalse": (False, False),
    "isNotFalse": (False, True),
}
"""What is tested for (None: NULL), and whether it must not be so."""
_NAMES: Final = {
    "initCap": "INITCAP",
    "listAgg": "LISTAGG",
    "localTime": "LOCALTIME",
    "localTimestamp": "LOCALTIMESTAMP",
    "sum0": "$SUM0",
    "currentDatabase": "CURRENT_DATABASE",
}
"""Functions whose names in SQL are not those that Flink prints, with an underscore before each capital."""

_BARE: Final = frozenset({"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP"})
_CASTS: Final[dict[str, type[exp.Expr]]] = {"cast": exp.Cast, "TRY_CAST": exp.TryCast}
_PROPERTIES: Final = {"start": "START", "end": "END", "rowtime": "ROWTIME", "proctime": "PROCTIME"}
_UNBOUNDED: Final = ("UNBOUNDED_ROW", "UNBOUNDED_RANGE")
_OF_ROWS: Final = ("UNBOUNDED_ROW", "CURRENT_ROW")


@dataclass
class Syntax:
    """Makes syntax; `tables` collects the tables that expressions read, by the names that stand for them in it.

    `window` is that of GROUP BY, `overs` those of OVER, by their names.
    """

    who: str
    window: GroupWindow | None = None
    overs: Mapping[str, OverWindow] = field(default_factory=dict)
    tables: dict[str, LogicalNode] = field(default_factory=dict)

    def node(self, tree: Tree) -> exp.Expr:
        """Return the syntax of an expression. Raises ProgramError for what has no place where it stands."""
        match tree:
            case Name(name="*"):
                return exp.Star()
            case Name(name=name):
                if self.window is not None and name == self.window.name:
                    return self._window_call(self.window.kind, self.window)
                return exp.Column(this=identifier(name))
            case Value(value=value, type=kind):
                return nodes.Constant(value=value, kind=kind)
            case Text(sql=sql):
                return _parsed(sql)
            case TableRows(plan=plan, keys=keys, order=order):
                ordered = exp.Order(expressions=[*map(self.ordered, order)]) if order else None
                return nodes.TableArgument(
                    this=self.reading(plan), partition_by=self.all_of(keys), order=ordered
                )
            case Call():
                return self._call(tree)
        raise ProgramError("has no place here", who=f"{tree} in {self.who}")

    def _call(self, call: Call) -> exp.Expr:
        name, arguments = call.function, call.arguments
        if call.user is not None:
            return nodes.Call(names=[identifier(name)], expressions=self.all_of(arguments), given=call.user)
        if name in _BINARY:
            left, right = self.all_of(arguments)
            return _BINARY[name](this=left, expression=right)
        if name in _TESTS:
            return self._test(name, arguments[0])
        if name in _CASTS:
            return _CASTS[name](this=self.node(arguments[0]), to=typed(arguments[1]))
        if name in _PROPERTIES:
            return self._property(name, arguments[0])
        if name in _SPECIAL:
            return _SPECIAL[name](self, arguments)
        if document_syntax.is_document_call(name):
            return document_syntax.document_call(name, arguments, self.node)
        return self.function(name, arguments)

    def function(self, name: str, arguments: Sequence[Tree]) -> exp.Expr:
        """Return a call by the name that a function has in SQL."""
        plain = _NAMES.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
        upper = plain if "." in plain else plain.upper() if name in _NAMES or plain != name else plain
        if upper.upper() in _BARE and not arguments:
            return nodes.Call(names=[identifier(upper.upper())], bare=True)
        names = [identifier(part) for part in upper.split(".")]
        return nodes.Call(names=names, expressions=self.all_of(arguments))

    def all_of(self, trees: Sequence[Tree]) -> list[exp.Expr]:
        """Return the syntax of each expression."""
        return [self.node(tree) for tree in trees]

    def _test(self, name: str, argument: Tree) -> exp.Expr:
        what, negated = _TESTS[name]
        found = exp.Null() if what is None else exp.Boolean(this=what)
        test = exp.Is(this=self.node(argument), expression=found)
        return exp.Not(this=test) if negated else test

    def _window_call(self, kind: str, window: GroupWindow) -> exp.Expr:
        return nodes.Call(names=[identifier(kind)], expressions=self.all_of((window.time, *window.lengths)))

    def _property(self, name: str, argument: Tree) -> exp.Expr:
        window = self.window
        if window is None or argument != Name(window.name):
            raise ProgramError(
                f"requires the name of a window before .{name}",
                who=self.who,
                got=str(argument),
                hint='Table.window(... .alias("w")) names one; group_by(col("w")) groups by it',
            )
        return self._window_call(f"{window.kind}_{_PROPERTIES[name]}", window)

    def over(self, arguments: Sequence[Tree]) -> exp.Expr:
        """Return an aggregate over a window."""
        call, name = arguments
        window = self.overs.get(name.name) if isinstance(name, Name) else None
        if window is None:
            raise ProgramError(
                "requires the name of a window in over(...)",
                who=self.who,
                got=str(name),
                hint=f"known are: {', '.join(self.overs)}" if self.overs else "see Table.over_window",
            )
        parts = {"this": self.node(call), "partition_by": self.all_of(window.partition)}
        if window.order is not None:
            parts["order"] = exp.Order(expressions=[self.ordered(window.order)])
        if window.preceding is not None or window.following is not None:
            parts["spec"] = self._frame(window)
        return exp.Window(**parts)

    def _frame(self, window: OverWindow) -> exp.Expr:
        start = window.preceding or Word("UNBOUNDED_RANGE")
        end = window.following or Word("CURRENT_ROW" if _counts(start) else "CURRENT_RANGE")
        bounds: dict[str, exp.Expr | str] = {}
        for key, bound, side in (("start", start, "PRECEDING"), ("end", end, "FOLLOWING")):
            if not isinstance(bound, Word):
                bounds |= {key: self.node(bound), f"{key}_side": side}
            elif bound.word in _UNBOUNDED:
                bounds |= {key: "UNBOUNDED", f"{key}_side": side}
            else:
                bounds |= {key: "CURRENT ROW"}
        return exp.WindowSpec(kind="ROWS" if _counts(start) else "RANGE", **bounds)

    def ordered(self, tree: Tree) -> exp.Expr:
        """Return a value to sort by; NULL is the greatest, other than in SQL, as in Flink."""
        descending = isinstance(tree, Call) and tree.function == "desc"
        inner = tree.arguments[0] if isinstance(tree, Call) and tree.function in ("asc", "desc") else tree
        return exp.Ordered(this=self.node(inner), desc=descending, nulls_first=descending)

    def reading(self, plan: LogicalNode) -> exp.Expr:
        """Return the table of FROM that has the rows of a plan."""
        name = f"table {len(self.tables) + 1}"
        self.tables[name] = plan
        return exp.Table(this=identifier(name))

    def rows_of(self, plan: LogicalNode) -> exp.Expr:
        """Return the query of all rows of a plan."""
        return exp.Select(expressions=[exp.Star()], from_=exp.From(this=self.reading(plan)))

    def connected(self, node: type[exp.Expr], arguments: Sequence[Tree]) -> exp.Expr:
        """Return AND or OR of several values."""
        first, *rest = self.all_of(arguments)
        for other in rest:
            first = node(this=first, expression=other)
        return first

    def special(self, name: str, words: Sequence[str], arguments: Sequence[Tree]) -> exp.Expr:
        """Return a call with words between its arguments."""
        operands = [
            exp.Var(this=tree.word) if isinstance(tree, Word) else self.node(tree) for tree in arguments
        ]
        return nodes.SpecialCall(this=name, words=list(words[: len(operands)]), expressions=operands)

    def trimmed(self, arguments: Sequence[Tree]) -> exp.Expr:
        """Return TRIM."""
        leading, trailing, characters, text = arguments
        side = {("true", "false"): "LEADING", ("false", "true"): "TRAILING"}.get(
            (str(leading), str(trailing)), "BOTH"
        )
        return self.special("TRIM", (side, "FROM"), (characters, text))

    def between(self, arguments: Sequence[Tree], negated: bool) -> exp.Expr:
        """Return BETWEEN, or NOT BETWEEN."""
        value, low, high = self.all_of(arguments)
        found = exp.Between(this=value, low=low, high=high)
        return exp.Not(this=found) if negated else found

    def among(self, arguments: Sequence[Tree]) -> exp.Expr:
        """Return IN, of values or of the rows of a table."""
        value, *others = arguments
        only = others[0] if len(others) == 1 else None
        if isinstance(only, Rows):
            return exp.In(this=self.node(value), query=exp.Subquery(this=self.rows_of(only.plan)))
        return exp.In(this=self.node(value), expressions=self.all_of(others))

    def like(self, arguments: Sequence[Tree]) -> exp.Expr:
        """Return LIKE, perhaps with ESCAPE."""
        value, pattern, *escape = self.all_of(arguments)
        found = exp.Like(this=value, expression=pattern)
        return exp.Escape(this=found, expression=escape[0]) if escape else found

    def distinct(self, arguments: Sequence[Tree]) -> exp.Expr:
        """Return an aggregate of different values."""
        found = self.node(arguments[0])
        if not isinstance(found, nodes.Call):
            raise ProgramError("requires an aggregate before .distinct", who=self.who, got=str(arguments[0]))
        found.set("quantifier", "DISTINCT")
        return found

    def field(self, arguments: Sequence[Tree]) -> exp.Expr:
        """Return a field of a row."""
        value, name = arguments
        if isinstance(name, Value) and isinstance(name.value, int):
            return nodes.FieldAt(this=self.node(value), place=name.value)
        return exp.Dot(this=self.node(value), expression=identifier(str(getattr(name, "value", name))))

    def chosen(self, arguments: Sequence[Tree]) -> exp.Expr:
        """Return one of two values."""
        condition, first, second = self.all_of(arguments)
        return exp.Case(ifs=[exp.If(this=condition, true=first)], default=second)

    def overlapping(self, arguments: Sequence[Tree]) -> exp.Expr:
        """Return whether two spans of time overlap."""
        left, left_end, right, right_end = self.all_of(arguments)
        return exp.Overlaps(
            this=exp.Tuple(expressions=[left, left_end]), expression=exp.Tuple(expressions=[right, right_end])
        )


def _counts(bound: Tree) -> bool:
    """Return whether a bound of a window is about rows, not about times."""
    if isinstance(bound, Word):
        return bound.word in _OF_ROWS
    return isinstance(bound, Value) and isinstance(bound.value, int) and bound.type != MONTHS.copy(False)


def identifier(name: str) -> exp.Identifier:
    """Return a name as it stands in SQL."""
    return exp.Identifier(this=name, quoted=True)


def typed(tree: Tree) -> exp.Expr:
    """Return the type that a value becomes."""
    assert isinstance(tree, Kind)
    return nodes.KnownType(kind=tree.type)


def _parsed(sql: str) -> exp.Expr:
    """Return the syntax of an expression in SQL, without places, which are in another text. Raises SqlParseError."""
    found = Flink().parse(sql)[0]
    assert found is not None
    for node in found.walk():
        node.meta.pop("start", None)
        node.meta.pop("end", None)
    return found


_Special = Callable[[Syntax, Sequence[Tree]], exp.Expr]
_SPECIAL: Final[dict[str, _Special]] = {
    "and": lambda syntax, given: syntax.connected(exp.And, given),
    "or": lambda syntax, given: syntax.connected(exp.Or, given),
    "not": lambda syntax, given: exp.Not(this=syntax.node(given[0])),
    "minusPrefix": lambda syntax, given: exp.Neg(this=syntax.node(given[0])),
    "between": lambda syntax, given: syntax.between(given, negated=False),
    "notBetween": lambda syntax, given: syntax.between(given, negated=True),
    "in": Syntax.among,
    "LIKE": Syntax.like,
    "ifThenElse": Syntax.chosen,
    "distinct": Syntax.distinct,
    "over": Syntax.over,
    "get": Syntax.field,
    "at": lambda syntax, given: exp.Bracket(this=syntax.node(given[0]), expressions=[syntax.node(given[1])]),
    "array": lambda syntax, given: nodes.Constructor(this="ARRAY", expressions=syntax.all_of(given)),
    "map": lambda syntax, given: nodes.Constructor(this="MAP", expressions=syntax.all_of(given)),
    "row": lambda syntax, given: syntax.function("ROW", given),
    "trim": Syntax.trimmed,
    "substring": lambda syntax, given: syntax.special("SUBSTRING", ("", ",", ","), given),
    "overlay": lambda syntax, given: syntax.special("OVERLAY", ("", "PLACING", "FROM", "FOR"), given),
    "position": lambda syntax, given: syntax.special("POSITION", ("", "IN"), given),
    "extract": lambda syntax, given: syntax.special("EXTRACT", ("", "FROM"), given),
    "floor": lambda syntax, given: syntax.special("FLOOR", ("", "TO"), given),
    "ceil": lambda syntax, given: syntax.special("CEIL", ("", "TO"), given),
    "timestampDiff": lambda syntax, given: syntax.special("TIMESTAMPDIFF", ("", ",", ","), given),
    "temporalOverlaps": Syntax.overlapping,
    "ASSIGNMENT": lambda syntax, given: nodes.NamedArgument(
        this=identifier(str(getattr(given[0], "value", given[0]))), expression=syntax.node(given[1])
    ),
}

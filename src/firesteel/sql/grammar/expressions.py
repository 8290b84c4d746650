"""Operators, from those that bind least to those that bind most.

Flink's precedences are Calcite's (``SqlStdOperatorTable``), and some surprise: ``||`` binds as ``*`` does, and ``IS
NULL`` less than ``=``, so that ``a = b IS NULL`` asks whether the comparison is NULL.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from firesteel.sql.grammar.primaries import Primaries
from firesteel.sql.nodes import IsKind, Unknown

_LOWEST: Final = 0
_NOT: Final = 26
_IS: Final = 28
_COMPARISON: Final = 30
_RANGE: Final = 32
_DISTINCT: Final = 40
_SIGN: Final = 80

_BINARY: Final[dict[str, tuple[int, type[exp.Expression]]]] = {
    "OR": (22, exp.Or),
    "AND": (24, exp.And),
    "=": (_COMPARISON, exp.EQ),
    "<>": (_COMPARISON, exp.NEQ),
    "<": (_COMPARISON, exp.LT),
    "<=": (_COMPARISON, exp.LTE),
    ">": (_COMPARISON, exp.GT),
    ">=": (_COMPARISON, exp.GTE),
    "OVERLAPS": (_COMPARISON, exp.Overlaps),
    "+": (40, exp.Add),
    "-": (40, exp.Sub),
    "*": (60, exp.Mul),
    "/": (60, exp.Div),
    "%": (60, exp.Mod),
    "||": (60, exp.DPipe),
}
_LIKES: Final[dict[str, type[exp.Expression]]] = {
    "LIKE": exp.Like,
    "ILIKE": exp.ILike,
    "SIMILAR": exp.SimilarTo,
}
_RANGES: Final = frozenset({"IN", "BETWEEN", "LIKE", "ILIKE", "SIMILAR"})
_UNSUPPORTED: Final = frozenset(
    [
        "RLIKE",
        "MEMBER",
        "SUBMULTISET",
        "CONTAINS",
        "EQUALS",
        "PRECEDES",
        "SUCCEEDS",
        "IMMEDIATELY",
        "MULTISET",
    ]
)
_KINDS: Final = ("JSON VALUE", "JSON OBJECT", "JSON ARRAY", "JSON SCALAR", "JSON", "EMPTY", "A SET")


class Expressions(Primaries):
    """Parses expressions."""

    def expression(self) -> exp.Expr:
        """Return the expression that follows."""
        self.deeper()
        found = self._operators(_LOWEST)
        self.depth -= 1
        return found

    def _operators(self, least: int) -> exp.Expr:
        start = self.index
        left = self._operand()
        length = 0
        while True:
            longer = self._longer(left, least, start)
            if longer is None:
                return left
            left = self.mark(longer, start)
            length += not isinstance(left, exp.Connector)
            self.check_length(length)

    def _operand(self) -> exp.Expr:
        start = self.index
        if self.takes("NOT"):
            return self.mark(exp.Not(this=self._below(_NOT)), start)
        if self.takes("-"):
            return self.mark(exp.Neg(this=self._below(_SIGN)), start)
        if self.takes("+"):
            return self._below(_SIGN)
        return self.primary()

    def _below(self, least: int) -> exp.Expr:
        self.deeper()
        found = self._operators(least)
        self.depth -= 1
        return found

    def _longer(self, left: exp.Expr, least: int, start: int) -> exp.Expr | None:
        key = self.at().key
        if key in _BINARY:
            strength, node = _BINARY[key]
            if strength <= least:
                return None
            self.advance()
            return self._binary(left, node, strength)
        if key == "IS":
            strength = _DISTINCT if self._sees_distinct() else _IS
            return self._is(left, start) if strength > least else None
        if key == "!=":
            raise self.error("an operator of Flink's", hint="use <> for not equal")
        if key in _UNSUPPORTED and not (key == "CONTAINS" and self.at(1).key == "("):
            raise self.unsupported(f"the operator {key}")
        ahead = self.at(1).key if key == "NOT" else key
        if ahead in _RANGES and least < _RANGE:
            negated = self.takes("NOT")
            found = self._range(left, self.advance().key, start)
            return exp.Not(this=found) if negated else found
        return None

    def _sees_distinct(self) -> bool:
        return self.sees("IS", "DISTINCT") or self.sees("IS", "NOT", "DISTINCT")

    def _binary(self, left: exp.Expr, node: type[exp.Expression], strength: int) -> exp.Expr:
        if strength == _COMPARISON and self.sees_one_of(("ANY", "SOME", "ALL")):
            start = self.index
            quantifier = exp.All if self.advance().key == "ALL" else exp.Any
            query = self.subquery()
            return node(this=left, expression=self.mark(quantifier(this=query), start))
        return node(this=left, expression=self._below(strength))

    def _is(self, left: exp.Expr, start: int) -> exp.Expr:
        self.needs("IS")
        negated = self.takes("NOT")
        if self.takes("DISTINCT"):
            self.needs("FROM")
            other = self._below(_DISTINCT)
            node = exp.NullSafeEQ if negated else exp.NullSafeNEQ
            return node(this=left, expression=other)
        found = self._is_what(left, negated)
        if negated and not isinstance(found, IsKind):
            return exp.Not(this=self.mark(found, start))
        return found

    def _is_what(self, left: exp.Expr, negated: bool) -> exp.Expr:
        begin = self.index
        if self.takes("NULL"):
            return exp.Is(this=left, expression=exp.Null())
        if self.takes("UNKNOWN"):
            return exp.Is(this=left, expression=Unknown())
        if key := self.takes_one_of("TRUE", "FALSE"):
            return exp.Is(this=left, expression=self.mark(exp.Boolean(this=key == "TRUE"), begin))
        for kind in _KINDS:
            if self.takes(*kind.split()):
                return IsKind(this=left, kind=kind, negated=negated)
        raise self.error(
            "NULL, TRUE, FALSE, UNKNOWN, DISTINCT FROM or JSON",
            keys=["NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT", "JSON", "NOT"],
        )

    def _range(self, left: exp.Expr, key: str, start: int) -> exp.Expr:
        match key:
            case "IN":
                return self._in(left)
            case "BETWEEN":
                symmetric = self.takes("SYMMETRIC")
                if not symmetric:
                    self.takes("ASYMMETRIC")
                low = self._below(_RANGE)
                self.needs("AND")
                high = self._below(_RANGE)
                return exp.Between(this=left, low=low, high=high, symmetric=symmetric or None)
        if key == "SIMILAR":
            self.needs("TO")
        like = _LIKES[key]
        found = like(this=left, expression=self._below(_RANGE))
        if self.takes("ESCAPE"):
            return exp.Escape(this=self.mark(found, start), expression=self._below(_RANGE))
        return found

    def _in(self, left: exp.Expr) -> exp.Expr:
        if self.sees_query(1):
            return exp.In(this=left, query=self.subquery())
        return exp.In(this=left, expressions=self.in_parentheses(lambda: self.listed(self.expression)))

"""What operators work on: literals, names, parentheses, CASE, CAST, constructors and calls."""

from __future__ import annotations

from itertools import count
from typing import Final

from sqlglot import exp

from firesteel.sql.grammar.calls import BARE, CALLABLE, Calls
from firesteel.sql.grammar.cursor import reserved_hint
from firesteel.sql.lexer import TokenKind
from firesteel.sql.nodes import Constructor, TimeDifference

_CLAUSES: Final = frozenset(
    {"FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "UNION"}
    | {"AND", "OR", "ON", "AS", "THEN", "ELSE", "END"}
)
_GOES_ON: Final = frozenset({"(", ".", "=>"})
_QUERY_WORDS: Final = frozenset({"SELECT", "VALUES", "VALUE", "WITH", "TABLE"})


class Primaries(Calls):
    """Parses operands."""

    def sees_query(self, ahead: int = 0) -> bool:
        """Return whether a query without parentheses begins some tokens ahead."""
        key = self.at(ahead).key
        if key == "TABLE":
            return self.sees_name(ahead + 1)
        return key in _QUERY_WORDS

    def subquery(self) -> exp.Subquery:
        """Return the query in parentheses that follows."""
        start = self.index
        query = self.in_parentheses(self.query)
        return self.mark(exp.Subquery(this=query), start)

    def primary(self) -> exp.Expr:
        """Return the operand that follows, with the elements that are taken of it."""
        start = self.index
        found = self._primary()
        for length in count():
            self.check_length(length)
            if self.takes("["):
                index = self.expression()
                self.needs("]")
                found = self.mark(exp.Bracket(this=found, expressions=[index]), start)
            elif self.sees(".") and not isinstance(found, exp.Literal) and not self.sees(".", "*"):
                self.advance()
                found = self.mark(exp.Dot(this=found, expression=self.identifier("a field's name")), start)
            else:
                break
        return found

    def _primary(self) -> exp.Expr:
        if self.sees_literal():
            return self.literal()
        token, start = self.at(), self.index
        if token.key == "(":
            found = self._parenthesized()
            return self._time_difference(found, start) if self.sees_unit() else found
        if token.kind is TokenKind.QUOTED_NAME or token.key not in self._special:
            return self._name()
        return self.mark(self._special[token.key](self), start)

    def _name(self) -> exp.Expr:
        token = self.at()
        if token.kind is TokenKind.WORD:
            found = self.word_literal()
            if found is not None:
                return found
            if token.key in BARE or (token.key == "PI" and self.at(1).key not in _GOES_ON):
                return self.bare_call()  # PI goes before a column of this name, as in Flink
            if token.key in {"RUNNING", "FINAL"} and self.at(2).key == "(":
                return self.measured()
            if token.key in CALLABLE and self.at(1).key == "(":
                return self.call()
        if token.key in {"?", "{", "*"}:
            what = {"?": "a parameter", "{": "a JDBC escape", "*": "an asterisk as an operand"}[token.key]
            if token.key == "*":
                raise self.error("an expression")
            raise self.unsupported(what)
        if not self.sees_name():
            raise self._no_operand()
        return self._path()

    def _no_operand(self) -> Exception:
        token = self.at()
        hint = None
        if self.index and self.at(-1).key == "," and token.key in _CLAUSES:
            hint = f"remove the comma before {token.text}"
        elif token.kind is TokenKind.WORD and token.key not in _CLAUSES:
            hint = reserved_hint(token)
        return self.error("an expression", hint=hint)

    def _path(self) -> exp.Expr:
        start = self.index
        parts = [self.identifier()]
        while self.sees(".") and self.sees_name(1):
            self.advance()
            parts.append(self.identifier())
        if self.sees("("):
            return self.call(parts, start)
        return self.mark(column(parts), start)

    def _parenthesized(self) -> exp.Expr:
        start = self.index
        self.needs("(")
        self.deeper()
        if self.sees_query():
            found: exp.Expr = exp.Subquery(this=self.query())
        else:
            items = self.listed(self.expression)
            first = self.combined(items[0]) if len(items) == 1 else items[0]
            if len(items) > 1:
                found = exp.Tuple(expressions=items)
            elif first is not items[0]:
                found = exp.Subquery(this=first)
            else:
                found = exp.Paren(this=first)
        self.needs(")")
        self.depth -= 1
        return self.mark(found, start)

    def _time_difference(self, given: exp.Expr, start: int) -> exp.Expr:
        """Return the interval from one time to another, of which the parentheses and the minus have been read."""
        if isinstance(given, exp.Subquery):  # the word is its name
            return given
        inner = given.unnest()
        if not isinstance(inner, exp.Sub):
            raise self.error("(time - time) before a unit", hint="write AS before a name")
        return self.mark(TimeDifference(this=inner, **self.qualifier()), start)

    def _case(self) -> exp.Expr:
        self.needs("CASE")
        value = None if self.sees("WHEN") else self.expression()
        branches: list[exp.Expr] = []
        while not branches or self.sees("WHEN"):
            start = self.index
            self.needs("WHEN")
            condition = self.expression()
            if value is not None and self.sees(","):
                raise self.unsupported("several values after one WHEN", hint="write a WHEN for each")
            self.needs("THEN")
            branches.append(self.mark(exp.If(this=condition, true=self.expression()), start))
        default = self.expression() if self.takes("ELSE") else None
        self.needs("END")
        return exp.Case(this=value, ifs=branches, default=default)

    def _cast(self) -> exp.Expr:
        node = exp.TryCast if self.advance().key == "TRY_CAST" else exp.Cast
        self.needs("(")
        value = self.expression()
        self.needs("AS")
        to = self.data_type(nullability=False) if not self.sees("INTERVAL") else self._interval_type()
        self.needs(")")
        return node(this=value, to=to)

    def _interval_type(self) -> exp.Expr:
        from_word = self.advance().key
        unit = self.time_unit()
        end = f" TO {self.time_unit()}" if self.takes("TO") else ""
        return exp.Var(this=f"{from_word} {unit}{end}")

    def _exists(self) -> exp.Expr:
        self.needs("EXISTS")
        return exp.Exists(this=self.subquery())

    def _constructor(self) -> exp.Expr:
        kind = self.advance().key
        if kind != "MAP" and self.sees("(") and self.sees_query(1):
            return Constructor(this=kind, query=self.subquery())
        self.needs("[")
        items = [] if self.sees("]") else self.listed(self.expression)
        self.needs("]")
        return Constructor(this=kind, expressions=items)

    def _map(self) -> exp.Expr:
        return self._constructor() if self.at(1).key == "[" else self._path()

    def _row(self) -> exp.Expr:
        if self.sees("ROW", "(", ")"):
            self.index += 2
            raise self.error("an expression")
        return self.call()

    _special: Final = {
        "CASE": _case,
        "CAST": _cast,
        "TRY_CAST": _cast,
        "EXISTS": _exists,
        "ARRAY": _constructor,
        "MULTISET": _constructor,
        "MAP": _map,
        "ROW": _row,
    }


def column(parts: list[exp.Identifier]) -> exp.Expr:
    """Make a column of the parts of a name.

    What a part stands for (table, column, field) is for the binder to find out.
    """
    keys = ("this", "table", "db", "catalog")
    qualified = parts[:4]
    found: exp.Expr = exp.Column(**dict(zip(keys, reversed(qualified), strict=False)))
    for part in parts[4:]:
        found = exp.Dot(this=found, expression=part)
    return found

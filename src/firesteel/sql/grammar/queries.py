"""Queries: SELECT, VALUES, set operations, WITH, ORDER BY, LIMIT."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from firesteel.sql.grammar.tables import Tables
from firesteel.sql.lexer import TokenKind

_SETS: Final[dict[str, tuple[int, type[exp.SetOperation]]]] = {
    "UNION": (1, exp.Union),
    "EXCEPT": (1, exp.Except),
    "INTERSECT": (2, exp.Intersect),
}
_GROUPS: Final[dict[str, type[exp.Expression]]] = {"CUBE": exp.Cube, "ROLLUP": exp.Rollup}


class Queries(Tables):
    """Parses queries."""

    def query(self) -> exp.Expr:
        """Return the query that follows, with its WITH, ORDER BY and LIMIT."""
        start = self.index
        self.deeper()
        ctes = self._with() if self.sees("WITH") else None
        found = self._ordered_query(self._sets(self._term(), start, 0), start)
        if ctes is not None:
            found = self._with_ctes(found, ctes)
        self.depth -= 1
        return self.mark(found, start)

    def combined(self, left: exp.Expr) -> exp.Expr:
        """Return the rest of a query whose first part, in parentheses, has been passed; or that part."""
        if not isinstance(left, exp.Subquery):
            return left
        start = next(index for index, token in enumerate(self.tokens) if token.start == left.meta["start"])
        return self._ordered_query(self._sets(left, start, 0), start)

    def operand_before_in(self) -> exp.Expr:
        """Return an expression that ends before IN."""
        return self._below(32)

    def _with_ctes(self, found: exp.Expr, ctes: exp.With) -> exp.Expr:
        if not isinstance(found, (exp.Select, exp.SetOperation, exp.Subquery)):
            found = exp.Select(expressions=[exp.Star()], from_=exp.From(this=exp.Subquery(this=found)))
        found.set("with_", ctes)
        return found

    def _with(self) -> exp.With:
        start = self.index
        self.needs("WITH")
        if self.sees("RECURSIVE"):
            raise self.unsupported("WITH RECURSIVE")
        return self.mark(exp.With(expressions=self.listed(self._cte)), start)

    def _cte(self) -> exp.CTE:
        start = self.index
        alias = exp.TableAlias(this=self.identifier("the name of a query"))
        if self.sees("("):
            alias.set("columns", self.in_parentheses(lambda: self.listed(self.identifier)))
        self.mark(alias, start)
        self.needs("AS")
        return self.mark(exp.CTE(this=self.in_parentheses(self.query), alias=alias), start)

    def _sets(self, left: exp.Expr, start: int, least: int) -> exp.Expr:
        if self.sees("MINUS"):
            raise self.error("a set operation of Flink's", hint="use EXCEPT")
        while self.at().key in _SETS and _SETS[self.at().key][0] > least:
            strength, node = _SETS[self.advance().key]
            quantifier = self.takes_one_of("ALL", "DISTINCT")
            begin = self.index
            right = self._sets(self._term(), begin, strength)
            left = self.mark(node(this=left, expression=right, distinct=quantifier != "ALL"), start)
        return left

    def _term(self) -> exp.Expr:
        start = self.index
        match self.at().key:
            case "SELECT":
                return self.mark(self._select(), start)
            case "VALUES" | "VALUE":
                self.advance()
                return self.mark(exp.Values(expressions=self.listed(self._row_of_values)), start)
            case "TABLE":
                self.advance()
                table = exp.From(this=self.table_name())
                return self.mark(exp.Select(expressions=[exp.Star()], from_=table), start)
            case "(":
                return self.subquery()
        raise self.error("a query", keys=["SELECT", "VALUES", "WITH", "TABLE"])

    def _row_of_values(self) -> exp.Expr:
        start = self.index
        value = self.expression()
        if isinstance(value, exp.Paren):
            value = exp.Tuple(expressions=[value.this])
        return self.mark(value, start)

    def _ordered_query(self, found: exp.Expr, start: int) -> exp.Expr:
        parts: dict[str, exp.Expr] = {}
        if self.sees("ORDER"):
            parts["order"] = self.order_by()
        self._limits(parts)
        if parts and isinstance(found, exp.Values) and set(parts) - {"order", "limit", "offset"}:
            found = exp.Subquery(this=found)
        for key, part in parts.items():
            found.set(key, part)
        return self.mark(found, start)

    def _limits(self, parts: dict[str, exp.Expr]) -> None:
        while self.sees_one_of(("LIMIT", "OFFSET", "FETCH")):
            start = self.index
            word = self.advance().key
            if word == "OFFSET" and "offset" not in parts:
                parts["offset"] = self.mark(exp.Offset(expression=self._number()), start)
                self.takes_one_of("ROW", "ROWS")
            elif word != "OFFSET" and "limit" not in parts:
                self._limit(word, parts, start)
            else:
                raise self.error(f"no second {word}", token=self.tokens[start])

    def _limit(self, word: str, parts: dict[str, exp.Expr], start: int) -> None:
        if word == "LIMIT" and self.takes("ALL"):
            return
        if word == "FETCH":
            self.needs_one_of("FIRST", "NEXT")
        number = self._number()
        if word == "FETCH":
            self.needs_one_of("ROW", "ROWS")
            self.needs("ONLY")
        elif self.sees(","):
            raise self.error("the end of LIMIT", hint="use LIMIT count OFFSET start")
        parts["limit"] = self.mark(exp.Limit(expression=number), start)

    def _number(self) -> exp.Expr:
        if self.at().kind is not TokenKind.NUMBER:
            raise self.error("a number of rows")
        return self.literal()

    def _select(self) -> exp.Select:
        self.needs("SELECT")
        parts: dict[str, object] = {}
        if self.sees("/*+"):
            parts["hint"] = self.hint()
        if self.sees("STREAM"):
            raise self.unsupported("SELECT STREAM", hint="leave STREAM out")
        start = self.index
        if self.takes_one_of("DISTINCT", "ALL") == "DISTINCT":
            parts["distinct"] = self.mark(exp.Distinct(), start)
        parts["expressions"] = self.listed(self._item)
        if self.takes("FROM"):
            parts["from_"], parts["joins"] = self.from_items()
            self._clauses(parts)
        return exp.Select(**parts)

    def _clauses(self, parts: dict[str, object]) -> None:
        start = self.index
        if self.takes("WHERE"):
            parts["where"] = self.mark(exp.Where(this=self.expression()), start)
        if self.sees("GROUP"):
            parts["group"] = self._group()
        start = self.index
        if self.takes("HAVING"):
            parts["having"] = self.mark(exp.Having(this=self.expression()), start)
        if self.takes("WINDOW"):
            parts["windows"] = self.listed(self.named_window)
        start = self.index
        if self.takes("QUALIFY"):
            parts["qualify"] = self.mark(exp.Qualify(this=self.expression()), start)

    def _item(self) -> exp.Expr:
        start = self.index
        if self.takes("*"):
            return self.mark(exp.Star(), start)
        value = self._qualified_star() or self.expression()
        if self.takes("AS"):
            return self.mark(exp.Alias(this=value, alias=self._item_alias()), start)
        if self.sees_name():
            return self.mark(exp.Alias(this=value, alias=self.identifier()), start)
        return value

    def _item_alias(self) -> exp.Identifier:
        start = self.index
        if self.at().kind is TokenKind.STRING:
            return self.mark(exp.Identifier(this=self.advance().string(), quoted=True), start)
        return self.identifier("an alias")

    def _qualified_star(self) -> exp.Expr | None:
        ahead = 0
        while self.sees_name(ahead) and self.at(ahead + 1).key == ".":
            ahead += 2
        if ahead == 0 or self.at(ahead).key != "*":
            return None
        start = self.index
        parts = []
        while not self.takes("*"):
            parts.append(self.identifier())
            self.needs(".")
        keys = ("table", "db", "catalog")
        qualifier = dict(zip(keys, reversed(parts), strict=False))
        return self.mark(exp.Column(this=exp.Star(), **qualifier), start)

    def _group(self) -> exp.Group:
        start = self.index
        self.needs("GROUP", "BY")
        if self.sees_one_of(("ALL", "DISTINCT")):
            raise self.unsupported(f"GROUP BY {self.at().key}")
        return self.mark(exp.Group(expressions=self.listed(self._grouping)), start)

    def _grouping(self) -> exp.Expr:
        start = self.index
        if self.takes("GROUPING", "SETS"):
            sets = self.in_parentheses(lambda: self.listed(self._grouping))
            return self.mark(exp.GroupingSets(expressions=sets), start)
        if self.sees_one_of(tuple(_GROUPS)):
            node = _GROUPS[self.advance().key]
            items = self.in_parentheses(lambda: self.listed(self._grouping))
            return self.mark(node(expressions=items), start)
        if self.takes("(", ")"):
            return self.mark(exp.Tuple(expressions=[]), start)
        return self.expression()

"""What stands in FROM: tables with hints and versions, table functions, sub-queries, joins."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from firesteel.sql.grammar.patterns import Patterns
from firesteel.sql.lexer import TokenKind
from firesteel.sql.nodes import (
    Call,
    HintCall,
    HintOption,
    LateralQuery,
    TableFunction,
    UnnestTable,
)

_JOIN_WORDS: Final = frozenset({"NATURAL", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "JOIN", "OUTER"})


class Tables(Patterns):
    """Parses the items of FROM and their joins."""

    def table_name(self) -> exp.Table:
        """Return the name of a table: up to three parts."""
        start = self.index
        parts = [self.identifier("the name of a table")]
        while self.takes("."):
            parts.append(self.identifier("a part of a name"))
        if len(parts) > 3:
            raise self.refused(
                "has a name of more than three parts (catalog, database, table)", self.span_from(start)
            )
        keys = ("this", "db", "catalog")
        found = exp.Table(**dict(zip(keys, reversed(parts), strict=False)))
        return self.mark(found, start)

    def from_items(self) -> tuple[exp.From, list[exp.Join]]:
        """Return what follows FROM: the first table, and the joins (a comma is a join with no kind)."""
        start = self.index
        first = self.table_item()
        joins = self._joins()
        found = self.mark(exp.From(this=first), start)
        while self.sees(","):
            begin = self.index
            self.advance()
            joins.append(self.mark(exp.Join(this=self._joined()), begin))
        return found, joins

    def _joined(self) -> exp.Expr:
        table = self.table_item()
        joins = self._joins()
        if joins:
            table.set("joins", joins)
        return table

    def _joins(self) -> list[exp.Join]:
        joins = []
        while self.sees_one_of(_JOIN_WORDS):
            joins.append(self._join())
        return joins

    def _join(self) -> exp.Join:
        start = self.index
        method = "NATURAL" if self.takes("NATURAL") else None
        side = self.takes_one_of("LEFT", "RIGHT", "FULL")
        kind = self.takes_one_of("OUTER") if side else self.takes_one_of("INNER", "CROSS")
        if self.sees("APPLY"):
            raise self.unsupported("APPLY", hint="use LATERAL")
        self.needs("JOIN")
        found = exp.Join(this=self.table_item(), method=method, side=side or None, kind=kind or None)
        self._condition(found, kind == "CROSS" or method is not None)
        return self.mark(found, start)

    def _condition(self, join: exp.Join, none: bool) -> None:
        if none and self.sees_one_of(("ON", "USING")):
            raise self.error("no condition: the join is CROSS or NATURAL")
        if none:
            return
        if self.needs_one_of("ON", "USING") == "ON":
            join.set("on", self.expression())
        else:
            join.set("using", self.in_parentheses(lambda: self.listed(self.identifier)))

    def table_item(self) -> exp.Expr:
        """Return one item of FROM with its alias, without its joins."""
        start = self.index
        self.deeper()
        found = self._source()
        self.depth -= 1
        found = self.mark(found, start)
        if self.sees_one_of(("PIVOT", "UNPIVOT")) and self.at(1).key == "(":
            raise self.unsupported(self.at().key)
        self._alias(found)
        if self.sees("TABLESAMPLE"):
            raise self.unsupported("TABLESAMPLE")
        if self.sees("MATCH_RECOGNIZE", "("):
            found = self.mark(self.match_recognize(found), start)
            self._alias(found)
        return self.mark(found, start)

    def _source(self) -> exp.Expr:
        lateral = self.takes("LATERAL")
        if self.sees("TABLE", "("):
            return self._table_function(lateral)
        if self.sees("UNNEST"):
            return self._unnest(lateral)
        if lateral:
            if not self.sees("("):
                raise self.error("'TABLE', 'UNNEST' or a query in parentheses", keys=["TABLE", "UNNEST"])
            return LateralQuery(this=self.subquery())
        if self.sees("("):
            return self._parenthesized_table()
        return self._named()

    def _named(self) -> exp.Expr:
        start = self.index
        table = self.table_name()
        if self.sees("("):
            call = self.call(_identifiers(table), start)
            if not isinstance(call, Call):
                raise self.refused("calls a table function with FILTER or OVER", self.span_from(start))
            return TableFunction(this=call, epoch=self._as_of_epoch())
        if self.sees("/*+"):
            table.set("hints", [self.hint()])
        if self.takes("FOR"):
            begin = self.index - 1
            self.needs("SYSTEM_TIME", "AS", "OF")
            version = exp.Version(this="SYSTEM_TIME", kind="AS OF", expression=self.expression())
            table.set("version", self.mark(version, begin))
        return table

    def _table_function(self, lateral: bool) -> TableFunction:
        self.needs("TABLE", "(")
        begin = self.index
        name = self.table_name()
        if not self.sees("("):
            raise self.error("'(' after the name of a table function")
        call = self.call(_identifiers(name), begin)
        self.needs(")")
        return TableFunction(this=call, table=True, lateral=lateral or None, epoch=self._as_of_epoch())

    def _as_of_epoch(self) -> exp.Expr | None:
        """Return the number in ``AS OF EPOCH 12``, which Flink does not have; OF is reserved, so it is no alias."""
        if not self.sees("AS", "OF"):
            return None
        self.needs("AS", "OF", "EPOCH")
        return self.literal()

    def _unnest(self, lateral: bool) -> UnnestTable:
        self.needs("UNNEST")
        values = self.in_parentheses(lambda: self.listed(self._unnested))
        ordinality = self.takes("WITH")
        if ordinality:
            self.needs("ORDINALITY")
        return UnnestTable(expressions=values, ordinality=ordinality or None, lateral=lateral or None)

    def _unnested(self) -> exp.Expr:
        return self.query() if self.sees_query() else self.expression()

    def _parenthesized_table(self) -> exp.Expr:
        depth = 0
        while self.at(depth).key == "(":
            depth += 1
        if self.sees_query(depth):
            return self.subquery()
        self.needs("(")
        table = self._joined()
        self.needs(")")
        return exp.Subquery(this=table)

    def _alias(self, item: exp.Expr) -> None:
        start = self.index
        explicit = self.takes("AS")
        if not explicit and not (self.sees_name() and not self._sees_clause()):
            return
        alias = exp.TableAlias(this=self.identifier("an alias"))
        if self.sees("("):
            alias.set("columns", self.in_parentheses(lambda: self.listed(self.identifier)))
        item.set("alias", self.mark(alias, start))

    def _sees_clause(self) -> bool:
        return self.sees("MATCH_RECOGNIZE", "(")

    def hint(self) -> exp.Hint:
        """Return the hints that follow, between ``/*+`` and ``*/``."""
        start = self.index
        self.needs("/*+")
        hints = self.listed(self._one_hint)
        self.needs("*/")
        return self.mark(exp.Hint(expressions=hints), start)

    def _one_hint(self) -> HintCall:
        start = self.index
        name = self.identifier("the name of a hint")
        if not self.takes("("):
            return self.mark(HintCall(this=name), start)
        items = [] if self.sees(")") else self.listed(self._hint_argument)
        if len({isinstance(item, HintOption) for item in items}) > 1:
            raise self.refused("mixes keys with and without values in a hint", self.span_from(start))
        self.needs(")")
        return self.mark(HintCall(this=name, expressions=items, parentheses=True), start)

    def _hint_argument(self) -> exp.Expr:
        start = self.index
        key: exp.Expr = self.signed_literal() if self.sees_literal() or self.sees("-") else self.identifier()
        while self.at().kind is TokenKind.SYMBOL and self.takes("."):
            key = exp.Dot(this=key, expression=self.identifier())
        if not self.takes("="):
            return self.mark(key, start)
        value = self.literal()
        return self.mark(HintOption(this=key, expression=value), start)


def _identifiers(table: exp.Table) -> list[exp.Identifier]:
    parts = (table.args.get(key) for key in ("catalog", "db", "this"))
    return [part for part in parts if isinstance(part, exp.Identifier)]

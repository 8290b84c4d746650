"""Calls of functions: ordinary ones, those with words between their arguments, and what may follow a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from firesteel.sql.grammar.special_calls import SPECIAL, SpecialCalls
from firesteel.sql.nodes import (
    Call,
    DefaultArgument,
    Measured,
    ModelArgument,
    NamedArgument,
    NullTreatment,
    TableArgument,
)
from firesteel.sql.reserved import RESERVED

_BARE_WORDS: Final = """
    CURRENT_CATALOG CURRENT_DATE CURRENT_PATH CURRENT_ROLE CURRENT_SCHEMA CURRENT_TIME
    CURRENT_TIMESTAMP CURRENT_USER LOCALTIME LOCALTIMESTAMP SESSION_USER SYSTEM_USER USER
"""
BARE: Final = frozenset(_BARE_WORDS.split())
_WITH_PRECISION: Final = frozenset({"CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP"})
_CALLABLE_WORDS: Final = """
    ABS ARRAY_CONCAT_AGG AVG CARDINALITY CHAR CHAR_LENGTH CHARACTER_LENGTH CLASSIFIER COALESCE
    COLLECT COUNT COVAR_POP COVAR_SAMP CUME_DIST DATE DATE_TRUNC DATETIME_TRUNC DENSE_RANK ELEMENT
    EVERY EXP FIRST_VALUE FUSION GROUPING GROUP_CONCAT HOUR INTERSECTION LAG LAST_VALUE LEAD LEFT LN
    LOWER MATCH_NUMBER MAX MIN MINUTE MOD MONTH NEXT NTH_VALUE NTILE NULLIF OCTET_LENGTH
    PERCENT_RANK PERCENTILE_CONT PERCENTILE_DISC POWER PREV RANK REGR_COUNT REGR_SXX REGR_SYY RIGHT
    ROW ROW_NUMBER SECOND SOME SQRT STDDEV_POP STDDEV_SAMP STRING_AGG SUM TIME TIMESTAMP
    TIMESTAMP_TRUNC TIME_TRUNC TRANSLATE TRUNCATE UPPER VAR_POP VAR_SAMP YEAR
"""
CALLABLE: Final = frozenset(_CALLABLE_WORDS.split()) | frozenset(SPECIAL)


class Calls(SpecialCalls):
    """Parses calls."""

    def bare_call(self) -> exp.Expr:
        """Return the call of a function that has no parentheses, or only a precision in them."""
        start = self.index
        token = self.advance()
        name = self.mark(exp.Identifier(this=token.text, quoted=False), start)
        if token.key in _WITH_PRECISION and self.takes("("):
            if self.takes(")"):
                return self.mark(Call(names=[name], expressions=[]), start)
            precision = self.literal()
            self.needs(")")
            return self.mark(Call(names=[name], expressions=[precision]), start)
        return self.mark(Call(names=[name], bare=True), start)

    def call(self, names: Sequence[exp.Identifier] | None = None, start: int | None = None) -> exp.Expr:
        """Return the call that follows.

        `names` is the function's name if it has been passed, `start` where that began.
        """
        begin = self.index if start is None else start
        if (
            names is not None
            and len(names) == 1
            and names[0].name.upper() in SPECIAL
            and not names[0].args["quoted"]
        ):
            self.index = begin
            names = None
        if names is None:
            if self.at().key in SPECIAL:
                return self._suffixed(self.special_call(), begin)
            token = self.advance()
            names = [self.mark(exp.Identifier(this=token.text, quoted=False), begin)]
        self.deeper()
        found = self._arguments(list(names))
        self.depth -= 1
        return self._suffixed(self.mark(found, begin), begin)

    def measured(self) -> exp.Expr:
        """Return a call after RUNNING or FINAL."""
        start = self.index
        kind = self.advance().key
        return self.mark(Measured(this=self.call(), kind=kind), start)

    def _arguments(self, names: list[exp.Identifier]) -> Call:
        self.needs("(")
        if self.takes(")"):
            return Call(names=names, expressions=[])
        star = self.index
        if self.takes("*"):
            items: list[exp.Expr] = [self.mark(exp.Star(), star)]
            self.needs(")")
            return Call(names=names, expressions=items)
        quantifier = self.takes_one_of("DISTINCT", "ALL") or None
        items = self.listed(self._argument)
        if self.sees("ORDER", "BY"):
            raise self.unsupported("ORDER BY within a call", hint="WITHIN GROUP is not supported either")
        self.needs(")")
        return Call(names=names, expressions=items, quantifier=quantifier)

    def _argument(self) -> exp.Expr:
        start = self.index
        if (self.sees_name() or self.at().key in RESERVED) and self.at(1).key == "=>":
            name = self.identifier("an argument's name")
            self.needs("=>")
            return self.mark(NamedArgument(this=name, expression=self._value()), start)
        return self._value()

    def _value(self) -> exp.Expr:
        start = self.index
        if self.takes("DEFAULT"):
            return self.mark(DefaultArgument(), start)
        if self.sees("MODEL") and self.sees_name(1):
            self.advance()
            return self.mark(ModelArgument(this=self.table_name()), start)
        if self.sees("TABLE"):
            return self._table_argument()
        if self.sees_query():
            return self.query()
        value = self.expression()
        if isinstance(value, exp.Subquery) and self.sees_one_of(("PARTITION", "ORDER")):
            return self._partitioned(TableArgument(this=value), start)
        return value

    def _table_argument(self) -> exp.Expr:
        start = self.index
        self.needs("TABLE")
        table = self.subquery() if self.sees("(") else self.table_name()
        return self._partitioned(TableArgument(this=table), start)

    def _partitioned(self, found: TableArgument, start: int) -> TableArgument:
        if self.takes("PARTITION"):
            self.needs("BY")
            keys = (
                self.in_parentheses(lambda: self.listed(self.expression))
                if self.sees("(")
                else self.listed_keys()
            )
            found.set("partition_by", keys)
        if self.sees("ORDER"):
            found.set("order", self._order_of_argument())
        return self.mark(found, start)

    def listed_keys(self) -> list[exp.Expr]:
        """Return the one key that may stand without parentheses: a comma after it begins the next argument."""
        return [self.expression()]

    def _order_of_argument(self) -> exp.Order:
        start = self.index
        self.needs("ORDER", "BY")
        items = self.in_parentheses(lambda: self.listed(self.ordered)) if self.sees("(") else [self.ordered()]
        return self.mark(exp.Order(expressions=items), start)

    def _suffixed(self, found: exp.Expr, start: int) -> exp.Expr:
        if self.takes("WITHIN"):
            self.needs("GROUP", "(")
            found = exp.WithinGroup(this=found, expression=self.order_by())
            self.needs(")")
        if self.sees_one_of(("IGNORE", "RESPECT")) and self.at(1).key == "NULLS":
            kind = self.advance().key
            self.needs("NULLS")
            found = self.mark(NullTreatment(this=found, kind=kind), start)
        if self.sees("FILTER", "("):
            self.needs("FILTER", "(")
            where = self.index
            self.needs("WHERE")
            condition = self.mark(exp.Where(this=self.expression()), where)
            self.needs(")")
            found = self.mark(exp.Filter(this=found, expression=condition), start)
        if self.takes("OVER"):
            found = self.over(found)
        return self.mark(found, start)

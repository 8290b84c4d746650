"""MATCH_RECOGNIZE: the whole clause, with its pattern."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from firesteel.sql.grammar.windows import Windows
from firesteel.sql.nodes import (
    PatternChoice,
    PatternExclusion,
    PatternGroup,
    PatternPermutation,
    PatternRepeat,
    PatternSequence,
    PatternSubset,
    RowPattern,
)

_ENDS: Final = frozenset({")", "|", "$", "}", "-", ",", ""})


class Patterns(Windows):
    """Parses MATCH_RECOGNIZE."""

    def match_recognize(self, table: exp.Expr) -> RowPattern:
        """Return the clause that follows a table."""
        self.needs("MATCH_RECOGNIZE", "(")
        found = RowPattern(this=table)
        if self.takes("PARTITION"):
            self.needs("BY")
            found.set("partition_by", self.listed(self.expression))
        if self.sees("ORDER"):
            found.set("order", self.order_by())
        if self.takes("MEASURES"):
            found.set("measures", self.listed(self._measure))
        rows = self._rows()
        found.set("rows", rows)
        if rows and self.takes("WITH"):
            self.needs("TIMED", "OUT", "MATCHES")
            found.set("timed_out", True)
        if self.takes("AFTER"):
            found.set("after", self._after())
        self._pattern_clause(found)
        if self.takes("WITHIN"):
            found.set("within", self.expression())
        if self.takes("SUBSET"):
            found.set("subsets", self.listed(self._subset))
        self.needs("DEFINE")
        found.set("define", self.listed(self._definition))
        self.needs(")")
        return found

    def _measure(self) -> exp.Expr:
        start = self.index
        value = self.expression()
        self.needs("AS")
        return self.mark(exp.Alias(this=value, alias=self.identifier("a measure's name")), start)

    def _definition(self) -> exp.Expr:
        start = self.index
        name = self.identifier("a pattern variable")
        self.needs("AS")
        return self.mark(exp.Alias(this=self.expression(), alias=name), start)

    def _rows(self) -> str | None:
        if self.takes("ONE"):
            self.needs("ROW", "PER", "MATCH")
            return "ONE ROW PER MATCH"
        if self.takes("ALL"):
            self.needs("ROWS", "PER", "MATCH")
            return "ALL ROWS PER MATCH"
        return None

    def _after(self) -> exp.Tuple:
        start = self.index
        self.needs("MATCH", "SKIP")
        name = None
        if self.takes("PAST"):
            self.needs("LAST", "ROW")
            words = "PAST LAST ROW"
        else:
            self.needs("TO")
            if self.takes("NEXT"):
                self.needs("ROW")
                words = "TO NEXT ROW"
            else:
                side = self.takes_one_of("FIRST", "LAST")
                words = f"TO {side}".strip()
                name = self.identifier("a pattern variable")
        items: list[exp.Expr] = [exp.Var(this=words)]
        return self.mark(exp.Tuple(expressions=[*items, *([name] if name else [])]), start)

    def _pattern_clause(self, found: RowPattern) -> None:
        self.needs("PATTERN", "(")
        found.set("anchored_start", self.takes("^") or None)
        found.set("pattern", self._choice())
        found.set("anchored_end", self.takes("$") or None)
        self.needs(")")

    def _choice(self) -> exp.Expr:
        start = self.index
        self.deeper()
        items = [self._sequence()]
        while self.takes("|"):
            items.append(self._sequence())
        self.depth -= 1
        return items[0] if len(items) == 1 else self.mark(PatternChoice(expressions=items), start)

    def _sequence(self) -> exp.Expr:
        start = self.index
        items = [self._repeated()]
        while not self.sees_one_of(_ENDS) and self.at().text:
            items.append(self._repeated())
        return items[0] if len(items) == 1 else self.mark(PatternSequence(expressions=items), start)

    def _repeated(self) -> exp.Expr:
        start = self.index
        found = self._single()
        low, high = self._quantifier()
        if (low, high) == (None, None):
            return found
        bounds = [
            None if number is None or number < 0 else exp.Literal.number(number) for number in (low, high)
        ]
        repeat = PatternRepeat(this=found, low=bounds[0], high=bounds[1], reluctant=self.takes("?") or None)
        return self.mark(repeat, start)

    def _single(self) -> exp.Expr:
        start = self.index
        if self.takes("("):
            found: exp.Expr = PatternGroup(this=self._choice())
            self.needs(")")
        elif self.takes("{"):
            self.needs("-")
            found = PatternExclusion(this=self._choice())
            self.needs("-", "}")
        elif self.takes("PERMUTE"):
            found = PatternPermutation(expressions=self.in_parentheses(lambda: self.listed(self._choice)))
        else:
            return self.identifier("a pattern variable")
        return self.mark(found, start)

    def _quantifier(self) -> tuple[int | None, int | None]:
        """Return how often: a negative number where there is no bound, None twice where there is no quantifier."""
        match self.at().key:
            case "*":
                bounds = (0, -1)
            case "+":
                bounds = (1, -1)
            case "?":
                bounds = (0, 1)
            case "{" if not self.sees("{", "-"):
                return self._counted()
            case _:
                return None, None
        self.advance()
        return bounds

    def _counted(self) -> tuple[int, int]:
        self.needs("{")
        low = -1 if self.sees(",") else self.integer()
        high = low
        if self.takes(","):
            high = -1 if self.sees("}") and low >= 0 else self.integer()
        self.needs("}")
        return low, high

    def _subset(self) -> PatternSubset:
        start = self.index
        name = self.identifier("a pattern variable")
        self.needs("=")
        names = self.in_parentheses(lambda: self.listed(self.identifier))
        return self.mark(PatternSubset(this=name, expressions=names), start)

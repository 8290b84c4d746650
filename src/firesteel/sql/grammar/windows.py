"""Windows of OVER and WINDOW, and ORDER BY."""

from __future__ import annotations

from sqlglot import exp

from firesteel.sql.grammar.expressions import Expressions


class Windows(Expressions):
    """Parses windows and orders."""

    def order_by(self) -> exp.Order:
        """Return the ORDER BY that follows."""
        start = self.index
        self.needs("ORDER", "BY")
        return self.mark(exp.Order(expressions=self.listed(self.ordered)), start)

    def ordered(self) -> exp.Ordered:
        """Return one key of ORDER BY.

        `nulls_first` is a truth value or None if it is not written: NULLs then come first where the order is
        ascending.
        """
        start = self.index
        value = self.expression()
        direction = self.takes_one_of("ASC", "DESC")
        nulls_first = None
        if self.takes("NULLS"):
            nulls_first = self.needs_one_of("FIRST", "LAST") == "FIRST"
        found = exp.Ordered(this=value, desc=direction == "DESC", nulls_first=nulls_first)
        return self.mark(found, start)

    def over(self, call: exp.Expr) -> exp.Window:
        """Return a call over the window whose OVER has been passed."""
        if not self.sees("("):
            return exp.Window(this=call, alias=self.identifier("the name of a window or '('"))
        return exp.Window(this=call, **self._window())

    def named_window(self) -> exp.Window:
        """Return one definition of WINDOW."""
        start = self.index
        name = self.identifier("the name of a window")
        self.needs("AS")
        return self.mark(exp.Window(this=name, **self._window()), start)

    def _window(self) -> dict[str, object]:
        self.needs("(")
        parts: dict[str, object] = {}
        if self.sees_name():
            parts["alias"] = self.identifier()
        if self.takes("PARTITION"):
            self.needs("BY")
            parts["partition_by"] = self.listed(self.expression)
        if self.sees("ORDER"):
            parts["order"] = self.order_by()
        if self.sees_one_of(("ROWS", "RANGE")):
            parts["spec"] = self._frame()
        if self.sees_one_of(("ALLOW", "DISALLOW")):
            raise self.unsupported("ALLOW PARTIAL")
        self.needs(")")
        return parts

    def _frame(self) -> exp.WindowSpec:
        start = self.index
        kind = self.advance().key
        if self.takes("BETWEEN"):
            low, low_side = self._bound()
            self.needs("AND")
            high, high_side = self._bound()
        else:
            low, low_side = self._bound()
            high, high_side = None, None
        if self.sees("EXCLUDE"):
            raise self.unsupported("EXCLUDE")
        frame = exp.WindowSpec(kind=kind, start=low, start_side=low_side, end=high, end_side=high_side)
        return self.mark(frame, start)

    def _bound(self) -> tuple[str | exp.Expr, str | None]:
        if self.takes("CURRENT"):
            self.needs("ROW")
            return "CURRENT ROW", None
        if self.takes("UNBOUNDED"):
            return "UNBOUNDED", self.needs_one_of("PRECEDING", "FOLLOWING")
        value = self.expression()
        return value, self.needs_one_of("PRECEDING", "FOLLOWING")

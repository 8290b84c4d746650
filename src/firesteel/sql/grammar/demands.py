"""What the grammar of expressions needs of the classes above it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from sqlglot import exp

from firesteel.sql.grammar.literals import Literals


class Demands(Literals, ABC):
    """Declares the parsers that expressions and queries need of each other."""

    @abstractmethod
    def expression(self) -> exp.Expr:
        """Return the expression that follows."""

    @abstractmethod
    def operand_before_in(self) -> exp.Expr:
        """Return an expression that ends before IN."""

    @abstractmethod
    def query(self) -> exp.Expr:
        """Return the query that follows, with its WITH, ORDER BY and LIMIT."""

    @abstractmethod
    def combined(self, left: exp.Expr) -> exp.Expr:
        """Return the rest of a query whose first part, in parentheses, has been passed; or that part."""

    @abstractmethod
    def subquery(self) -> exp.Subquery:
        """Return the query in parentheses that follows."""

    @abstractmethod
    def sees_query(self, ahead: int = 0) -> bool:
        """Return whether a query without parentheses begins some tokens ahead."""

    @abstractmethod
    def table_name(self) -> exp.Table:
        """Return the name of a table that follows."""

    @abstractmethod
    def ordered(self) -> exp.Ordered:
        """Return one key of ORDER BY."""

    @abstractmethod
    def order_by(self) -> exp.Order:
        """Return the ORDER BY that follows."""

    @abstractmethod
    def over(self, call: exp.Expr) -> exp.Window:
        """Return a call over the window whose OVER has been passed."""

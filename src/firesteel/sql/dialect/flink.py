"""The dialect itself."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp, generator, tokens
from sqlglot.dialects.dialect import Dialect

from firesteel.common.places import Source
from firesteel.sql.dialect.generator import FlinkGenerator
from firesteel.sql.grammar.queries import Queries
from firesteel.sql.lexer import tokens as flink_tokens


class Flink(Dialect):
    """Flink's SQL: sqlglot's nodes and generator, with the grammar of Flink's own parser.

    sqlglot's parser is not used. It accepts far more than Flink does, forgets where most things stood, and has
    other precedences.

    >>> query = Flink().parse("SELECT a FROM t WHERE b = c IS NULL")[0]
    >>> query.sql(dialect=Flink)
    'SELECT a FROM t WHERE b = c IS NULL'
    >>> type(query.find(exp.Where).this).__name__
    'Is'
    """

    class Tokenizer(tokens.Tokenizer):
        """How strings and names are quoted."""

        QUOTES: ClassVar = ["'"]
        STRING_ESCAPES: ClassVar = ["'"]
        IDENTIFIERS: ClassVar = ["`"]
        HEX_STRINGS: ClassVar = [("x'", "'"), ("X'", "'")]

    Generator: type[generator.Generator] = FlinkGenerator

    def parse(self, sql: str, **opts: Any) -> list[exp.Expr | None]:
        """Return the query or the expression that a text is, in a list of one; raises `SqlParseError`."""
        queries = Queries(Source(sql), list(flink_tokens(sql)), who="the text")
        found = queries.query() if queries.sees_query() or queries.sees("(") else queries.expression()
        queries.needs_end()
        return [found]

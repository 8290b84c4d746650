"""Names, options, columns, keys and watermarks."""

from __future__ import annotations

from typing import Literal, cast

from sqlglot import exp

from firesteel.sql.grammar.queries import Queries
from firesteel.sql.statements.parts import (
    Column,
    ComputedColumn,
    Distribution,
    Element,
    LikeOption,
    MetadataColumn,
    Name,
    NamedColumn,
    Option,
    OptionKey,
    Partition,
    PartitionValue,
    PhysicalColumn,
    PrimaryKey,
    TableLike,
    Watermark,
)

_MERGING = ("INCLUDING", "EXCLUDING", "OVERWRITING")
_FEATURES = (
    "ALL",
    "CONSTRAINTS",
    "DISTRIBUTION",
    "GENERATED",
    "METADATA",
    "OPTIONS",
    "PARTITIONS",
    "WATERMARKS",
)


class Elements(Queries):
    """Parses what statements are made of."""

    def name(self, what: str = "a name", most: int = 3) -> Name:
        """Return the name that follows, of at most that number of parts."""
        start = self.index
        found = [self.identifier(what)]
        while self.takes("."):
            found.append(self.identifier("a part of a name"))
        if len(found) > most:
            parts = "one part" if most == 1 else f"{most} parts"
            raise self.refused(f"has a name of more than {parts}", self.span_from(start))
        spans = tuple(self.source.span(part.meta["start"], part.meta["end"]) for part in found)
        return Name(tuple(part.name for part in found), self.span_from(start), spans)

    def column_name(self) -> Name:
        """Return the name of a column that follows."""
        return self.name("the name of a column", most=1)

    def column_names(self) -> tuple[Name, ...]:
        """Return the names of columns in parentheses."""
        return tuple(self.in_parentheses(lambda: self.listed(self.column_name)))

    def options(self) -> tuple[Option, ...]:
        """Return the options in parentheses."""
        self.needs("(")
        found = [] if self.sees(")") else self.listed(self._option)
        self.needs(")")
        return tuple(found)

    def with_options(self) -> tuple[Option, ...] | None:
        """Return the options of WITH, None if it does not follow."""
        return self.options() if self.takes("WITH") else None

    def _option(self) -> Option:
        start = self.index
        key = self.string("the key of an option as a string")
        self.needs("=")
        value_at = self.index
        value = self.string("the value of an option as a string")
        return Option(key, value, self.span_from(start), self.span_from(value_at))

    def option_keys(self) -> tuple[OptionKey, ...]:
        """Return the keys in parentheses."""
        self.needs("(")
        found = [] if self.sees(")") else self.listed(self._option_key)
        self.needs(")")
        return tuple(found)

    def _option_key(self) -> OptionKey:
        start = self.index
        return OptionKey(self.string("the key of an option as a string"), self.span_from(start))

    def if_exists(self) -> bool:
        """Return whether IF EXISTS follows."""
        return self.takes("IF", "EXISTS")

    def if_not_exists(self) -> bool:
        """Return whether IF NOT EXISTS follows."""
        return self.takes("IF", "NOT", "EXISTS")

    def comment(self) -> str | None:
        """Return the text of COMMENT, None if it does not follow."""
        return self.string("the comment as a string") if self.takes("COMMENT") else None

    def partition(self, open_values: bool = False) -> Partition:
        """Return the columns of a partition, in parentheses, with their values.

        `open_values` allows to leave values out.
        """
        return tuple(self.in_parentheses(lambda: self.listed(lambda: self._partition_value(open_values))))

    def _partition_value(self, open_values: bool) -> PartitionValue:
        column = self.column_name()
        if open_values and not self.sees("="):
            return PartitionValue(column, None)
        self.needs("=")
        return PartitionValue(column, self.signed_literal())

    def element(self) -> Element:
        """Return a column, a watermark or a primary key."""
        if self.sees("WATERMARK"):
            return self.watermark()
        if self.sees_one_of(("CONSTRAINT", "PRIMARY", "UNIQUE")):
            return self.primary_key()
        return self.column()

    def watermark(self) -> Watermark:
        """Return the watermark that follows."""
        start = self.index
        self.needs("WATERMARK", "FOR")
        column = self.name("the name of a column", most=100)
        self.needs("AS")
        return Watermark(column, self.expression(), self.span_from(start))

    def primary_key(self, column: Name | None = None) -> PrimaryKey:
        """Return the primary key that follows; `column` is the one it is written with."""
        start = self.index
        name = self.name("the name of a constraint", most=1) if self.takes("CONSTRAINT") else None
        if self.sees("UNIQUE"):
            raise self.unsupported("UNIQUE", hint="use PRIMARY KEY (...) NOT ENFORCED")
        self.needs("PRIMARY", "KEY")
        columns = self.column_names() if column is None else (column,)
        enforced = None
        if self.takes("NOT", "ENFORCED"):
            enforced = False
        elif self.takes("ENFORCED"):
            enforced = True
        return PrimaryKey(columns, name, enforced, self.span_from(start))

    def column(self) -> Column:
        """Return the column that follows."""
        start = self.index
        name = self.column_name()
        if self.takes("AS"):
            value = self.expression()
            return ComputedColumn(name, value, self.comment(), self.span_from(start))
        if self.sees_one_of((",", ")")):
            return NamedColumn(name, self.span_from(start))
        kind = self.data_type()
        if self.takes("METADATA"):
            metadata = self.string() if self.takes("FROM") else None
            virtual = self.takes("VIRTUAL")
            return MetadataColumn(name, kind, metadata, virtual, self.comment(), self.span_from(start))
        keyed = self.sees_one_of(("CONSTRAINT", "PRIMARY", "UNIQUE"))
        key = self.primary_key(name) if keyed else None
        return PhysicalColumn(name, kind, key, self.comment(), self.span_from(start))

    def distribution(self) -> Distribution:
        """Return what follows DISTRIBUTED or DISTRIBUTION."""
        start = self.index
        kind, buckets = None, None
        columns: tuple[Name, ...] = ()
        if self.takes("BY"):
            kind = self.takes_one_of("HASH", "RANGE") or None
            columns = self.column_names()
            if self.takes("INTO"):
                buckets = self._buckets()
        else:
            self.needs("INTO")
            buckets = self._buckets()
        literal = cast(Literal["HASH", "RANGE"] | None, kind)
        return Distribution(literal, columns, buckets, self.span_from(start))

    def _buckets(self) -> int:
        number = self.integer()
        self.needs("BUCKETS")
        return number

    def table_like(self) -> TableLike:
        """Return what follows LIKE."""
        start = self.index
        table = self.name("the name of a table")
        options: list[LikeOption] = []
        if self.takes("("):
            while not options or self.sees_one_of(_MERGING):
                options.append(LikeOption(self.needs_one_of(*_MERGING), self.needs_one_of(*_FEATURES)))
            self.needs(")")
        return TableLike(table, tuple(options), self.span_from(start))

    def whole_query(self) -> exp.Expr:
        """Return the query that a statement ends with."""
        if not self.sees_query() and not self.sees("("):
            raise self.error("a query", keys=["SELECT", "VALUES", "WITH", "TABLE"])
        return self.query()

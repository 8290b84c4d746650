"""What statements are made of: names, options, columns, keys, watermarks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from sqlglot import exp

from firesteel.common.places import Span
from firesteel.sql.nodes import TypeName


class ObjectKind(Enum):
    """What a name in a catalog can stand for; the value is how SQL calls it."""

    CATALOG = "CATALOG"
    DATABASE = "DATABASE"
    TABLE = "TABLE"
    VIEW = "VIEW"
    FUNCTION = "FUNCTION"
    MODEL = "MODEL"
    MATERIALIZED_TABLE = "MATERIALIZED TABLE"


@dataclass(frozen=True, slots=True)
class Name:
    """A name of one or more parts, for example catalog, database and table.

    Names of the same parts are equal wherever they stand. `part_spans` has the place of each part.
    """

    parts: tuple[str, ...]
    span: Span = field(compare=False)
    part_spans: tuple[Span, ...] = field(compare=False)

    def __str__(self) -> str:
        return ".".join("`" + part.replace("`", "``") + "`" for part in self.parts)


@dataclass(frozen=True, slots=True)
class Option:
    """A key and a value of WITH; `span` is the whole, `value_span` the value."""

    key: str
    value: str
    span: Span = field(compare=False)
    value_span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class OptionKey:
    """A key of RESET."""

    key: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class PrimaryKey:
    """``[CONSTRAINT name] PRIMARY KEY (columns) [NOT ENFORCED]``.

    `enforced` is None where nothing is written.
    """

    columns: tuple[Name, ...]
    name: Name | None
    enforced: bool | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class PhysicalColumn:
    """A column that the connector reads or writes; `key` is a primary key written with the column."""

    name: Name
    type: TypeName
    key: PrimaryKey | None
    comment: str | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class MetadataColumn:
    """A column of what a connector knows about a record.

    `metadata` is the connector's name for it if that differs.
    """

    name: Name
    type: TypeName
    metadata: str | None
    virtual: bool
    comment: str | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ComputedColumn:
    """``name AS expression``."""

    name: Name
    expression: exp.Expr
    comment: str | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """A column of which only the name is written, before AS and a query."""

    name: Name
    span: Span = field(compare=False)


Column = PhysicalColumn | MetadataColumn | ComputedColumn | NamedColumn


@dataclass(frozen=True, slots=True)
class Watermark:
    """``WATERMARK FOR column AS expression``."""

    column: Name
    expression: exp.Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Placed:
    """A column of ALTER, with its place: `first`, or after the column `after`, or neither."""

    column: Column
    first: bool = False
    after: Name | None = None


Element = Column | Watermark | PrimaryKey


@dataclass(frozen=True, slots=True)
class Distribution:
    """``DISTRIBUTED BY [HASH | RANGE] (columns) INTO n BUCKETS``; every part but one may be missing."""

    kind: Literal["HASH", "RANGE"] | None
    columns: tuple[Name, ...]
    buckets: int | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class LikeOption:
    """``INCLUDING OPTIONS`` and the like: `merging` is the first word, `feature` the second."""

    merging: str
    feature: str


@dataclass(frozen=True, slots=True)
class TableLike:
    """``LIKE table (options)``."""

    table: Name
    options: tuple[LikeOption, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class PartitionValue:
    """A column of a partition and its value, which is None where only the column is written."""

    column: Name
    value: exp.Expr | None


Partition = tuple[PartitionValue, ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """``column = value`` of UPDATE."""

    column: Name
    value: exp.Expr


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement; `span` is where it stands in the whole text, without the semicolon."""

    span: Span = field(compare=False)

"""ALTER: an object, and one action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from firesteel.sql.statements.parts import (
    Distribution,
    Name,
    ObjectKind,
    Option,
    OptionKey,
    Partition,
    Placed,
    PrimaryKey,
    Statement,
    Watermark,
)


@dataclass(frozen=True, slots=True)
class RenameTo:
    """``RENAME TO name``."""

    name: Name


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """``RENAME column TO name``."""

    column: Name
    name: Name


@dataclass(frozen=True, slots=True)
class SetOptions:
    """``SET (options)``."""

    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class ResetOptions:
    """``RESET (keys)``."""

    keys: tuple[OptionKey, ...]


@dataclass(frozen=True, slots=True)
class SetComment:
    """``COMMENT 'text'``."""

    comment: str


AlteredElement = Placed | Watermark | PrimaryKey | Distribution


@dataclass(frozen=True, slots=True)
class ChangeElements:
    """``ADD`` or ``MODIFY`` (`how`) columns, a watermark, a primary key or a distribution."""

    how: Literal["ADD", "MODIFY"]
    elements: tuple[AlteredElement, ...]


@dataclass(frozen=True, slots=True)
class DropColumns:
    """``DROP (columns)``."""

    columns: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class DropPart:
    """``DROP PRIMARY KEY``, ``DROP WATERMARK``, ``DROP DISTRIBUTION`` or ``DROP CONSTRAINT name``."""

    what: Literal["PRIMARY KEY", "WATERMARK", "DISTRIBUTION", "CONSTRAINT"]
    constraint: Name | None = None


@dataclass(frozen=True, slots=True)
class AddedPartition:
    """A partition, and its options."""

    partition: Partition
    options: tuple[Option, ...] | None


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """``ADD PARTITION ...``."""

    if_not_exists: bool
    partitions: tuple[AddedPartition, ...]


@dataclass(frozen=True, slots=True)
class DropPartitions:
    """``DROP PARTITION ...``."""

    if_exists: bool
    partitions: tuple[Partition, ...]


@dataclass(frozen=True, slots=True)
class SetQuery:
    """``AS query``, of a view or a materialized table."""

    query: exp.Expr


@dataclass(frozen=True, slots=True)
class SetFunction:
    """``AS 'class' LANGUAGE language``."""

    target: str
    language: str | None


@dataclass(frozen=True, slots=True)
class SetFreshness:
    """``SET FRESHNESS = interval``."""

    freshness: exp.Expr


@dataclass(frozen=True, slots=True)
class SetRefreshMode:
    """``SET REFRESH_MODE = FULL`` or ``CONTINUOUS``."""

    refresh: str


@dataclass(frozen=True, slots=True)
class Suspend:
    """``SUSPEND``."""


@dataclass(frozen=True, slots=True)
class Resume:
    """``RESUME [WITH (options)]``."""

    options: tuple[Option, ...] | None


@dataclass(frozen=True, slots=True)
class Refresh:
    """``REFRESH [PARTITION (...)]``."""

    partition: Partition


AlterAction = (
    RenameTo
    | RenameColumn
    | SetOptions
    | ResetOptions
    | SetComment
    | ChangeElements
    | DropColumns
    | DropPart
    | AddPartitions
    | DropPartitions
    | SetQuery
    | SetFunction
    | SetFreshness
    | SetRefreshMode
    | Suspend
    | Resume
    | Refresh
)


@dataclass(frozen=True, slots=True)
class Alter(Statement):
    """``ALTER kind name action``."""

    kind: ObjectKind
    name: Name
    if_exists: bool
    action: AlterAction
    temporary: bool = False
    system: bool = False

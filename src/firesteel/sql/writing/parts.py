"""Parts of statements to text."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from firesteel.sql.dialect.flink import Flink
from firesteel.sql.statements.parts import (
    Assignment,
    ComputedColumn,
    Distribution,
    Element,
    MetadataColumn,
    Name,
    NamedColumn,
    Option,
    OptionKey,
    Partition,
    PhysicalColumn,
    Placed,
    PrimaryKey,
    TableLike,
    Watermark,
)


def text(string: str) -> str:
    """Return a string as a literal."""
    return "'" + string.replace("'", "''") + "'"


def sql(node: exp.Expr) -> str:
    """Return a query or an expression as text."""
    return node.sql(dialect=Flink)


def quoted_sql(node: exp.Expr) -> str:
    """Return a query or an expression as text, with all names quoted."""
    return node.sql(dialect=Flink, identify=True)


def joined(*parts: str | None) -> str:
    """Return the parts that are there, with a space between them."""
    return " ".join(part for part in parts if part)


def listed(items: Iterable[object]) -> str:
    """Return items with commas between them, in parentheses."""
    return f"({', '.join(str(item) for item in items)})"


def options(found: tuple[Option, ...]) -> str:
    """Return options in parentheses."""
    return listed(f"{text(option.key)} = {text(option.value)}" for option in found)


def with_options(found: tuple[Option, ...] | None) -> str | None:
    """Return WITH and options, None if there are none."""
    return None if found is None else f"WITH {options(found)}"


def option_keys(found: tuple[OptionKey, ...]) -> str:
    """Return keys of options in parentheses."""
    return listed(text(key.key) for key in found)


def comment(found: str | None) -> str | None:
    """Return COMMENT and its text, None if there is none."""
    return None if found is None else f"COMMENT {text(found)}"


def partition(found: Partition) -> str:
    """Return PARTITION and its columns."""
    values = (str(one.column) if one.value is None else f"{one.column} = {sql(one.value)}" for one in found)
    return f"PARTITION {listed(values)}"


def assignment(found: Assignment) -> str:
    """Return one assignment of UPDATE."""
    return f"{found.column} = {sql(found.value)}"


def distribution(found: Distribution) -> str:
    """Return what follows DISTRIBUTED or DISTRIBUTION."""
    buckets = None if found.buckets is None else f"INTO {found.buckets} BUCKETS"
    by = joined("BY", found.kind, listed(found.columns)) if found.columns else None
    return joined(by, buckets)


def table_like(found: TableLike) -> str:
    """Return LIKE, its table and its options."""
    inside = " ".join(f"{option.merging} {option.feature}" for option in found.options)
    return joined(f"LIKE {found.table}", f"({inside})" if inside else None)


def primary_key(found: PrimaryKey, inline: bool = False) -> str:
    """Return a primary key; without its columns if it is written with its column."""
    name = f"CONSTRAINT {found.name}" if found.name else None
    columns = None if inline else listed(found.columns)
    enforced = {None: None, True: "ENFORCED", False: "NOT ENFORCED"}[found.enforced]
    return joined(name, "PRIMARY KEY", columns, enforced)


def element(found: Element | Placed | Distribution) -> str:
    """Return a column, a watermark, a primary key or a distribution."""
    match found:
        case Watermark():
            return f"WATERMARK FOR {found.column} AS {sql(found.expression)}"
        case PrimaryKey():
            return primary_key(found)
        case Distribution():
            return f"DISTRIBUTION {distribution(found)}"
        case Placed():
            place = f"AFTER {found.after}" if found.after else "FIRST" if found.first else None
            return joined(element(found.column), place)
        case NamedColumn():
            return str(found.name)
        case ComputedColumn():
            return joined(f"{found.name} AS {sql(found.expression)}", comment(found.comment))
        case MetadataColumn():
            source = None if found.metadata is None else f"FROM {text(found.metadata)}"
            virtual = "VIRTUAL" if found.virtual else None
            return joined(
                str(found.name), sql(found.type), "METADATA", source, virtual, comment(found.comment)
            )
        case PhysicalColumn():
            key = None if found.key is None else primary_key(found.key, inline=True)
            return joined(str(found.name), sql(found.type), key, comment(found.comment))


def names(found: tuple[Name, ...] | None) -> str | None:
    """Return names in parentheses, None if there are none."""
    return None if found is None else listed(found)

"""Definitions of tables as properties, and back, as Flink has them (CatalogPropertiesUtil).

What another program of Flink has written is read, and Flink reads what is written here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import ObjectIdentifier
from firesteel.common.places import Source
from firesteel.relational.tables import MetadataColumn
from firesteel.sql.binding.places import Text
from firesteel.sql.binding.table_elements import Written, declared_column
from firesteel.sql.script import parse_statement
from firesteel.sql.statements import parts
from firesteel.sql.statements.create import CreateTable
from firesteel.table.catalog.definitions import CatalogBaseTable
from firesteel.table.schema import Schema
from firesteel.table.table_descriptor import TableDescriptor, create_statement

_SCHEMA: Final = "schema."
_KEYS: Final = "partition.keys."
_KEY: Final = "schema.primary-key."
_COMMENT: Final = "comment"
_OTHERS: Final = (_COMMENT, "snapshot")
_ANY: Final = ObjectIdentifier("c", "d", "t")


def declaration(table: CatalogBaseTable) -> tuple[CreateTable, Source]:
    """Return the columns of a definition as a statement that declares them, and its text.

    Raises UnsupportedError for buckets: no property says them, and Flink forgets them.
    """
    if table.distribution is not None:
        raise UnsupportedError(
            "cannot be kept in this catalog", who="a table with buckets", got=str(table.distribution)
        )
    text = create_statement(TableDescriptor(table.schema, {}, table.partition_keys), _ANY)
    statement = parse_statement(text)
    assert isinstance(statement, CreateTable)
    return statement, Source(text)


def properties_of(table: CatalogBaseTable) -> dict[str, str]:
    """Return a definition, all but the query of a view.

    >>> schema = Schema.new_builder().column("a", "INT").column_by_expression("b", "a + 1").build()
    >>> for key, value in properties_of(CatalogBaseTable.create_table(schema, ["a"], {"connector": "print"})).items():
    ...     print(key, "=", value)
    schema.0.name = a
    schema.0.data-type = INT
    schema.1.name = b
    schema.1.expr = `a` + 1
    partition.keys.0.name = a
    connector = print
    """
    statement, source = declaration(table)
    found: dict[str, str] = {}
    for place, column in enumerate(statement.columns):
        found |= {f"{_SCHEMA}{place}.{key}": value for key, value in _column(column, source)}
    for place, mark in enumerate(statement.watermarks):
        begin = f"{_SCHEMA}watermark.{place}."
        found[f"{begin}rowtime"] = mark.column.parts[0]
        found[f"{begin}strategy.expr"] = Written(mark.expression, source).shown
    for key in statement.keys:
        names = [name.parts[0] for name in key.columns]
        found[f"{_KEY}name"] = f"PK_{'_'.join(names)}" if key.name is None else key.name.parts[0]
        found[f"{_KEY}columns"] = ",".join(names)
    found |= {f"{_KEYS}{place}.name": name for place, name in enumerate(table.partition_keys)}
    if table.comment:
        found[_COMMENT] = table.comment
    return found | dict(table.options)


def _column(column: parts.Column, source: Source) -> Iterator[tuple[str, str]]:
    declared = declared_column(column, Text(source))
    yield "name", declared.name
    if isinstance(column, parts.ComputedColumn):
        yield "expr", Written(column.expression, source).shown
    else:
        yield "data-type", declared.type.as_serializable_string()
    if isinstance(declared, MetadataColumn):
        yield "metadata", declared.key
        yield "virtual", str(declared.virtual).lower()
    if declared.comment is not None:
        yield "comment", declared.comment


def table_of(properties: Mapping[str, str]) -> CatalogBaseTable:
    """Return the definition of properties.

    >>> table = table_of({"schema.0.name": "a", "schema.0.data-type": "INT", "connector": "print"})
    >>> table.get_options(), table.get_unresolved_schema().columns
    ({'connector': 'print'}, ('a',))
    """
    keys = [properties[key] for key in _numbered(_KEYS, "name", properties)]
    options = {
        key: value
        for key, value in properties.items()
        if not key.startswith((_SCHEMA, _KEYS)) and key not in _OTHERS
    }
    return CatalogBaseTable.create_table(_schema(properties), keys, options, properties.get(_COMMENT))


def _schema(properties: Mapping[str, str]) -> Schema:
    builder = Schema.new_builder()
    for key in _numbered(_SCHEMA, "name", properties):
        begin, name = key.removesuffix("name"), properties[key]
        expression, kind = properties.get(f"{begin}expr"), properties.get(f"{begin}data-type", "")
        metadata = properties.get(f"{begin}metadata")
        if expression is not None:
            builder.column_by_expression(name, expression)
        elif metadata is not None:
            virtual = properties.get(f"{begin}virtual") == "true"
            builder.column_by_metadata(name, kind, None if metadata == name else metadata, virtual)
        else:
            builder.column(name, kind)
        builder.with_comment(properties.get(f"{begin}comment"))
    for key in _numbered(f"{_SCHEMA}watermark.", "rowtime", properties):
        builder.watermark(properties[key], properties[f"{key.removesuffix('rowtime')}strategy.expr"])
    if f"{_KEY}name" in properties:
        builder.primary_key_named(properties[f"{_KEY}name"], *properties[f"{_KEY}columns"].split(","))
    return builder.build()


def _numbered(begin: str, end: str, properties: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys `begin`N.`end` that there are, from 0 on."""
    for place in count():
        key = f"{begin}{place}.{end}"
        if key not in properties:
            return
        yield key

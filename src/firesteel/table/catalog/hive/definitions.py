"""Tables and views as a metastore of Hive has them, and back (Flink: HiveTableUtil).

A table of Hive has columns and files that Hive knows. Every other table, and each view, is generic: its definition is
in parameters that begin with `flink.`, and Hive knows nothing of its columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types.logical_type import escaped_identifier
from firesteel.relational.tables import PhysicalColumn
from firesteel.spark.hive.connector import CONF_DIR, TABLE, row_of_table
from firesteel.spark.hive.objects import EXTERNAL, MANAGED, VIEW, HiveColumn, HiveStorage, HiveTable
from firesteel.sql.binding.places import Text
from firesteel.sql.binding.table_elements import declared_column
from firesteel.table.catalog.definitions import CatalogBaseTable, require_text
from firesteel.table.catalog.hive.types import text_of, type_of
from firesteel.table.catalog.paths import ObjectPath
from firesteel.table.catalog.property_definitions import declaration, properties_of, table_of
from firesteel.table.schema import Schema
from firesteel.table.types import DataType

HIVE: Final = "hive"
COMMENT: Final = "comment"
LOCATION: Final = "hive.location-uri"

_CONNECTOR: Final = "connector"
_EXTERNAL: Final = "hive.is-external"
_FORMAT: Final = "hive.storage.file-format"
_INPUT: Final = "hive.stored.as.input.format"
_OUTPUT: Final = "hive.stored.as.output.format"
_SERIALIZER: Final = "hive.serde.lib.class.name"
_OF_SERIALIZER: Final = "hive.serde.info.prop."
_STORED: Final = (_EXTERNAL, _FORMAT, _INPUT, _OUTPUT, _SERIALIZER, LOCATION)
_OWN: Final = (_CONNECTOR, TABLE, CONF_DIR)
"""Options that a table of Hive has here, and that the metastore does not keep."""

_FLINK: Final = "flink."
_GENERIC: Final = "is_generic"
_VIEW: Final = "firesteel.view"
"""Where names in the query of a view are looked up, and what its asterisks stood for."""

_OF_SPARK: Final = "spark.sql.sources.provider"
_SERIALIZER_NAMES: Final = {"collection.delim": "colelction.delim"}
"""Hive's own name of it has this slip."""


def is_hive(parameters: Mapping[str, str]) -> bool:
    """Return whether a table with these parameters in a metastore is one of Hive."""
    if _GENERIC in parameters:
        return parameters[_GENERIC].lower() != "true"
    return f"{_FLINK}{_CONNECTOR}" not in parameters and f"{_FLINK}{_CONNECTOR}.type" not in parameters


def is_for_hive(table: CatalogBaseTable) -> bool:
    """Return whether a definition is that of a table of Hive."""
    return not table.is_view and table.options.get(_CONNECTOR, "").lower() == HIVE


def definition_of(found: HiveTable, path: ObjectPath, conf_dir: str | None, who: str) -> CatalogBaseTable:
    """Return the definition of what a metastore has; `who` is the table in errors.

    Raises UnsupportedError for a column of a type that Flink does not have.
    """
    if found.texts is not None:
        return _view(found, who)
    if not is_hive(found.parameters):
        return table_of(_of_flink(found.parameters))
    options = {key: value for key, value in found.parameters.items() if key != COMMENT}
    name = f"{escaped_identifier(path.database_name)}.{escaped_identifier(path.object_name)}"
    options |= {_CONNECTOR: HIVE, TABLE: name}
    if conf_dir is not None:
        options[CONF_DIR] = conf_dir
    keys = [column.name for column in found.partition_columns]
    if _OF_SPARK in found.parameters:  # Spark alone knows the columns of a table of its own data sources
        builder = Schema.new_builder().from_row_data_type(DataType(row_of_table(name, conf_dir, who)))
        schema = builder.build()
    else:
        schema = _columns(found, who)
    return CatalogBaseTable.create_table(schema, keys, options, found.parameters.get(COMMENT))


def _columns(found: HiveTable, who: str) -> Schema:
    builder = Schema.new_builder()
    for name, kind, comment in (*found.columns, *found.partition_columns):
        builder.column(name, DataType(type_of(kind, f"{who}, column {name!r}"))).with_comment(comment)
    return builder.build()


def _of_flink(parameters: Mapping[str, str]) -> dict[str, str]:
    return {key.removeprefix(_FLINK): value for key, value in parameters.items() if key.startswith(_FLINK)}


def _view(found: HiveTable, who: str) -> CatalogBaseTable:
    """Return a view; one that Hive has made is read as Flink's SQL."""
    assert found.texts is not None
    if is_hive(found.parameters):
        schema, comment, options = _columns(found, who), found.parameters.get(COMMENT), found.parameters
        return CatalogBaseTable.create_view(*found.texts, schema, options, comment)
    kept = table_of(_of_flink(found.parameters))
    known = json.loads(found.parameters.get(_VIEW, "{}"))
    path = known.get("path")
    return CatalogBaseTable(
        kept.schema,
        (),
        kept.options,
        kept.comment,
        found.texts[1],
        None if path is None else tuple(path),
        {int(offset): tuple(names) for offset, names in known.get("asterisks", {}).items()},
    )


def generic_table(table: CatalogBaseTable) -> HiveTable:
    """Return a table that is none of Hive, or a view, as a metastore has it.

    Raises UnsupportedError for a view that a program made of a Table.
    """
    parameters = {f"{_FLINK}{key}": value for key, value in properties_of(table).items()}
    if table.is_view or _CONNECTOR not in table.options:
        parameters[_GENERIC] = "true"
    if not table.is_view:
        return HiveTable(parameters)
    text = require_text(table)
    asterisks = {str(offset): list(names) for offset, names in table.asterisks.items()}
    parameters[_VIEW] = json.dumps({"path": table.path and list(table.path), "asterisks": asterisks})
    return HiveTable(parameters, kind=VIEW, texts=(text, text))


def hive_table(table: CatalogBaseTable, who: str) -> tuple[HiveTable, HiveStorage]:
    """Return a table of Hive, and how it is to be stored.

    Raises UnsupportedError for what such a table cannot have, and ProgramError for partition columns that are not last.
    """
    columns, keys = _declared(table, who), list(table.partition_keys)
    split = len(columns) - len(keys)
    if [column.name for column in columns[split:]] != keys:
        raise ProgramError(
            "requires the columns of PARTITIONED BY to be the last ones, in the same order",
            who=who,
            got=", ".join(column.name for column in columns),
        )
    options = table.options
    parameters = {
        key: value
        for key, value in options.items()
        if key not in (*_OWN, *_STORED) and not key.startswith(_OF_SERIALIZER)
    }
    if table.comment is not None:
        parameters[COMMENT] = table.comment
    external = options.get(_EXTERNAL, "false").lower() == "true"
    if external:
        parameters["EXTERNAL"] = "TRUE"
    found = HiveTable(parameters, columns[:split], columns[split:], EXTERNAL if external else MANAGED)
    return found, _storage(options)


def _declared(table: CatalogBaseTable, who: str) -> tuple[HiveColumn, ...]:
    statement, source = declaration(table)
    if statement.watermarks or statement.keys:
        raise UnsupportedError("has no watermark and no primary key: Hive keeps none", who=who)
    columns = []
    for one in statement.columns:
        column = declared_column(one, Text(source))
        if not isinstance(column, PhysicalColumn):
            raise UnsupportedError("has physical columns alone", who=who, got=column.name)
        name = f"{who}, column {column.name!r}"
        if not column.type.nullable:
            raise UnsupportedError("cannot be NOT NULL: Hive does not keep that", who=name)
        columns.append(HiveColumn(column.name.lower(), text_of(column.type, name), column.comment))
    return tuple(columns)


def _storage(options: Mapping[str, str]) -> HiveStorage:
    named = {
        key.removeprefix(_OF_SERIALIZER): value
        for key, value in options.items()
        if key.startswith(_OF_SERIALIZER)
    }
    if "field.delim" in named:
        named["serialization.format"] = named["field.delim"]
    return HiveStorage(
        options.get(_FORMAT),
        options.get(_INPUT),
        options.get(_OUTPUT),
        options.get(_SERIALIZER),
        {_SERIALIZER_NAMES.get(key, key): value for key, value in named.items()},
        options.get(LOCATION),
    )

"""What the columns of a table of Kafka are: fields of keys and of values, and metadata of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from firesteel.common.errors import ConfigurationError
from firesteel.common.logical_types import (
    STRING,
    BigIntType,
    Field,
    IntType,
    LocalZonedTimestampType,
    LogicalType,
    MapType,
    RowType,
    VarBinaryType,
)
from firesteel.connectors.tables.kafka.options import names
from firesteel.connectors.tables.messages.known_formats import MESSAGE_FORMATS, message_format
from firesteel.connectors.tables.messages.message_format import MessageFormat
from firesteel.connectors.tables.options import Listed, Options, choice, suggestion, text
from firesteel.functions.columns.connectors import TableRequest

_TEXT: Final = STRING.copy(nullable=False)
_BYTES: Final = VarBinaryType()

_FORMAT: Final = text("format", "The format of values; its options are on [a page of their own](formats.md).")
VALUE_FORMAT: Final = text("value.format", "The same as `format`; its options begin with `value.`.")
KEY_FORMAT: Final = text("key.format", "The format of keys; its options begin with `key.`.")
KEY_FIELDS: Final = text(
    "key.fields",
    "The columns that a key has. For `upsert-kafka` they are the primary key.",
    "columns with `;` between",
)
_KEY_PREFIX: Final = text(
    "key.fields-prefix",
    "What the names of these columns begin with, and the fields of keys do not. Needs `value.fields-include` = "
    "`EXCEPT_KEY`.",
).by_default("")
_INCLUDE: Final = choice(
    "value.fields-include", "ALL", "EXCEPT_KEY", about="Whether values have the columns of keys, too."
).by_default("ALL")

OF_KEYS: Final[Listed] = (_KEY_PREFIX, _INCLUDE)
"""The options that say how keys and values share columns."""

OPTIONS: Final[Listed] = (_FORMAT, VALUE_FORMAT, KEY_FORMAT, KEY_FIELDS, *OF_KEYS)
"""The options that say what keys and values are."""

WRITABLE: Final[dict[str, LogicalType]] = {
    "topic": STRING,
    "headers": MapType(STRING, _BYTES, nullable=True),
    "timestamp": LocalZonedTimestampType(3, nullable=True),
}
"""The metadata that a record that is written takes."""

ERROR: Final = "error"
"""The metadata that says why a message cannot be read; a table that has it has a row for such a message."""

RECORD: Final[dict[str, LogicalType]] = {
    "topic": _TEXT,
    "partition": IntType(nullable=False),
    "headers": MapType(_TEXT, _BYTES.copy(nullable=False), nullable=False),
    "leader-epoch": IntType(),
    "offset": BigIntType(nullable=False),
    "timestamp": LocalZonedTimestampType(3, nullable=False),
    "timestamp-type": _TEXT,
    "raw-key": _BYTES,
    "raw-value": _BYTES,
}
"""What is known of a record besides key and value, with its type."""

VALUE: Final = "value."
"""Before the names of metadata of the value's format."""

ALWAYS_READABLE: Final = {
    **RECORD,
    **{f"{VALUE}{key}": kind for form in MESSAGE_FORMATS.values() for key, kind in form.metadata.items()},
}
"""The metadata that tables of the last rows of keys have, too."""

READABLE: Final = {**ALWAYS_READABLE, ERROR: STRING}
"""The metadata that tables have."""


@dataclass(frozen=True)
class KafkaColumn:
    """A column of a table: a field of the key or of the value, metadata of the value's format, or of the record.

    That of kind "error" says why a message cannot be read.
    """

    name: str
    type: LogicalType
    kind: Literal["key", "value", "format", "record", "error"]


@dataclass(frozen=True)
class Form:
    """A format with its options, for rows of a type."""

    format: MessageFormat
    options: Options
    row: RowType


@dataclass(frozen=True)
class KafkaParts:
    """The columns of a table in their order, the formats of values and keys, and the columns of the keys' fields.

    `keeps_bad` is whether a message that cannot be read has a row.
    """

    columns: tuple[KafkaColumn, ...]
    value: Form
    key: Form | None
    key_columns: tuple[str, ...]
    keeps_bad: bool = False

    def only(self, columns: tuple[KafkaColumn, ...]) -> KafkaParts:
        """Return these columns alone; of values, other fields are not looked at if those have names.

        If bad messages have rows, all fields are, because a message is bad whatever is asked of it.
        """
        if self.keeps_bad or not self.value.format.by_name:
            return replace(self, columns=columns)
        names = {column.name for column in columns if column.kind == "value"}
        kept = tuple(field for field in self.value.row.fields if field.name in names)
        value = replace(self.value, row=RowType(kept, nullable=False))
        return replace(self, columns=columns, value=value)


def parts_of(options: Options, table: TableRequest) -> KafkaParts:
    """Return what a table's columns are. Raises ConfigurationError for formats and keys that do not fit together."""
    physical = table.row.fields[: len(table.row.fields) - len(table.metadata)]
    value, value_options = _value_format(options, table)
    key = message_format(options, KEY_FORMAT, table.who)
    keys = _key_fields(options, table, physical, bool(key))
    prefix = options.get(_KEY_PREFIX)
    include = options.get(_INCLUDE)
    if prefix and include == "ALL":
        raise options.wrong("key.fields-prefix", "'value.fields-include' = 'EXCEPT_KEY' with any value")
    in_value = [field for field in physical if include == "ALL" or field.name not in keys]
    columns = [
        KafkaColumn(field.name, field.type, "value" if field in in_value else "key") for field in physical
    ]
    keeps_bad = ERROR in table.metadata
    if keeps_bad:
        _require_nullable(table, physical)
    return KafkaParts(
        (*columns, *_metadata(table, value)),
        Form(value, value_options, RowType(tuple(in_value), nullable=False)),
        None if key is None else Form(*key, _key_row(options, physical, keys, prefix)),
        keys,
        keeps_bad,
    )


def _value_format(options: Options, table: TableRequest) -> tuple[MessageFormat, Options]:
    plain, named = (message_format(options, key, table.who) for key in (_FORMAT, VALUE_FORMAT))
    if (plain is None) == (named is None):
        raise ConfigurationError(
            "requires one of the options 'format' and 'value.format'",
            who=table.who,
            got="none" if plain is None else "both",
        )
    found = plain or named
    assert found is not None
    return found


def _key_fields(
    options: Options, table: TableRequest, physical: Sequence[Field], has_format: bool
) -> tuple[str, ...]:
    given = options.get(KEY_FIELDS)
    keys = names(given or "")
    if bool(keys) != has_format:
        missing = "'key.fields'" if has_format else "'key.format'"
        raise ConfigurationError(
            f"requires the option {missing}, too",
            who=table.who,
            got="'key.format' without 'key.fields'" if has_format else "'key.fields' without 'key.format'",
        )
    known = [field.name for field in physical]
    for name in keys:
        if name not in known:
            raise ConfigurationError(
                "requires columns of the table, and no metadata, as 'key.fields'",
                who=table.who,
                got=repr(name),
                hint=suggestion(name, known),
            )
    return keys


def _key_row(options: Options, physical: Sequence[Field], keys: Sequence[str], prefix: str) -> RowType:
    """Return the type of keys: their fields in the order of 'key.fields', without the prefix."""
    by_name = {field.name: field for field in physical}
    for name in keys:
        if not name.startswith(prefix):
            raise options.wrong(
                "key.fields-prefix", f"a prefix of all 'key.fields', and not only of others than {name!r},"
            )
    return RowType(
        tuple(Field(name.removeprefix(prefix), by_name[name].type) for name in keys), nullable=False
    )


def _require_nullable(table: TableRequest, physical: Sequence[Field]) -> None:
    """Raise ConfigurationError unless a row can be of a message that cannot be read."""
    of_format = [Field(key, kind) for key, kind in table.metadata.items() if key.startswith(VALUE)]
    for field in (*physical, *of_format):
        if not field.type.nullable:
            raise ConfigurationError(
                f"requires columns that can be NULL beside the metadata '{ERROR}': a message that cannot be read has a "
                "row of NULLs",
                who=table.who,
                got=f"{field.name} {field.type}",
            )


def _metadata(table: TableRequest, value: MessageFormat) -> list[KafkaColumn]:
    known: Mapping[str, LogicalType] = {
        **RECORD,
        ERROR: STRING,
        **{f"{VALUE}{key}": kind for key, kind in value.metadata.items()},
    }
    for key in table.metadata:
        if key not in known:
            raise ConfigurationError(
                f"requires metadata that records with the format {value.name!r} have",
                who=table.who,
                got=repr(key),
                hint=suggestion(key, known),
            )
    return [KafkaColumn(key, kind, _kind_of(key)) for key, kind in table.metadata.items()]


def _kind_of(metadata: str) -> Literal["error", "record", "format"]:
    if metadata == ERROR:
        return "error"
    return "record" if metadata in RECORD else "format"

"""Which columns of a table are in the key of a message, and which in its value (Flink: KafkaConnectorOptionsUtil)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from firesteel.common.errors import ConfigurationError
from firesteel.common.logical_types import Field, RowType
from firesteel.connectors.tables.messages.known_formats import message_format
from firesteel.connectors.tables.messages.message_format import MessageFormat
from firesteel.connectors.tables.options import Options, choice, text
from firesteel.functions.columns.connectors import TableRequest


class MessagePart(NamedTuple):
    """A key or a value: the places of its columns in the table, their type there, the format and its options."""

    places: tuple[int, ...]
    row: RowType
    format: MessageFormat
    options: Options


class MessageParts(NamedTuple):
    """The key of messages, if they have one, and the value."""

    key: MessagePart | None
    value: MessagePart


def message_parts(options: Options, table: TableRequest, key: Sequence[str] | None = None) -> MessageParts:
    """Return what the options of formats say; `key` has the columns of the key, if they are known otherwise.

    Raises ConfigurationError for formats and columns that do not fit each other.
    """
    fields = table.row.fields[: len(table.row.fields) - len(table.metadata)]
    names = [field.name for field in fields]
    prefix = options.get(text("key.fields-prefix"), "")
    if key is None:
        given = options.get(text("key.fields"))
        key = None if given is None else [name.strip() for name in given.split(";") if name.strip()]
    found = message_format(options, "key.format", table.who)
    if found is None:
        if key is not None or prefix:
            raise options.wrong(
                "key.fields" if key is not None else "key.fields-prefix",
                "the option 'key.format' with what is given",
            )
        places: tuple[int, ...] = ()
    else:
        places = _key_places(options, table, key or [], names, prefix)
    value = _value_part(options, table, fields, places, prefix)
    return MessageParts(None if found is None else _key_part(fields, places, prefix, *found), value)


def _key_places(
    options: Options, table: TableRequest, key: Sequence[str], names: list[str], prefix: str
) -> tuple[int, ...]:
    if not key:
        raise ConfigurationError(
            "requires the option 'key.fields', with one column or more, beside 'key.format'", who=table.who
        )
    for name in key:
        if name not in names:
            raise ConfigurationError(
                "requires physical columns as the option 'key.fields'",
                who=table.who,
                got=repr(name),
                hint=f"the table has {', '.join(names)}",
            )
        if not name.startswith(prefix):
            raise options.wrong(
                "key.fields-prefix", f"what all columns of the key begin with, as {name!r} does not,"
            )
    return tuple(names.index(name) for name in key)


def _key_part(
    fields: Sequence[Field], places: tuple[int, ...], prefix: str, form: MessageFormat, options: Options
) -> MessagePart:
    row = tuple(Field(fields[place].name.removeprefix(prefix), fields[place].type) for place in places)
    return MessagePart(places, RowType(row, nullable=False), form, options)


def _value_part(
    options: Options, table: TableRequest, fields: Sequence[Field], key: tuple[int, ...], prefix: str
) -> MessagePart:
    both = [name for name in ("format", "value.format") if name in options]
    if len(both) != 1:
        raise ConfigurationError(
            "requires either the option 'format' or the option 'value.format'",
            who=table.who,
            got=" and ".join(map(repr, both)) or "none of them",
        )
    found = message_format(options, both[0], table.who)
    assert found is not None
    include = options.get(choice("value.fields-include", "ALL", "EXCEPT_KEY"), "ALL")
    if include == "ALL" and prefix:
        raise options.wrong("key.fields-prefix", "'value.fields-include' = 'EXCEPT_KEY' beside a prefix")
    places = tuple(place for place in range(len(fields)) if include == "ALL" or place not in key)
    return MessagePart(places, RowType(tuple(fields[place] for place in places), nullable=False), *found)

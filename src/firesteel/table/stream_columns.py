"""The columns of a stream that a program chooses by expressions (Flink: FieldInfoUtils).

`col("a")` is a field. If none of the names is one of the stream's, they rename its fields from the first one on. Then
`col("a").alias("b")` is a field under another name, `col("t").rowtime` the records' timestamp with the stream's
watermarks, and `col("p").proctime` the processing time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import Field
from firesteel.datastream.streams.node_settings import call_site
from firesteel.table.expressing.operations import trees_of
from firesteel.table.expressing.tree import Call, Name, Tree, Value
from firesteel.table.expression import Expression
from firesteel.table.expressions import col
from firesteel.table.schema import Schema
from firesteel.table.types import DataType

_TIMES: Final = ("rowtime", "proctime")


class Choice(NamedTuple):
    """A column of the table: its name, and the field of the stream, or which time it is."""

    name: str
    field: str | None
    time: str | None = None


def chosen(fields: Sequence[Field], expressions: Sequence[Any], method: str) -> list[Choice]:
    """Return the columns that expressions stand for. Raises ProgramError for others, and for fields that are not there.

    >>> from firesteel.common.logical_types import IntType
    >>> chosen([Field("f0", IntType()), Field("f1", IntType())], [col("a"), col("t").rowtime], "from_data_stream")
    [Choice(name='a', field='f0', time=None), Choice(name='t', field=None, time='rowtime')]
    """
    who = call_site(method)
    names = [field.name for field in fields]
    written = [_written(tree, who) for tree in trees_of(expressions, method)]
    by_place = all(one.time or (one.name == one.field and one.field not in names) for one in written)
    return [
        one if one.time else one._replace(field=_field(one, place, names, by_place, who))
        for place, one in enumerate(written)
    ]


def _written(tree: Tree, who: str) -> Choice:
    match tree:
        case Name(name):
            return Choice(name, name)
        case Call("as", (inner, Value(str() as name))):
            return _written(inner, who)._replace(name=name)
        case Call(time, (Name(name),)) if time in _TIMES:
            return Choice(name, None, time)
    raise ProgramError(
        "requires fields of the stream",
        who=who,
        got=str(tree),
        hint='col("a"), col("a").alias("b"), col("t").rowtime, col("p").proctime',
    )


def _field(choice: Choice, place: int, names: list[str], by_place: bool, who: str) -> str:
    found = (names[place] if place < len(names) else None) if by_place else choice.field
    if found not in names:
        raise ProgramError(
            "requires fields of the stream",
            who=who,
            got=choice.field,
            hint=f"the stream has {', '.join(names)}",
        )
    return str(found)


def schema_with_times(
    fields: Sequence[Field], choices: Sequence[Choice]
) -> tuple[Schema, list[Expression[Any]]]:
    """Return a schema of all fields and of the times that are asked for, and the columns to select of its table."""
    taken = {field.name for field in fields}
    names = {time: _free(time, taken) for time in _TIMES}
    builder = Schema.new_builder()
    for field in fields:
        builder.column(field.name, DataType(field.type))
    times = {choice.time for choice in choices}
    if "rowtime" in times:
        builder.column_by_metadata(names["rowtime"], "TIMESTAMP(3)", "rowtime")
        builder.watermark(names["rowtime"], "SOURCE_WATERMARK()")
    if "proctime" in times:
        builder.column_by_expression(names["proctime"], "PROCTIME()")
    sources = (choice.field or names[choice.time or ""] for choice in choices)
    columns = [col(source).alias(choice.name) for source, choice in zip(sources, choices, strict=True)]
    return builder.build(), columns


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}_"
    return name

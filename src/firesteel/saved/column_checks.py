"""Checks which columns can be written as which types, before anything runs; and columns as untyped objects."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from firesteel.common.errors import ProgramError
from firesteel.common.types import make_row
from firesteel.saved.columns import Convert, arrow_type, fields_of, from_column
from firesteel.state.values.schemas import without_external

_INTEGERS: Final = frozenset({"BYTE", "SHORT", "INT", "LONG", "BIG_INT"})
_FRACTIONS: Final = frozenset({"FLOAT", "DOUBLE"})


def require_fit(column: str, found: pa.DataType, wanted: dict[str, Any], who: str) -> None:
    """Raise ProgramError, which names the place, unless the values of a column can be values of a type.

    Whole numbers fit any type of whole numbers that can hold them. The names and the order of a row's fields must be
    those of the type.
    """
    problem = _misfit(found, wanted)
    if problem is not None:
        place, type_found, type_wanted = problem
        raise ProgramError(
            f"requires {type_wanted} in column '{column}'{place}",
            who=who,
            got=str(type_found),
            hint="cast the column, or declare another type",
        )


def object_from(found: pa.DataType) -> Convert | None:
    """Return a function from a value of a column to a plain Python object; None if it is one already.

    Structs with the fields f0, f1, ... become tuples, other structs become rows, and a timestamp with a zone becomes an
    Instant.

    >>> object_from(pa.struct([("f0", pa.int32()), ("f1", pa.map_(pa.string(), pa.int32()))]))({"f0": 1, "f1": []})
    (1, {})
    """
    if pa.types.is_timestamp(found) and found.tz is not None:
        return from_column({"type": "INSTANT"})
    if _is_list(found):
        element = _sparing_none(object_from(found.value_type))
        return None if element is None else lambda values: list(map(element, values))
    if pa.types.is_map(found):
        key_of, item_of = object_from(found.key_type), _sparing_none(object_from(found.item_type))
        return lambda pairs: {
            key if key_of is None else key_of(key): item if item_of is None else item_of(item)
            for key, item in pairs
        }
    return _from_struct(found) if pa.types.is_struct(found) else None


def _from_struct(found: pa.StructType) -> Convert:
    names = [field.name for field in found]
    parts = [(field.name, _sparing_none(object_from(field.type))) for field in found]
    is_tuple = names == [f"f{at}" for at in range(len(names))]

    def convert(value: dict[str, Any]) -> Any:
        fields = [value[name] if part is None else part(value[name]) for name, part in parts]
        return tuple(fields) if is_tuple else make_row(names[:], fields)

    return convert


def _sparing_none(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: None if value is None else convert(value)


def _is_list(found: pa.DataType) -> bool:
    return bool(pa.types.is_list(found) or pa.types.is_large_list(found))


def _is_text(found: pa.DataType) -> bool:
    return bool(pa.types.is_string(found) or pa.types.is_large_string(found))


Misfit = tuple[str, pa.DataType | str, pa.DataType | str]
"""The place, what was found there, and what is required."""


def _misfit(found: pa.DataType, schema: dict[str, Any] | None) -> Misfit | None:
    schema = without_external(schema)
    if schema is None:
        return "", found, "a type whose every part is declared (or the bytes stored, in a column _raw)"
    wanted, name = arrow_type(schema), schema["type"]
    if name in _INTEGERS:
        fits = pa.types.is_integer(found) or (pa.types.is_decimal(found) and found.scale == 0)
    elif name in _FRACTIONS:
        fits = pa.types.is_floating(found) or pa.types.is_integer(found)
    elif name == "BIG_DEC":
        fits = pa.types.is_decimal(found) or pa.types.is_integer(found)
    elif pa.types.is_string(wanted):
        fits = _is_text(found)
    elif pa.types.is_binary(wanted):
        fits = pa.types.is_binary(found) or pa.types.is_large_binary(found)
    elif pa.types.is_time(wanted):
        fits = pa.types.is_time(found)
    elif pa.types.is_timestamp(wanted):
        fits = pa.types.is_timestamp(found) and (found.tz is None) == (wanted.tz is None)
    elif pa.types.is_nested(wanted):
        return _misfit_within(found, schema, wanted)
    else:
        fits = found == wanted
    return None if fits else ("", found, wanted)


def _misfit_within(found: pa.DataType, schema: dict[str, Any], wanted: pa.DataType) -> Misfit | None:
    name = schema["type"]
    if name == "MAP":
        if not pa.types.is_map(found):
            return "", found, wanted
        parts = [(".key", found.key_type, schema["key"]), (".value", found.item_type, schema["value"])]
    elif name in ("ROW", "TUPLE"):
        fields = fields_of(schema)
        names = [field for field, _ in fields]
        if not pa.types.is_struct(found) or [field.name for field in found] != names:
            return "", found, f"a struct of {', '.join(names)}"
        parts = [(f".{field.name}", field.type, part) for field, (_, part) in zip(found, fields, strict=True)]
    else:
        if not _is_list(found):
            return "", found, wanted
        parts = [("[]", found.value_type, schema["element"])]
    for place, part, part_schema in parts:
        problem = _misfit(part, part_schema)
        if problem is not None:
            return place + problem[0], problem[1], problem[2]
    return None

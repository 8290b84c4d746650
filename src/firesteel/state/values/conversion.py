"""Lossless conversions between types, and the functions that convert a value.

Flink's schema evolution (PojoSerializer, AvroSerializer): fields of a ROW can be added and removed, and are matched by
name. Beyond Flink: numbers can become wider, elements nullable, and untyped objects can get a type.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, NamedTuple

from firesteel.common.errors import TypeMismatchError
from firesteel.common.typeinfo import from_schema
from firesteel.common.typeinfo.composite import row_names
from firesteel.common.types import Row, field_names, make_row
from firesteel.state.values.codecs import kept_type
from firesteel.state.values.schemas import type_text, without_external

Convert = Callable[[Any], Any]
TypeSchema = dict[str, Any] | None

_WIDER: Final = {
    "BYTE": {"SHORT", "INT", "LONG", "BIG_INT", "FLOAT", "DOUBLE", "BIG_DEC"},
    "SHORT": {"INT", "LONG", "BIG_INT", "FLOAT", "DOUBLE", "BIG_DEC"},
    "INT": {"LONG", "BIG_INT", "DOUBLE", "BIG_DEC"},
    "LONG": {"BIG_INT", "BIG_DEC"},
    "BIG_INT": {"BIG_DEC"},
    "FLOAT": {"DOUBLE"},
    "CHAR": {"STRING"},
    "SQL_DATE": {"LOCAL_DATE"},
    "LOCAL_DATE": {"SQL_DATE"},
    "SQL_TIME": {"LOCAL_TIME"},
    "SQL_TIMESTAMP": {"LOCAL_DATE_TIME"},
}
_MADE_OF_INTEGERS: Final[dict[str, Convert]] = {"FLOAT": float, "DOUBLE": float, "BIG_DEC": Decimal}
_SEQUENCES: Final = {"PRIMITIVE_ARRAY", "BASIC_ARRAY", "OBJECT_ARRAY", "LIST"}
_NULLABLE_SEQUENCES: Final = {"BASIC_ARRAY", "OBJECT_ARRAY"}
_TAKE_NONE: Final = {
    "STRING", "BIG_INT", "BIG_DEC", "INSTANT", "SQL_DATE", "SQL_TIME", "SQL_TIMESTAMP",
    "LOCAL_DATE", "LOCAL_TIME", "LOCAL_DATE_TIME",
}  # fmt: skip


class Comparison(NamedTuple):
    """The difference between two types.

    `convert` converts a value of the first type to the second; None stays None. It is None if values and their bytes do
    not change. `changes` and `refusals` are sentences; values cannot be converted if there are refusals.
    """

    convert: Convert | None
    changes: list[str]
    refusals: list[str]


def compare_types(old: TypeSchema, new: TypeSchema, place: str = "value") -> Comparison:
    """Compare two types by their schemas (None: untyped); `place` is the name of the values in the sentences.

    >>> compare_types({"type": "INT"}, {"type": "DOUBLE"}).convert(1)
    1.0
    >>> compare_types({"type": "LONG"}, {"type": "INT"}).refusals
    ['value: LONG cannot become INT']
    """
    walk = _Walk()
    return Comparison(walk.step(place, old, new), walk.changes, walk.refusals)


class _Walk:
    """One walk through two types, which records its findings."""

    def __init__(self) -> None:
        self.changes: list[str] = []
        self.refusals: list[str] = []

    def step(self, place: str, old: TypeSchema, new: TypeSchema) -> Convert | None:
        old, new = without_external(old), without_external(new)
        if old == new:
            return None
        if old is None or new is None:
            self.changes.append(f"{place}: {type_text(old)} becomes {type_text(new)}")
            return _unchanged if new is None else _strictly(new)
        before, after = old["type"], new["type"]
        if before == after == "ROW":
            convert = self._row(place, old, new)
        elif before == after == "TUPLE":
            convert = self._tuple(place, old, new)
        elif before == after == "MAP":
            convert = self._map(place, old, new)
        elif before in _SEQUENCES and after in _SEQUENCES:
            convert = self._sequence(place, old, new)
        elif after in _WIDER.get(before, ()):
            self.changes.append(f"{place}: {before} becomes {after}")
            convert = None if before == "FLOAT" else _MADE_OF_INTEGERS.get(after)
        else:
            self.refusals.append(f"{place}: {type_text(old)} cannot become {type_text(new)}")
            convert = None
        return None if convert is None else _sparing_none(convert)

    def _row(self, place: str, old: dict[str, Any], new: dict[str, Any]) -> Convert | None:
        before, names = row_names(old), row_names(new)
        if old["names"] and new["names"]:
            sources = [before.index(name) if name in before else None for name in names]
        else:  # one of the types has no names, so the order counts
            sources = [index if index < len(before) else None for index in range(len(names))]
        parts: list[tuple[int | None, Convert | None]] = []
        for name, source, field in zip(names, sources, new["fields"], strict=True):
            if source is None:
                self.changes.append(f"{place}.{name}: {type_text(field)} is new")
                parts.append((None, None))
            else:
                if before[source] != name:
                    self.changes.append(f"{place}.{before[source]} is called {name}")
                parts.append((source, self.step(f"{place}.{name}", old["fields"][source], field)))
        gone = [index for index in range(len(before)) if index not in sources]
        self.changes += [
            f"{place}.{before[index]}: {type_text(old['fields'][index])} is gone" for index in gone
        ]
        if before and len(gone) == len(before):
            self.refusals.append(f"{place}: no field of {type_text(old)} is left in {type_text(new)}")
        if before == names and not any(convert for _, convert in parts):
            return None
        if not gone and sorted(before) == sorted(names) and before != names:
            self.changes.append(f"{place}: its fields have another order")
        return _row_converter(names, parts)

    def _tuple(self, place: str, old: dict[str, Any], new: dict[str, Any]) -> Convert | None:
        before, after = old["fields"], new["fields"]
        if len(before) != len(after):
            self.refusals.append(
                f"{place}: {type_text(old)} cannot become {type_text(new)}, which has {len(after)} fields, "
                f"not {len(before)}"
            )
            return None
        pairs = enumerate(zip(before, after, strict=True))
        parts = [self.step(f"{place}[{index}]", one, other) for index, (one, other) in pairs]
        if not any(parts):
            return None
        return lambda value: tuple(
            item if convert is None else convert(item) for convert, item in zip(parts, value, strict=True)
        )

    def _map(self, place: str, old: dict[str, Any], new: dict[str, Any]) -> Convert | None:
        self.keys(place, old["key"], new["key"])
        convert = self.step(f"{place}[...]", old["value"], new["value"])
        return None if convert is None else lambda value: {key: convert(item) for key, item in value.items()}

    def keys(self, place: str, old: TypeSchema, new: TypeSchema) -> None:
        if old != new:
            self.refusals.append(
                f"{place}: the keys of a map keep their type, {type_text(old)} cannot become {type_text(new)}"
            )

    def _sequence(self, place: str, old: dict[str, Any], new: dict[str, Any]) -> Convert | None:
        if _holds_none(old) and not _holds_none(new):
            self.refusals.append(
                f"{place}: elements of {type_text(old)} may be None, those of {type_text(new)} may not"
            )
        if _is_bytes(old) != _is_bytes(new):
            self.refusals.append(
                f"{place}: {type_text(old)} cannot become {type_text(new)}, one of them is bytes"
            )
            return None
        if old["type"] != new["type"]:
            self.changes.append(f"{place}: {old['type']} becomes {new['type']}")
        convert = self.step(f"{place}[]", old["element"], new["element"])
        return None if convert is None else lambda value: list(map(convert, value))


def _row_converter(names: list[str], parts: list[tuple[int | None, Convert | None]]) -> Convert:
    def convert(row: Row) -> Row:
        values = list(row)
        fields = [
            None if source is None else values[source] if part is None else part(values[source])
            for source, part in parts
        ]
        return make_row(names, fields, row.get_row_kind())

    return convert


def _sparing_none(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _unchanged(value: Any) -> Any:
    return value


def _holds_none(sequence: dict[str, Any]) -> bool:
    element = without_external(sequence["element"])
    return sequence["type"] in _NULLABLE_SEQUENCES or element is None or element["type"] in _TAKE_NONE


def _is_bytes(sequence: dict[str, Any]) -> bool:
    return sequence["type"] not in _NULLABLE_SEQUENCES and sequence["element"] == {"type": "BYTE"}


def _strictly(schema: dict[str, Any]) -> Convert:
    """Return a function that coerces objects to a type, and refuses those that it would change."""
    info = from_schema(schema)
    coerce = kept_type(info).compile_coercer()

    def convert(value: Any) -> Any:
        if value is None:
            return None
        coerced = coerce(value)
        if not _is_all_of(coerced, value):
            raise TypeMismatchError(
                f"cannot hold all of a {type(value).__name__}", who=f"type {info}", got=repr(value)[:200]
            )
        return coerced

    return convert


def _is_all_of(coerced: Any, value: Any) -> bool:
    """Return whether nothing of a value was lost: no field, no fraction, no microsecond."""
    if isinstance(coerced, Row):
        names, fields = field_names(coerced) or [], list(coerced)
        held = field_names(value) if isinstance(value, Row) else None
        if isinstance(value, (Row, tuple, list)) and (held is None or list(held) == list(names)):
            return _are_all_of(fields, list(value))
        if isinstance(value, Row):
            value = value.as_dict()
        elif not isinstance(value, dict):
            value = vars(value)
        return value.keys() <= set(names) and all(
            _is_all_of(field, value.get(name)) for name, field in zip(names, fields, strict=True)
        )
    if isinstance(coerced, (list, tuple)):
        return _are_all_of(coerced, value)
    if isinstance(coerced, dict):
        return _are_all_of(list(coerced), list(value)) and _are_all_of(
            list(coerced.values()), list(value.values())
        )
    return bool(coerced == value) or (coerced != coerced and value != value)


def _are_all_of(coerced: Any, value: Any) -> bool:
    return len(coerced) == len(value) and all(map(_is_all_of, coerced, value))

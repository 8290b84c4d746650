"""Arrays, maps and rows in the kernel's SQL."""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types import ArrayType, MapType, RowType
from firesteel.relational.expressions import Call
from firesteel.relational.translation.casts import converted, field_text
from firesteel.relational.translation.translator import Translation, Translator, cast_text, failing
from firesteel.relational.translation.types import identifier


def _field(translator: Translator, call: Call, texts: list[str]) -> str:
    return field_text(texts[0], int(call.function.removeprefix("FIELD_")))


def _array(translator: Translator, call: Call, texts: list[str]) -> str:
    return cast_text(f"[{', '.join(texts)}]", call.type)


def _map(translator: Translator, call: Call, texts: list[str]) -> str:
    keys, values = texts[0::2], texts[1::2]
    return cast_text(f"map([{', '.join(keys)}], [{', '.join(values)}])", call.type)


def _row(translator: Translator, call: Call, texts: list[str]) -> str:
    assert isinstance(call.type, RowType)
    names = (identifier(field.name) for field in call.type.fields)
    return f"struct_pack({', '.join(f'{name} := {text}' for name, text in zip(names, texts, strict=True))})"


def _item(translator: Translator, call: Call, texts: list[str]) -> str:
    given = call.operands[0].type
    if isinstance(given, MapType):
        key = converted(translator, texts[1], call.operands[1].type, given.key)
        return f"map_extract_value({texts[0]}, {key})"
    before = failing("an array has no element before 1")
    return f"CASE WHEN {texts[1]} < 1 THEN {before} ELSE {texts[0]}[{texts[1]}] END"


def _element(translator: Translator, call: Call, texts: list[str]) -> str:
    many = failing("ELEMENT requires an array of one element")
    return f"CASE WHEN len({texts[0]}) > 1 THEN {many} ELSE {texts[0]}[1] END"


def _contains(translator: Translator, call: Call, texts: list[str]) -> str:
    array, value = texts
    nulls = f"len(list_filter({array}, lambda x: x IS NULL)) > 0"
    found = f"list_contains({array}, {value})"
    return f"CASE WHEN {array} IS NULL THEN NULL WHEN {value} IS NULL THEN {nulls} ELSE {found} END"


def _template(text: str) -> Translation:
    return lambda translator, call, texts: text.format(*texts)


def _cardinality(translator: Translator, call: Call, texts: list[str]) -> str:
    name = "len" if isinstance(call.operands[0].type, ArrayType) else "cardinality"
    return f"CAST({name}({texts[0]}) AS INTEGER)"


TRANSLATIONS: Final[dict[str, Translation]] = {
    "FIELD_": _field,
    "ARRAY": _array,
    "MAP": _map,
    "ROW": _row,
    "ITEM": _item,
    "CARDINALITY": _cardinality,
    "ELEMENT": _element,
    "ARRAY_CONTAINS": _contains,
    "ARRAY_REVERSE": _template("list_reverse({0})"),
    "MAP_KEYS": _template("map_keys({0})"),
    "MAP_VALUES": _template("map_values({0})"),
}

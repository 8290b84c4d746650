"""Arrays, maps and rows in the kernel's SQL."""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types import ArrayType, LogicalTypeFamily, MapType, RowType, VariantType
from firesteel.relational.expressions import Call, Literal
from firesteel.relational.translation.casts import converted, field_text
from firesteel.relational.translation.translator import Translation, Translator, cast_text, failing
from firesteel.relational.translation.types import identifier

_NO_KEY: Final = failing("maps with the key NULL are not supported")


def _field(translator: Translator, call: Call, texts: list[str]) -> str:
    return field_text(texts[0], int(call.function.removeprefix("FIELD_")))


def _array(translator: Translator, call: Call, texts: list[str]) -> str:
    return cast_text(f"[{', '.join(texts)}]", call.type)


def _map(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return a map; of equal keys, the last one counts."""
    keys, values = texts[0::2], texts[1::2]
    found = f"map([{', '.join(keys)}], [{', '.join(values)}])"
    known = [key.value for key in call.operands[0::2] if isinstance(key, Literal)]
    if len(known) < len(keys) or len(set(known)) < len(keys):
        entries = ", ".join(
            f"struct_pack(k := {key}, v := {value})" for key, value in zip(keys, values, strict=True)
        )
        later = "list_contains(list_transform(e[i + 1:], lambda y: y.k), x.k)"
        last = f"map_from_entries(list_filter(e, lambda x, i: NOT {later}))"
        found = f"list_transform([[{entries}]], lambda e: {last})[1]"
    unknown = [
        f"{key} IS NULL"
        for key, operand in zip(keys, call.operands[0::2], strict=True)
        if operand.type.nullable
    ]
    found = cast_text(found, call.type)
    return f"CASE WHEN {' OR '.join(unknown)} THEN {_NO_KEY} ELSE {found} END" if unknown else found


def _row(translator: Translator, call: Call, texts: list[str]) -> str:
    assert isinstance(call.type, RowType)
    names = (identifier(field.name) for field in call.type.fields)
    return f"struct_pack({', '.join(f'{name} := {text}' for name, text in zip(names, texts, strict=True))})"


def _item(translator: Translator, call: Call, texts: list[str]) -> str:
    given = call.operands[0].type
    if isinstance(given, MapType):
        key = converted(translator, texts[1], call.operands[1].type, given.key)
        return f"map_extract_value({texts[0]}, {key})"
    if isinstance(given, VariantType):
        part = "element" if call.operands[1].type.has_family(LogicalTypeFamily.NUMERIC) else "field"
        return translator.call(f"variant_{part}", *texts)
    place = call.operands[1]
    if isinstance(place, Literal) and place.value is not None and place.value < 1:
        return failing("an array has no element before 1")
    return f"CASE WHEN {texts[1]} >= 1 THEN {texts[0]}[{texts[1]}] END"


def _element(translator: Translator, call: Call, texts: list[str]) -> str:
    many = failing("ELEMENT requires an array of one element")
    return f"CASE WHEN len({texts[0]}) > 1 THEN {many} ELSE {texts[0]}[1] END"


def _of_arrays(translator: Translator, call: Call, texts: list[str]) -> str:
    keys, values = texts
    null = f"len(list_filter({keys}, lambda x: x IS NULL)) > 0"
    unequal = failing("MAP_FROM_ARRAYS requires two arrays of the same length")
    made = cast_text(f"map({keys}, {values})", call.type)
    found = (
        f"CASE WHEN len({keys}) <> len({values}) THEN {unequal} WHEN {null} THEN {_NO_KEY} ELSE {made} END"
    )
    return f"CASE WHEN {keys} IS NULL OR {values} IS NULL THEN NULL ELSE {found} END"


def _union(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return the entries of the last map and then those of the ones before it that have other keys."""
    found = texts[0]
    for text in texts[1:]:
        others = f"list_filter(map_entries({found}), lambda x: NOT list_contains(map_keys({text}), x.key))"
        found = f"map_from_entries(list_concat(map_entries({text}), {others}))"
    unknown = " OR ".join(f"{text} IS NULL" for text in texts)
    return f"CASE WHEN {unknown} THEN NULL ELSE {found} END"


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
    "MAP_KEYS": _template("map_keys({0})"),
    "MAP_VALUES": _template("map_values({0})"),
    "MAP_ENTRIES": _template("CASE WHEN {0} IS NULL THEN NULL ELSE map_entries({0}) END"),
    "MAP_FROM_ARRAYS": _of_arrays,
    "MAP_UNION": _union,
}

"""Functions of JSON in the kernel's SQL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import YearMonthIntervalType
from firesteel.relational.expressions import Call, Expression, Literal
from firesteel.relational.translation.translator import Translation, Translator, cast_text
from firesteel.relational.translation.types import kernel_type, quoted

_RAW: Final = frozenset({"JSON_OBJECT", "JSON_ARRAY", "JSON"})
"""Functions whose texts are put into other JSON as they are."""


def _exists(translator: Translator, call: Call, texts: list[str]) -> str:
    return translator.call(f"json_exists|{texts[2]}", *texts[:2])


def _value(translator: Translator, call: Call, texts: list[str]) -> str:
    name = f"json_value|{kernel_type(call.type)}|{texts[3]}|{texts[5]}"
    return translator.call(name, *texts[:2], texts[4], texts[6])


def _query(translator: Translator, call: Call, texts: list[str]) -> str:
    return translator.call(f"json_query|{kernel_type(call.type)}|{'|'.join(texts[3:])}", *texts[:2])


def _json(translator: Translator, operand: Expression, text: str) -> str:
    """Return a value as JSON, NULL as ``null``."""
    if isinstance(operand, Call) and operand.function in _RAW:
        return f"coalesce({text}, 'null')"
    given = operand.type.copy(nullable=True)
    try:
        name = f"json_text|{kernel_type(given)}|{given.as_serializable_string()}"
    except ValueError as error:
        raise UnsupportedError("cannot be written as JSON", who=f"type {given}") from error
    return translator.call(name, text)


def _string(translator: Translator, call: Call, texts: list[str]) -> str:
    if isinstance(call.operands[0].type, YearMonthIntervalType):
        return cast_text(texts[0], call.type)
    found = _json(translator, call.operands[0], texts[0])
    return f"CASE WHEN {texts[0]} IS NULL THEN NULL ELSE {found} END"


def _object(translator: Translator, call: Call, texts: list[str]) -> str:
    members: dict[str, str] = {}
    for key, value, text in zip(call.operands[1::2], call.operands[2::2], texts[2::2], strict=True):
        assert isinstance(key, Literal)
        start = translator.call("json_text|VARCHAR|STRING", quoted(key.value))
        member = f"{start} || ':' || {_json(translator, value, text)}"
        members[key.value] = _member(member, text, texts[0])
    return _between("{", (members[key] for key in sorted(members)), "}")


def _array(translator: Translator, call: Call, texts: list[str]) -> str:
    members = (
        _member(_json(translator, value, text), text, texts[0])
        for value, text in zip(call.operands[1:], texts[1:], strict=True)
    )
    return _between("[", members, "]")


def _member(text: str, value: str, of_null: str) -> str:
    """Return a member of an object or an array; NULL if there is none."""
    return f"CASE WHEN {value} IS NULL THEN NULL ELSE {text} END" if of_null == "ABSENT ON NULL" else text


def _between(start: str, members: Iterable[str], end: str) -> str:
    found = ", ".join(members)
    inside = f"coalesce(array_to_string([{found}], ','), '')" if found else "''"
    return f"('{start}' || {inside} || '{end}')"


def _vectorised(name: str) -> Translation:
    return lambda translator, call, texts: translator.call(name, *texts)


def _is_kind(kind: str) -> Translation:
    """Return the translation of IS JSON of a kind, which NULL is not."""
    return lambda translator, call, texts: f"coalesce({translator.call(f'is_json|{kind}', *texts)}, FALSE)"


def _parsed(tried: str) -> Translation:
    """Return the translation of PARSE_JSON; its second operand says whether keys may be there twice."""

    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        once, repeated = (f"variant_parsed|{may}|{tried}" for may in ("FALSE", "TRUE"))
        if len(texts) == 1:
            return translator.call(once, texts[0])
        found = f"WHEN {texts[1]} THEN {translator.call(repeated, texts[0])}"
        return f"CASE {found} WHEN NOT {texts[1]} THEN {translator.call(once, texts[0])} END"

    return translate


TRANSLATIONS: Final[dict[str, Translation]] = {
    "JSON_EXISTS": _exists,
    "JSON_VALUE": _value,
    "JSON_QUERY": _query,
    "JSON_STRING": _string,
    "JSON_OBJECT": _object,
    "JSON_ARRAY": _array,
    "JSON_QUOTE": _vectorised("json_quoted"),
    "JSON_UNQUOTE": _vectorised("json_unquoted"),
    "JSON": _vectorised("json_checked"),
    "PARSE_JSON": _parsed(""),
    "TRY_PARSE_JSON": _parsed("try"),
    **{f"IS JSON {kind}": _is_kind(kind) for kind in ("VALUE", "SCALAR", "ARRAY", "OBJECT")},
}

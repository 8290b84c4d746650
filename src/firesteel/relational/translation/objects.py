"""Values of structured types in the kernel's SQL."""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types import StructuredType
from firesteel.relational.expressions import Call, Literal
from firesteel.relational.translation.casts import field_text
from firesteel.relational.translation.translator import Translation, Translator
from firesteel.relational.translation.types import identifier


def _packed(fields: dict[str, str]) -> str:
    return f"struct_pack({', '.join(f'{identifier(name)} := {text}' for name, text in fields.items())})"


def _named(call: Call, texts: list[str]) -> dict[str, str]:
    names = [name.value for name in call.operands[1::2] if isinstance(name, Literal)]
    return dict(zip(names, texts[2::2], strict=True))


def _object(translator: Translator, call: Call, texts: list[str]) -> str:
    return _packed(_named(call, texts))


def _update(translator: Translator, call: Call, texts: list[str]) -> str:
    given = call.operands[0].type
    assert isinstance(given, StructuredType)
    old = {attribute.name: field_text(texts[0], place) for place, attribute in enumerate(given.attributes)}
    return f"CASE WHEN {texts[0]} IS NULL THEN NULL ELSE {_packed(old | _named(call, texts))} END"


TRANSLATIONS: Final[dict[str, Translation]] = {"OBJECT_OF": _object, "OBJECT_UPDATE": _update}

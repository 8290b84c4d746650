"""The bucket of a value, which rules use: `BUCKET` (value, number of buckets) is no function of SQL."""

from __future__ import annotations

from typing import Final

from firesteel.relational.expressions import Call, Literal
from firesteel.relational.translation.translator import Translation, Translator
from firesteel.relational.translation.types import kernel_type


def _bucket(translator: Translator, call: Call, texts: list[str]) -> str:
    value, count = call.operands
    assert isinstance(count, Literal)
    return translator.call(f"bucket|{kernel_type(value.type)}|{count.value}", texts[0])


TRANSLATIONS: Final[dict[str, Translation]] = {"BUCKET": _bucket}

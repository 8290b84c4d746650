"""PRINTF in the kernel's SQL: its arguments are one row, with the classes that Java has for them."""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    LocalZonedTimestampType,
    LogicalType,
    LogicalTypeRoot,
    TimestampType,
)
from firesteel.relational.expressions import Call
from firesteel.relational.translation.translator import Translation, Translator
from firesteel.relational.translation.types import kernel_type

_R = LogicalTypeRoot
_KINDS: Final = {
    **dict.fromkeys((_R.CHAR, _R.VARCHAR, _R.VARIANT), "text"),
    _R.BOOLEAN: "truth",
    _R.TINYINT: "byte",
    _R.SMALLINT: "short",
    **dict.fromkeys((_R.INTEGER, _R.TIME_WITHOUT_TIME_ZONE, _R.INTERVAL_YEAR_MONTH), "int"),
    **dict.fromkeys((_R.BIGINT, _R.INTERVAL_DAY_TIME), "long"),
    _R.FLOAT: "float",
    _R.DOUBLE: "double",
}
_NOTHING: Final = "FALSE"


def _argument(text: str, given: LogicalType) -> tuple[str, str, str]:
    """Return the class of an argument, its type in the kernel, and its text."""
    if given.root in _KINDS:
        return _KINDS[given.root], kernel_type(given), text
    if given.root is _R.DATE:
        return "int", "INTEGER", f"CAST({text} - DATE '1970-01-01' AS INTEGER)"
    if given.root is _R.DECIMAL:
        return "text", "VARCHAR", f"CAST({text} AS VARCHAR)"
    if isinstance(given, TimestampType | LocalZonedTimestampType):
        unit, name = ("ns", "nanos") if given.precision > 6 else ("us", "micros")
        return name, "BIGINT", f"epoch_{unit}({text})"
    raise UnsupportedError("has no text that is the same each time", who=f"{given} in PRINTF")


def _printf(translator: Translator, call: Call, texts: list[str]) -> str:
    given = [
        _argument(text, operand.type) for text, operand in zip(texts[1:], call.operands[1:], strict=True)
    ]
    columns = given or [("", "BOOLEAN", _NOTHING)]
    row = ", ".join(f"a{place} := {text}" for place, (_, _, text) in enumerate(columns))
    kind = ", ".join(f"a{place} {name}" for place, (_, name, _) in enumerate(columns))
    name = "|".join(["printf", f"STRUCT({kind})", *(java for java, _, _ in given)])
    return translator.call(name, texts[0], f"struct_pack({row})")


TRANSLATIONS: Final[dict[str, Translation]] = {"PRINTF": _printf}

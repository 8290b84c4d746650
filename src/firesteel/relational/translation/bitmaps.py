"""Functions of BITMAP in the kernel's SQL."""

from __future__ import annotations

from typing import Final

from firesteel.relational.translation.translator import Translation

_NAMES: Final = ("BUILD", "CARDINALITY", "TO_ARRAY", "TO_STRING", "FROM_BYTES", "AND", "OR", "XOR", "ANDNOT")


def _vectorised(name: str) -> Translation:
    return lambda translator, call, texts: translator.call(name, *texts)


TRANSLATIONS: Final[dict[str, Translation]] = {
    **{f"BITMAP_{name}": _vectorised(f"bitmap_{name.lower()}") for name in _NAMES},
    "BITMAP_TO_BYTES": lambda translator, call, texts: texts[0],
}

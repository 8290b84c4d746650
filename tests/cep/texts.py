"""Patterns of texts, as tests make them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firesteel.cep.text.building import Setting, TextPattern, built
from firesteel.cep.text.faults import Faults
from firesteel.cep.text.parsing import parsed
from firesteel.common.places import Source
from firesteel.common.typeinfo import TypeInformation


def of_text(
    text: str,
    parameters: Mapping[str, Any] | None = None,
    kind: str | None = "f1",
    types: Mapping[str, type] | None = None,
    event: TypeInformation | None = None,
) -> TextPattern:
    faults = Faults(Source(text), "the text")
    return built(parsed(faults), Setting(parameters or {}, types or {}, kind, event), faults)


class Thing:
    """An event with any attributes."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

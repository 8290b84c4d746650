"""The session's time zone in the kernel's SQL: points on the time line, and what clocks show."""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types import LocalZonedTimestampType, TimestampType
from firesteel.relational.translation.translator import Translator

UTC_NAMES: Final = frozenset({"UTC", "Z", "GMT", "Etc/UTC"})
"""Zones in which both are the same."""


def instant_text(
    translator: Translator, text: str, data_type: TimestampType | LocalZonedTimestampType
) -> str:
    """Return the point on the time line at which the session's clock shows a timestamp."""
    return _shifted(translator, "instant", text, data_type.precision)


def local_text(translator: Translator, text: str, data_type: TimestampType | LocalZonedTimestampType) -> str:
    """Return the timestamp that the session's clock shows at a point on the time line."""
    return _shifted(translator, "local_time", text, data_type.precision)


def zoned(translator: Translator) -> bool:
    """Return whether the session's clock shows another time than UTC."""
    return translator.zone not in UTC_NAMES


def _shifted(translator: Translator, function: str, text: str, precision: int) -> str:
    if not zoned(translator):
        return text
    name = f"{function}|{translator.zone}"
    if precision > 6:
        micros = translator.call(name, f"(epoch_ns({text}) - {_rest(text)}) // 1000")
        return f"make_timestamp_ns({micros} * 1000 + {_rest(text)})"
    return f"make_timestamp({translator.call(name, f'epoch_us({text})')})"


def _rest(text: str) -> str:
    return f"((epoch_ns({text}) % 1000 + 1000) % 1000)"

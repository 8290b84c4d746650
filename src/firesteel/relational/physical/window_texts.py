"""Windows as plans show them, with Flink's units of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from firesteel.functions.columns.windows import WindowAssignment, WindowShape

_UNITS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms"))


def window_text(window: WindowAssignment, names: Sequence[str], partition: Sequence[str] = ()) -> str:
    """Return the windows of rows whose columns have these names.

    >>> window_text(WindowAssignment(WindowShape("hop", 60_000, 10_000), time=1), ["a", "ts"])
    'HOP(time_col=[ts], size=[1 min], slide=[10 s])'
    """
    shape = window.shape
    parts = []
    if window.start is not None:
        parts.append(f"win_start=[{names[window.start]}]")
    if window.end is not None:
        parts.append(f"win_end=[{names[window.end]}]")
    if window.time is not None and window.end is None:
        parts.append(f"time_col=[{names[window.time]}]")
    if partition:
        parts.append(f"partition keys=[{', '.join(partition)}]")
    parts.extend(f"{name}=[{value}]" for name, value in _sizes(shape))
    return f"{shape.kind.upper()}({', '.join(parts)})"


def _sizes(shape: WindowShape) -> list[tuple[str, str]]:
    size, slide = duration_text(shape.size), duration_text(shape.slide)
    sizes = {
        "tumble": [("size", size)],
        "hop": [("size", size), ("slide", slide)],
        "cumulate": [("max_size", size), ("step", slide)],
        "session": [("gap", size)],
    }[shape.kind]
    return [*sizes, ("offset", duration_text(shape.offset))] if shape.offset else sizes


def lasting(what: str, time_to_live: int | None) -> str:
    """Return what is kept, with how long it is (milliseconds; None: for ever).

    >>> lasting("all rows", 3_600_000)
    'all rows, for 1 h after its last change'
    """
    return (
        what if time_to_live is None else f"{what}, for {duration_text(time_to_live)} after its last change"
    )


def duration_text(milliseconds: int) -> str:
    """Return a time in the largest unit that it is a multiple of (Flink: TimeUtils.formatWithHighestUnit).

    >>> duration_text(90_000), duration_text(86_400_000), duration_text(0)
    ('90 s', '1 d', '0 ms')
    """
    size, unit = next(
        ((size, unit) for size, unit in _UNITS if milliseconds and milliseconds % size == 0), (1, "ms")
    )
    return f"{milliseconds // size} {unit}"

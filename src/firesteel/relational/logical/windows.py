"""Windows of window table functions and of GROUP BY; all times are in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from firesteel.common.logical_types import LogicalType


@dataclass(frozen=True)
class Tumble:
    """Windows of one size, one after another; `time` is the place of the time attribute."""

    time: int
    size: int
    offset: int = 0


@dataclass(frozen=True)
class Hop:
    """Windows of one size that start every `slide`."""

    time: int
    size: int
    slide: int
    offset: int = 0


@dataclass(frozen=True)
class Cumulate:
    """Windows that start every `size` and end after one, two, ... steps, up to `size`."""

    time: int
    size: int
    step: int
    offset: int = 0


@dataclass(frozen=True)
class Session:
    """Windows that end when no row has come for `gap`, for each value of the `partition` columns."""

    time: int
    gap: int
    partition: tuple[int, ...] = ()


@dataclass(frozen=True)
class CountTumble:
    """Windows of `size` rows, of GROUP BY over processing time alone."""

    time: int
    size: int


@dataclass(frozen=True)
class CountHop:
    """Windows of `size` rows that start every `slide` rows."""

    time: int
    size: int
    slide: int


@dataclass(frozen=True)
class Attached:
    """Windows that the input's rows have already: places of window_start, window_end and window_time (None: absent).

    They come from a window table function further down, through aggregates by its columns. `time_type` is the type of
    the time attribute that it was given.
    """

    start: int | None
    end: int
    time: int | None
    window: Tumble | Hop | Cumulate | Session
    time_type: LogicalType


Window = Tumble | Hop | Cumulate | Session | CountTumble | CountHop | Attached


def window_columns(window: Window) -> tuple[int, ...]:
    """Return the columns that a window reads."""
    if isinstance(window, Attached):
        return tuple(place for place in (window.start, window.end, window.time) if place is not None)
    return (window.time, *window.partition) if isinstance(window, Session) else (window.time,)


def moved_window(window: Window, places: Mapping[int, int]) -> Window:
    """Return a window with its columns at other places."""
    if isinstance(window, Attached):
        start = None if window.start is None else places[window.start]
        time = None if window.time is None else places[window.time]
        return replace(window, start=start, end=places[window.end], time=time)
    if isinstance(window, Session):
        partition = tuple(places[place] for place in window.partition)
        return replace(window, time=places[window.time], partition=partition)
    return replace(window, time=places[window.time])

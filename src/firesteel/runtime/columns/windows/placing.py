"""How rows find their slices."""

from __future__ import annotations

from firesteel.common.errors import UnsupportedError
from firesteel.functions.columns.windows import WindowAssignment
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.times import Times, present_times, times_of
from firesteel.runtime.columns.windows.slices import AttachedWindows, Slicing


class Placing:
    """The slices of rows: by the time of a row, or the one whose end the row has."""

    def __init__(self, window: WindowAssignment) -> None:
        self._window = window
        self.slicing = Slicing(window.shape) if window.end is None else AttachedWindows(window.shape)

    def ends(self, batch: ColumnBatch, processing_time: int, who: str) -> Times:
        """Return the end of the slice of each row. Raises ProgramError for a time that is NULL."""
        if self._window.end is not None:
            return present_times(batch, self._window.end, who)
        return self.slicing.ends(times_of(batch, self._window, processing_time, who))


def placing_of(window: WindowAssignment, who: str) -> Placing:
    """Return how rows find their slices. Raises UnsupportedError for windows that have none."""
    if window.shape.kind == "session":
        raise UnsupportedError("cannot group again by the windows of SESSION", who=who)
    return Placing(window)

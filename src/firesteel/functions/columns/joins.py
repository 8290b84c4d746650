"""What joins do, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.program import Program

JoinKind = Literal["INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"]
"""LEFT, RIGHT and FULL keep rows without a partner; SEMI has the left rows with a partner, ANTI those without one."""

Side = Literal[0, 1]
"""The left input of a join, or the right one."""

KEEPING: Final[dict[JoinKind, tuple[bool, bool]]] = {
    "INNER": (False, False),
    "LEFT": (True, False),
    "RIGHT": (False, True),
    "FULL": (True, True),
    "SEMI": (False, False),
    "ANTI": (True, False),
}
"""Whether the left and the right rows without a partner are in the result."""


@dataclass(frozen=True)
class Join:
    """Rows of two inputs that belong together.

    Two rows do if their keys are equal, column by column, and `condition` is TRUE for them (None: always). `condition`
    is a program over the left columns, the right ones and a number of the pair; it gives the numbers of the pairs that
    stay. A NULL equals none, but in keys that are `null_safe` it equals itself. The inputs are partitioned by the keys;
    without keys there is one subtask. `times_to_live` are those of the rows of each side (milliseconds, None: for
    ever).
    """

    kind: JoinKind
    left: RowType
    right: RowType
    output: RowType
    left_keys: tuple[int, ...] = ()
    right_keys: tuple[int, ...] = ()
    null_safe: tuple[bool, ...] = ()
    condition: Program | None = None
    times_to_live: tuple[int | None, int | None] = (None, None)

    def __post_init__(self) -> None:
        assert len(self.left_keys) == len(self.right_keys) == len(self.null_safe)

    @property
    def sides(self) -> tuple[RowType, RowType]:
        """Return the types of the rows of both inputs."""
        return self.left, self.right

    @property
    def keys(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the keys of both inputs."""
        return self.left_keys, self.right_keys

    @property
    def pairs(self) -> bool:
        """Return whether the result has rows of both sides."""
        return self.kind not in ("SEMI", "ANTI")

    def counts(self, side: Side) -> bool:
        """Return whether it matters how many partners a row of a side has."""
        return KEEPING[self.kind][side] or (self.kind == "SEMI" and side == 0)


@dataclass(frozen=True)
class IntervalJoin:
    """Rows of two inputs that belong together as `join` says, and whose times are near each other.

    The time of the left row less that of the right one is from `lower` to `upper`, both included (milliseconds); if
    `upper` is the smaller one, no rows belong together. `times` are the places of the time attributes of both inputs,
    which are never NULL; without them, processing time counts. All rows are inserts.
    """

    join: Join
    lower: int
    upper: int
    times: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        assert self.join.pairs

    @property
    def reaches(self) -> tuple[int, int]:
        """Return for each side how much later than a row of it a partner can be, at most."""
        return -self.lower, self.upper


@dataclass(frozen=True)
class WindowJoin:
    """Rows of two inputs that belong together as `join` says, and that have one window.

    `starts` and `ends` are the places of the columns that say when the windows of each input start and end (local time
    of `zone`). Rows come out once, when the watermark has passed the end of their window; later ones are dropped and
    counted ("numLateRecordsDropped"). All rows are inserts.
    """

    join: Join
    starts: tuple[int, int]
    ends: tuple[int, int]
    zone: str = "UTC"

"""Searching a table for the vectors that are most similar to given ones, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from firesteel.functions.columns.joins import Join
from firesteel.functions.columns.lookups import FullCache, LookupTable
from firesteel.functions.columns.program import Program

Metric = Literal["cosine", "dot", "euclidean"]
"""How similar two vectors are.

`cosine` is the cosine of the angle between them (0 for a vector of zeros), `dot` their dot product, and `euclidean`
1 / (1 + d²) for their distance d: more is always nearer.
"""

METRICS: Final[tuple[Metric, ...]] = ("cosine", "dot", "euclidean")
SCORE: Final = "score"
"""The column that says how similar a row is."""


@dataclass(frozen=True)
class VectorSearch:
    """Left rows, each with the `most` rows of a table whose vectors are most similar to its own, the nearest first.

    `join`, INNER or LEFT, without keys and condition, has the rows of both sides; the last right column is the score.
    `query` is the place of the vector in left rows, `searched` that in right ones. `program` makes the other right
    columns, of the rows that are searched, of the table's columns (None: they are the same).
    """

    join: Join
    table: LookupTable
    query: int
    searched: int
    most: int
    metric: Metric = "cosine"
    program: Program | None = None

    def __post_init__(self) -> None:
        assert isinstance(self.table.cache, FullCache)
        assert self.join.kind in ("INNER", "LEFT")
        assert self.most > 0

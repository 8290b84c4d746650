"""The part of an accumulator for variances and standard deviations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.runtime.columns.aggregates.parts import Columns, Floats, Given, Part, zeros
from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.state.arrangements.columns import Numbers


class Moments(NamedTuple):
    """For each group, the number of values, their mean, and the sum of the squares of their distances from it."""

    number: Numbers
    mean: Floats
    squares: Floats

    def plus(self, other: Moments) -> Moments:
        """Return the moments of both together (Chan, Golub, LeVeque: Updating formulae, 1979)."""
        count = self.number + other.number
        share = other.number / np.maximum(count, 1)
        with np.errstate(all="ignore"):
            distance = other.mean - self.mean
            squares = self.squares + other.squares + self.number * share * distance * distance
        return Moments(count, self.mean + share * distance, squares)

    def minus(self, other: Moments) -> Moments:
        """Return the moments without those of values that are among them; exactly 0 if none is left."""
        if not other.number.any():
            return self
        count = self.number - other.number
        left = np.maximum(count, 1)
        mean = self.mean + (self.mean - other.mean) * (other.number / left)
        distance = mean - other.mean
        share = other.number / np.maximum(self.number, 1)
        with np.errstate(all="ignore"):
            squares = self.squares - other.squares - count * share * distance * distance
        some = count > 0
        return Moments(count, np.where(some, mean, 0.0), np.where(some, np.maximum(squares, 0.0), 0.0))


@dataclass(frozen=True)
class Variance(Part):
    """Moments of the values that were added, and with `retracts`, of those that were retracted meanwhile."""

    retracts: bool

    @property
    def label(self) -> str:
        """Return what it is."""
        return "moments"

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        """Return the types of one or two moments."""
        return (pa.int64(), pa.float64(), pa.float64()) * (2 if self.retracts else 1)

    def neutral(self, count: int) -> list[pa.Array]:
        """Return the moments of nothing."""
        return zeros(self.types, count)

    def lift(self, given: Given) -> list[pa.Array]:
        """Return moments of single values."""
        assert self.argument is not None
        column = pc.cast(given.rows.column(self.argument), pa.float64(), safe=False)
        weights = given.weights(self.condition, (self.argument,))
        values = np.asarray(pc.fill_null(column, 0.0))
        signs = (1, -1) if self.retracts else (1,)
        columns = []
        for sign in signs:
            counted = weights == sign
            nothing = np.zeros(len(values))
            columns += [counted.astype(np.int64), np.where(counted, values, 0.0), nothing]
        return list(map(pa.array, columns))

    def combine(self, columns: Columns, groups: Segments) -> list[pa.Array]:
        """Return the moments of each group."""
        return [column for given in _moments(columns) for column in _columns(_combined(given, groups))]

    def merge(self, earlier: Columns, later: Columns) -> list[pa.Array]:
        """Return the moments of both, without those of retracted values."""
        pairs = zip(_moments(earlier), _moments(later), strict=True)
        total = [one.plus(two) for one, two in pairs]
        if not self.retracts:
            return _columns(total[0])
        nothing = np.zeros(len(total[0].number))
        none = Moments(nothing.astype(np.int64), nothing, nothing)
        return [*_columns(total[0].minus(total[1])), *_columns(none)]


def net(columns: Columns) -> Moments:
    """Return the moments of the values that are left."""
    added, *retracted = _moments(columns)
    return added.minus(retracted[0]) if retracted else added


def _moments(columns: Columns) -> list[Moments]:
    arrays = [column.to_numpy() for column in columns]
    return [Moments(*arrays[place : place + 3]) for place in range(0, len(arrays), 3)]


def _columns(moments: Moments) -> list[pa.Array]:
    return list(map(pa.array, moments))


def _combined(given: Moments, groups: Segments) -> Moments:
    count, mean, squares = (values[groups.order] for values in given)
    total = np.add.reduceat(count, groups.starts)
    center = np.add.reduceat(count * mean, groups.starts) / np.maximum(total, 1)
    with np.errstate(all="ignore"):
        distance = mean - center[groups.groups]
        away = squares + count * distance * distance
    return Moments(total, center, np.add.reduceat(away, groups.starts))

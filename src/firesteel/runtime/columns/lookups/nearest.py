"""All rows of a table that are kept with their vectors, to find those that are most similar to others."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import ProgramError
from firesteel.functions.columns.lookups import LookedUp
from firesteel.functions.columns.vectors import METRICS, SCORE, Metric
from firesteel.state.arrangements.sorting import Positions

_PRODUCTS: Final = 1 << 22
"""How many similarities are computed together: 32 MiB of them."""

Matrix = npt.NDArray[np.floating]


class Vectors(NamedTuple):
    """The vectors of a column of arrays, one a row of the matrix, and the places that they have in the column."""

    places: Positions
    matrix: Matrix


def vectors_of(column: pa.Array, who: str) -> Vectors:
    """Return the vectors of a column but those that are NULL, empty, or have an element that is NULL or no number.

    Raises ProgramError if they do not all have the same number of elements.

    >>> vectors_of(pa.array([[1.0, 2.0], None, [3.0, None], [4.0, 5.0]]), "table t")
    Vectors(places=array([0, 3]), matrix=array([[1., 2.],
           [4., 5.]]))
    """
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    places = np.flatnonzero(lengths)
    if not len(places):
        return Vectors(places, np.zeros((0, 0)))
    size = int(lengths[places[0]])
    other = lengths[places] != size
    if other.any():
        raise ProgramError(
            "requires vectors with the same number of elements in all rows",
            who=who,
            got=f"one of {size} and one of {lengths[places[other.argmax()]]}",
        )
    kind = pa.float32() if pa.types.is_float32(column.type.value_type) else pa.float64()
    elements = column.take(pa.array(places)).flatten().cast(kind).to_numpy(zero_copy_only=False)
    matrix = elements.reshape(len(places), size)
    numbers = np.isfinite(matrix).all(axis=1)
    return Vectors(places[numbers], matrix[numbers])


class NearestRows:
    """Rows of a table with vectors in the column at a place; `who` is the table in errors.

    >>> rows = pa.record_batch({"v": pa.array([[0.0, 1.0], [1.0, 0.0], [0.6, 0.8]])})
    >>> found = NearestRows(rows, 0, "cosine", "table t").find(pa.array([[0.0, 2.0]]), 2)
    >>> found.keys.tolist(), found.rows.to_pylist()
    ([0, 0], [{'v': [0.0, 1.0], 'score': 1.0}, {'v': [0.6, 0.8], 'score': 0.8}])
    """

    def __init__(self, rows: pa.RecordBatch, searched: int, metric: Metric, who: str) -> None:
        assert metric in METRICS
        self._metric = metric
        self._who = who
        known = vectors_of(rows.column(searched), who)
        self._rows = rows.take(pa.array(known.places))
        self._matrix = _normal(known.matrix) if metric == "cosine" else known.matrix
        self._squares = np.square(self._matrix).sum(axis=1)

    def find(self, queries: pa.Array, most: int) -> LookedUp:
        """Return for each vector the rows that are most similar to it, the nearest first, each with its score.

        Of rows that are equally similar, any may be among the last ones. Raises ProgramError for a vector that has not
        as many elements as those of the table.
        """
        asked = vectors_of(queries, self._who)
        count, size = self._matrix.shape
        if count and len(asked.places) and asked.matrix.shape[1] != size:
            raise ProgramError(
                f"requires a vector of {size} elements, as the table has",
                who=self._who,
                got=f"one of {asked.matrix.shape[1]}",
            )
        most, step = min(most, count), max(_PRODUCTS // max(count, 1), 1)
        chosen: list[Positions] = [np.zeros((0, most), np.int64)]
        scores: list[Matrix] = [np.zeros((0, most))]
        for start in range(0, len(asked.places) if count else 0, step):
            places, values = self._nearest(asked.matrix[start : start + step], most)
            chosen.append(places)
            scores.append(values)
        places = np.concatenate(chosen)
        keys = np.repeat(asked.places[: len(places)], most)
        rows = self._rows.take(pa.array(places.ravel()))
        return LookedUp(keys, rows.append_column(SCORE, pa.array(np.concatenate(scores).ravel())))

    def _nearest(self, queries: Matrix, most: int) -> tuple[Positions, Matrix]:
        similar = self._similarities(queries)
        chosen = np.argpartition(-similar, most - 1, axis=1)[:, :most]
        scores = np.take_along_axis(similar, chosen, axis=1).astype(np.float64)
        order = np.lexsort((chosen, -scores), axis=1)
        return np.take_along_axis(chosen, order, axis=1), np.take_along_axis(scores, order, axis=1)

    def _similarities(self, queries: Matrix) -> Matrix:
        if self._metric == "cosine":
            return np.asarray(_normal(queries) @ self._matrix.T)
        products = queries @ self._matrix.T
        if self._metric == "dot":
            return np.asarray(products)
        squares = np.square(queries).sum(axis=1)[:, None] + self._squares - 2 * products
        return np.asarray(1 / (1 + np.maximum(squares, 0)))


def _normal(matrix: Matrix) -> Matrix:
    """Return vectors of length 1 in the same directions; zeros stay zeros."""
    lengths = np.sqrt(np.square(matrix).sum(axis=1, keepdims=True))
    return np.asarray(matrix / np.where(lengths == 0, 1, lengths))

"""Models of your own, which `ML_PREDICT` asks in SQL.

Contract, for one model and one subtask in a worker process: it is made with the options of its `CREATE MODEL`, then
`open` once, then `predict` any number of times, over many epochs, then `close` once. Load what is large in `open`.

Source: Flink's PredictFunction and AsyncPredictFunction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from firesteel.functions.user_defined import FunctionContext

__all__ = ["AsyncPredictFunction", "PredictFunction"]


class _Model(ABC):  # noqa: B024 - how it is asked is its kind's business
    """A model with the options of its `CREATE MODEL`, without 'provider' and 'function'."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = options

    def open(self, function_context: FunctionContext) -> None:
        """Load the model."""

    def close(self) -> None:
        """Release what `open` acquired."""


class PredictFunction(_Model):
    """A model that is asked for many rows at once.

    >>> class Twice(PredictFunction):
    ...     def predict(self, features):
    ...         return {"twice": [2 * n for n in features.column("n").to_pylist()]}
    >>> Twice({}).predict(pa.RecordBatch.from_pydict({"n": [1, 2]}))
    {'twice': [2, 4]}
    """

    @abstractmethod
    def predict(self, features: pa.RecordBatch) -> Any:
        """Return what the model says of some rows, whose columns have the names of INPUT.

        The result has the columns of OUTPUT by name, with a value for each row: a RecordBatch or a Table of Arrow, a
        DataFrame of pandas, or a mapping to lists or arrays. Of one column, it may be the values alone.
        """


class AsyncPredictFunction(_Model):
    """A model that is asked row by row, of many rows at the same time: one behind a network."""

    @abstractmethod
    async def predict(self, *features: Any) -> Sequence[Any]:
        """Return the values of OUTPUT for a row with the values of INPUT, in their order."""

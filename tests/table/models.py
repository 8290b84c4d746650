"""Models for the tests of ML_PREDICT."""

from __future__ import annotations

import asyncio
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.functions.models import AsyncPredictFunction, PredictFunction
from firesteel.functions.user_defined import FunctionContext


class Sums(PredictFunction):
    """Adds two numbers, and what the option 'plus' says; says how many rows it was asked about at once."""

    def open(self, function_context: FunctionContext) -> None:
        self.plus = int(self.options.get("plus", "0"))

    def predict(self, features: pa.RecordBatch) -> Any:
        total = pc.add(pc.add(features.column("x"), features.column("y")), self.plus)
        return {"total": total, "asked": pa.array([features.num_rows] * features.num_rows)}


class Picky(PredictFunction):
    """Fails for a number."""

    def predict(self, features: pa.RecordBatch) -> Any:
        values = features.column(0).to_pylist()
        if 7 in values:
            raise ValueError("I do not like 7")
        return values


class Short(PredictFunction):
    """Says nothing of the last row."""

    def predict(self, features: pa.RecordBatch) -> Any:
        return features.column(0).to_pylist()[:-1]


class Lost(PredictFunction):
    """Cannot be loaded."""

    def open(self, function_context: FunctionContext) -> None:
        raise FileNotFoundError("no weights")

    def predict(self, features: pa.RecordBatch) -> Any:
        raise AssertionError


class Remote(AsyncPredictFunction):
    """Answers when as many rows as the option 'together' says have been asked about."""

    def open(self, function_context: FunctionContext) -> None:
        self.waiting = 0
        self.enough = asyncio.Event()

    async def predict(self, *features: Any) -> tuple[Any, ...]:
        self.waiting += 1
        if self.waiting >= int(self.options["together"]):
            self.enough.set()
        await self.enough.wait()
        return (f"said {features[0]}",)


NOT_A_MODEL = 3

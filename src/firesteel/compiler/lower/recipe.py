"""The recipe of an operation, which creates in a worker the operator that runs it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch
from typing import Any

from firesteel.graph import Node
from firesteel.graph.operations import Operation
from firesteel.runtime.operator import Operator
from firesteel.runtime.rows.batch_mode import BatchOperator, FirstPortOperator

Recipe = Callable[[], Operator[Any]]


@singledispatch
def recipe(operation: Operation, node: Node, batch: bool) -> Recipe:
    """Return a picklable recipe for the operator of `operation`; `batch` is whether the job runs in BATCH mode."""
    raise AssertionError(f"no operator for {type(operation).__name__}")


def in_batch_mode(inner: Recipe) -> Recipe:
    """Return the recipe for a keyed operator that receives the records of one key after another."""
    return partial(_batch, inner)


def first_in_batch_mode(inner: Recipe, port: int) -> Recipe:
    """Return the recipe for an operator without keys that receives all records of one port before all others."""
    return partial(_first, inner, port)


def _batch(inner: Recipe) -> Operator[Any]:
    return BatchOperator(inner())


def _first(inner: Recipe, port: int) -> Operator[Any]:
    return FirstPortOperator(inner(), port)

"""An operator's support for functions that are CheckpointedFunctions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from firesteel.functions.adapt import checkpointed
from firesteel.functions.base import Function, KeyedStateStore
from firesteel.functions.checkpointed import (
    CheckpointedFunction,
    FunctionInitializationContext,
    FunctionSnapshotContext,
)
from firesteel.runtime.operator import Operator, OperatorContext
from firesteel.state.api import OperatorStateStore
from firesteel.state.live.operator_lists import OperatorLists, OperatorListStore


class FunctionLists:
    """The lists of an operator's functions, for the life of one instance of it."""

    def __init__(self, functions: list[CheckpointedFunction], store: OperatorListStore) -> None:
        self._functions = functions
        self._store = store

    def snapshot(self, operator: Operator[Any]) -> OperatorLists:
        """Return the operator's lists to commit with the epoch that ends."""
        context = _Snapshot(operator)
        for function in self._functions:
            function.snapshot_state(context)
        return self._store.snapshot()


def initialize_lists(
    functions: Iterable[Function], context: OperatorContext, keyed: KeyedStateStore
) -> FunctionLists | None:
    """Initialise the state of the functions that are CheckpointedFunctions; return None if none is."""
    taking_part = [found for function in functions if (found := checkpointed(function)) is not None]
    if not taking_part and context.restored_lists is None:
        return None
    store = OperatorListStore(context.restored_lists)
    initialization = _Initialization(context.restored_epoch, store, keyed)
    for function in taking_part:
        function.initialize_state(initialization)
    return FunctionLists(taking_part, store)


class _Initialization(FunctionInitializationContext):
    def __init__(self, epoch: int | None, store: OperatorStateStore, keyed: KeyedStateStore) -> None:
        self._epoch = epoch
        self._store = store
        self._keyed = keyed

    def is_restored(self) -> bool:
        return self._epoch is not None

    def get_restored_checkpoint_id(self) -> int | None:
        return self._epoch

    def get_operator_state_store(self) -> OperatorStateStore:
        return self._store

    def get_keyed_state_store(self) -> KeyedStateStore:
        return self._keyed


class _Snapshot(FunctionSnapshotContext):
    def __init__(self, operator: Operator[Any]) -> None:
        self._operator = operator

    def get_checkpoint_id(self) -> int:
        return self._operator.epoch

    def get_checkpoint_timestamp(self) -> int:
        return self._operator.processing_time

"""A function that relies on all subtasks having got a union list at the same instant, as Flink's sources did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from firesteel.datastream.functions import CheckpointedFunction, MapFunction
from firesteel.datastream.state import ListStateDescriptor

TOKENS = 7


class Tokens(MapFunction, CheckpointedFunction):
    """All subtasks together own some tokens: each restores those whose place in the union list is its own by turns.

    Emits the epoch it was restored from and its tokens.
    """

    def initialize_state(self, context: Any) -> None:
        self.saved = context.get_operator_state_store().get_union_list_state(ListStateDescriptor("tokens"))
        self.epoch = context.get_restored_checkpoint_id()
        self.tokens = self.saved.get() if context.is_restored() else list(range(TOKENS))

    def open(self, runtime_context: Any) -> None:
        subtask = runtime_context.get_index_of_this_subtask()
        self.tokens = self.tokens[subtask :: runtime_context.get_number_of_parallel_subtasks()]

    def snapshot_state(self, context: Any) -> None:
        self.saved.update(self.tokens)

    def map(self, value: Any) -> tuple[int | None, tuple[int, ...]]:
        return self.epoch, tuple(self.tokens)


def assert_shared_out(results: Iterable[tuple[int | None, tuple[int, ...]]], parallelism: int) -> None:
    """In no epoch two subtasks own one token; and none is lost, in epochs in which all subtasks have told theirs."""
    by_epoch = defaultdict(set)
    for epoch, tokens in results:
        by_epoch[epoch].add(tokens)
    assert by_epoch
    for shares in by_epoch.values():
        owned = [token for share in shares for token in share]
        assert len(owned) == len(set(owned))
        if len(shares) == parallelism:
            assert sorted(owned) == list(range(TOKENS))

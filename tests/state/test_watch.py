"""The watch over memory: when it measures, what it drops, and when it spills."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from firesteel.state.live.memory import Memory
from firesteel.state.live.watch import MemoryWatch
from firesteel.state.live.weights import Weight
from firesteel.state.values.chunks import Entry

LIMIT = 1000


class Part:
    """A state with `clean` and `dirty` entries of one byte each; measuring it looks at `scanned` objects."""

    state_id = 1

    def __init__(self) -> None:
        self.clean = self.dirty = self.scanned = self.measured = 0

    def begin(self, keep: bool, /) -> None:
        self.clean += self.dirty
        self.dirty = 0

    def changes(self) -> Iterator[Entry]:
        return iter(())

    def clean_entries(self) -> int:
        return self.clean

    def relax(self) -> None:
        self.clean //= 2

    def weigh(self) -> Weight:
        self.measured += 1
        return Weight(self.clean, self.dirty, self.scanned)


class Watched:
    """A watch over one part, with a count of spills."""

    def __init__(self, *, cache_limit: int = 10**9, memory_limit: int | None = LIMIT) -> None:
        self.part = Part()
        self.spills = 0
        self.memory = Memory(LIMIT)
        self.watch = MemoryWatch(
            [self.part], self.spill, self.memory, cache_limit=cache_limit, memory_limit=memory_limit
        )
        self.watch.begin()

    def spill(self) -> None:
        self.spills += 1
        self.part.begin(True)

    def most_held(self, blocks: int, *, clean: int = 0, dirty: int = 0) -> int:
        """Add entries with each block; return the most that were ever held."""
        most = 0
        for _ in range(blocks):
            self.part.clean += clean
            self.part.dirty += dirty
            most = max(most, self.part.clean + self.part.dirty)
            self.watch.relax()
        return most


@pytest.mark.parametrize("grown", [1, 10, 100, 400])
def test_memory_exceeds_its_limit_by_a_block_at_most_if_it_grows_evenly(grown: int) -> None:
    for added in ({"clean": grown}, {"dirty": grown}):
        watched = Watched()
        assert LIMIT < watched.most_held(5000, **added) <= LIMIT + grown


@pytest.mark.parametrize("empty", [0, 1, 2])
def test_blocks_without_state_at_the_start_hide_no_growth(empty: int) -> None:
    watched = Watched()
    watched.most_held(empty)
    assert watched.most_held(5000, dirty=400) <= LIMIT + 2 * 400
    assert watched.spills > 1


def test_what_can_be_read_again_is_dropped_before_changes_are_spilled() -> None:
    watched = Watched()
    watched.most_held(200, clean=50)
    assert watched.spills == 0
    assert watched.most_held(200, dirty=50) <= LIMIT + 50
    assert watched.spills > 1


def test_after_a_spill_memory_is_half_empty() -> None:
    watched = Watched()
    watched.part.dirty = 10 * LIMIT
    watched.watch.relax()
    assert (watched.spills, watched.part.dirty) == (1, 0)
    assert LIMIT // 4 < watched.part.clean <= LIMIT // 2


def test_the_number_of_entries_is_bounded_too() -> None:
    watched = Watched(cache_limit=100)
    assert watched.most_held(1000, clean=5) <= 105
    assert watched.spills == 0


def test_a_state_that_does_not_grow_is_measured_every_sixteen_blocks() -> None:
    watched = Watched()
    watched.most_held(1 + 2 + 4 + 8 + 16)
    measured = watched.part.measured
    watched.most_held(1600)
    assert watched.part.measured - measured == 100


def test_what_is_dear_to_measure_is_measured_less_often() -> None:
    watched = Watched()
    watched.part.scanned = 4096 * 100
    watched.most_held(1000)
    assert watched.part.measured == 10


def test_an_epoch_begins_with_a_measurement() -> None:
    watched = Watched()
    watched.most_held(20)
    measured = watched.part.measured
    watched.watch.begin()
    watched.watch.relax()
    assert watched.part.measured == measured + 1


def test_without_a_limit_of_its_own_it_leaves_others_their_share() -> None:
    watched = Watched(memory_limit=None)
    other = type("Other", (), {})()
    watched.memory.join(other)
    watched.memory.note(other, LIMIT // 2)
    assert watched.most_held(500, dirty=10) <= LIMIT // 2 + 10
    assert watched.memory.share(other) >= LIMIT // 2

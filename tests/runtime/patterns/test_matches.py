"""Partial matches are stored entry by entry, and cost what is new in them."""

from __future__ import annotations

import gc
import time
from typing import Any

import pytest

from firesteel.cep import Pattern
from firesteel.runtime.patterns.compiling import compiled
from firesteel.runtime.patterns.live import YOUNG
from firesteel.runtime.patterns.matcher import Matcher
from firesteel.runtime.patterns.matches import KeyMatches
from firesteel.runtime.patterns.shelves import Tables
from tests.runtime.patterns.calls import DictTable, tables


class CountingTable(DictTable):
    """Counts what is read and written."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = self.writes = 0

    def get(self, key: int, default: Any = None) -> Any:
        self.reads += 1
        return super().get(key, default)

    def put(self, key: int, value: Any) -> None:
        self.writes += 1
        super().put(key, value)

    def remove(self, key: int) -> None:
        self.writes += 1
        super().remove(key)


def long_match() -> Matcher:
    """One start, then any number of events: a single partial match, which grows."""
    pattern = Pattern.begin("start").where(lambda event: event == "s")
    pattern = (
        pattern.followed_by("middle").where(lambda event: event == "m").one_or_more().consecutive().greedy()
    )
    return Matcher(
        compiled(pattern.followed_by("end").where(lambda event: event == "e").definition()), "p (j.py:1)"
    )


@pytest.mark.parametrize("young", [0, 8])
def test_an_event_costs_the_same_however_long_the_match_is(young):
    matcher = long_match()
    stored = Tables(CountingTable(), CountingTable(), CountingTable(), CountingTable())
    matches, touched = KeyMatches(stored, None, YOUNG._replace(most=young)), []
    for place, event in enumerate("s" + "m" * 80):
        before = sum(table.reads + table.writes for table in stored)
        matcher.advance(matches, event, place, 0)
        matches = KeyMatches(stored, matches.settle(), YOUNG._replace(most=young))
        touched.append(sum(table.reads + table.writes for table in stored) - before)
    together = [sum(touched[place : place + young + 1]) for place in range(18, 81 - young, young + 1)]
    assert max(together) == min(together)
    (match,) = matcher.advance(matches, "e", 90, 0)
    assert match == {"start": ["s"], "middle": ["m"] * 80, "end": ["e"]}
    assert matches.settle() is None
    assert not any(stored)


def test_long_matches_end_without_deep_recursion():
    matcher, matches = long_match(), KeyMatches(tables())
    for place, event in enumerate("s" + "m" * 100_000 + "e"):
        found = matcher.advance(matches, event, place, 0)
    (match,) = found
    assert len(match["middle"]) == 100_000
    assert matches.runs == []


@pytest.mark.long
def test_time_grows_no_faster_than_the_match():
    def seconds(length: int) -> float:
        matcher, matches = long_match(), KeyMatches(tables())
        began = time.process_time()
        for place, event in enumerate("s" + "m" * length):
            matcher.advance(matches, event, place, 0)
        return time.process_time() - began

    gc.disable()  # what it costs depends on all that the process has in memory
    try:
        taken = [(seconds(12_500), seconds(100_000)) for _ in range(3)]
    finally:
        gc.enable()
    short, long = map(min, zip(*taken, strict=True))
    # Eight times the events. If each cost as much as the match is long, it would be sixty-four times the time.
    assert long < 20 * short


def test_few_links_need_no_tables():
    pattern = Pattern.begin("a").where(lambda event: event[0] == "a").followed_by("b").one_or_more()
    matcher, stored = Matcher(compiled(pattern.definition()), "p (j.py:1)"), tables()
    matches = KeyMatches(stored, young=YOUNG)
    for place in range(4):
        matcher.advance(matches, ("ax"[place > 0], place), place, 0)
        matches = KeyMatches(stored, matches.settle(), YOUNG)
    assert not any(stored)
    assert matches.runs


def test_events_are_stored_once_for_all_matches():
    pattern = Pattern.begin("a").followed_by_any("b").one_or_more()
    matcher, stored = Matcher(compiled(pattern.definition()), "p (j.py:1)"), tables()
    matches = KeyMatches(stored)
    for place in range(5):
        matcher.advance(matches, place, place, 0)
        matches = KeyMatches(stored, matches.settle())
    assert sorted(stored.events) == [0, 1, 2, 3, 4]
    assert len(stored.links) > 5


def test_events_that_change_nothing_touch_nothing():
    pattern = (
        Pattern.begin("a")
        .where(lambda event: event == "a")
        .followed_by("b")
        .where(lambda event: event == "b")
    )
    matcher = Matcher(compiled(pattern.definition()), "p (j.py:1)")
    matches = KeyMatches(tables())
    matcher.advance(matches, "a", 1, 0)
    runs = matches.runs
    assert matcher.advance(matches, "x", 2, 0) == ()
    assert matches.runs is runs

"""The automaton finds what the definition of a pattern says, tried out on all events.

A pattern stands for words: its steps, each as often as it may occur. A match is a word whose steps take events one
after the other, such that the events in between are those that the contiguity of the later step allows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runtime.patterns.calls import found_by

Word = list[tuple[str, str, str, tuple[str, str] | None]]
"""Steps: name, letters that fit, contiguity, and the call and the letters of an absent step before it."""

CONTIGUITY = {"next": "consecutive", "followed_by": "", "followed_by_any": "allow_combinations"}


@dataclass(frozen=True)
class Step:
    name: str
    letters: str
    contiguity: str
    repeats: tuple[int, int | None] | None
    inner: str
    optional: bool
    absent: tuple[str, str] | None

    def calls(self, first: bool) -> Iterator[list[Any]]:
        if self.absent is not None:
            yield [self.absent[0], f"not {self.name}"]
            yield ["where", self.absent[1]]
        yield ["begin" if first else self.contiguity, self.name]
        yield ["where", self.letters]
        if self.repeats is not None:
            least, most = self.repeats
            yield ["times_or_more", least] if most is None else ["times", least, most]
            if CONTIGUITY[self.inner]:
                yield [CONTIGUITY[self.inner]]
        if self.optional:
            yield ["optional"]


def words(steps: list[Step], room: int) -> Iterator[Word]:
    """Yield the words of at most `room` steps."""
    if not steps:
        yield []
        return
    step = steps[0]
    least, most = step.repeats or (1, 1)
    counts = [*range(least, min(room if most is None else most, room) + 1), *([0] if step.optional else [])]
    for count in counts:
        again = (step.name, step.letters, step.inner, None)
        head = [(step.name, step.letters, step.contiguity, step.absent), *[again] * (count - 1)]
        for rest in words(steps[1:], room - count):
            yield head[:count] + rest


def matches(word: Word, letters: str, start: int | None = None) -> Iterator[list[int]]:
    """Yield the events that the word can take; `start` is the event before it."""
    if not word:
        yield []
        return
    (_, fitting, contiguity, absent), *rest = word
    first = 0 if start is None else start + 1
    for place in range(first, len(letters)):
        too_late = absent is not None and absent[0] == "not_next" and place > first
        if start is not None and absent is not None and letters[place] in absent[1] and not too_late:
            return
        if letters[place] in fitting:
            for others in matches(rest, letters, place):
                yield [place, *others]
            if start is not None and contiguity != "followed_by_any":
                return
        if start is not None and contiguity == "next":
            return


def by_step(word: Word, events: list[int]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    taken: dict[str, tuple[int, ...]] = {}
    for (name, *_), event in zip(word, events, strict=True):
        taken[name] = (*taken.get(name, ()), event)
    return tuple(taken.items())


@st.composite
def patterns(draw: st.DrawFn) -> list[Step]:
    steps: list[Step] = []
    for name in "pqr"[: draw(st.integers(1, 3))]:
        before = steps[-1] if steps else None
        plain = before is not None and before.repeats is None and not before.optional
        repeats = draw(st.sampled_from([None, None, (1, None), (2, None), (1, 2), (2, 2)]))
        absent = draw(st.sampled_from([None, None, "not_next", "not_followed_by"])) if plain else None
        steps.append(
            Step(
                name,
                draw(st.sampled_from(["a", "b", "ab", "c", "abc"])),
                draw(st.sampled_from([*CONTIGUITY])),
                repeats,
                draw(st.sampled_from([*CONTIGUITY])),
                absent is None and draw(st.booleans()),
                None if absent is None else (absent, "d"),
            )
        )
    return steps


@given(patterns(), st.text("aabbcd", min_size=1, max_size=7))
@settings(max_examples=400, deadline=None)
def test_all_events_tried_out(steps: list[Step], letters: str) -> None:
    calls = [call for place, step in enumerate(steps) for call in step.calls(first=not place)]
    expected = Counter(
        by_step(word, events)
        for word in words(steps, len(letters))
        if word
        for events in matches(word, letters)
    )
    found = found_by(calls, [[letter, 0, place] for place, letter in enumerate(letters)], settling=True)
    assert (
        Counter(tuple((name, tuple(events)) for name, events in taken) for _, _, taken in found) == expected
    )

"""Cases for `ask_patterns.py`: patterns as calls of the API, each with a few runs of events. Chance has fixed seeds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

Call = list[Any]
Case = dict[str, Any]

CONTIGUITIES = ("next", "followed_by", "followed_by_any")
REPETITIONS: tuple[Call, ...] = (["one_or_more"], ["times", 2], ["times", 1, 3], ["times_or_more", 2])
QUANTIFIERS: tuple[list[Call], ...] = (
    [],
    [["optional"]],
    *(
        [list(repetition), *inner, *optional]
        for repetition in REPETITIONS
        for inner in (
            [],
            [["consecutive"]],
            [["allow_combinations"]],
            [["greedy"]],
            [["consecutive"], ["greedy"]],
        )
        for optional in ([], [["optional"]])
    ),
)
SKIPS: tuple[Call, ...] = (
    ["skip_to_next"],
    ["skip_past_last_event"],
    ["skip_to_first", "b"],
    ["skip_to_last", "b"],
    ["skip_to_first", "b", True],
    ["skip_to_last", "a"],
)


def cases() -> Iterator[Case]:
    """Yield all cases: pairs of steps with all quantifiers, then patterns by chance, by subject."""
    chance = random.Random(13)
    for first, contiguity, second in product(QUANTIFIERS, CONTIGUITIES, QUANTIFIERS):
        yield _case("pairs", [*_first(chance), *first, [contiguity, "b"], ["where", "b"], *second], chance, 1)
    for contiguity, middle, end in product(CONTIGUITIES, QUANTIFIERS, CONTIGUITIES):
        calls = [["begin", "a"], ["where", "a"], [contiguity, "b"], ["where", "b"], *middle]
        yield _case("triples", [*calls, [end, "c"], ["where", "c"], *_quantifier(chance, 0.3)], chance, 2)
    subjects = {
        "steps": _steps,
        "overlapping": _overlapping,
        "until": _until,
        "groups": _groups,
        "not": _absences,
        "skips": _skips,
        "times": _times,
        "iterative": _iterative,
        "refused": _refused,
    }
    for subject, pattern in subjects.items():
        for _ in range(350):
            yield _case(subject, pattern(chance), chance, 2)


def streams() -> Iterator[Case]:
    """Yield cases of patterns in streams of several keys, out of order, with watermarks."""
    for seed in range(4):
        chance = random.Random(seed)
        makers = (_steps, _overlapping, _absences, _skips, _iterative)
        patterns = [_bounded(chance.choice(makers)(chance), chance) for _ in range(60)]
        now, watermark, events = 10, 0, []
        for _ in range(100):
            now += chance.choice((0, 1, 1, 2))
            watermark = max(watermark, now - chance.randint(0, 12))
            time = max(now - chance.randint(0, 8), 1)
            events.append(
                [chance.choice("xyz"), chance.choice("aabbcd"), chance.randint(0, 9), time, watermark]
            )
        yield {"patterns": patterns, "events": events}


def _bounded(calls: list[Call], chance: random.Random) -> list[Call]:
    """Return a pattern with a time, so that it does not find too much; between two events Flink sets no timer."""
    calls = [call for call in calls if call[0] not in ("within", "within_previous")]
    calls = [call[:1] if call[0] == "one_or_more" else call[:3] for call in calls]
    begin = [*calls[0][:2], *(skip[:2] for skip in calls[0][2:])]
    return [begin, *calls[1:], ["within", chance.randint(5, 12)]]


def _case(subject: str, calls: list[Call], chance: random.Random, runs: int) -> Case:
    return {"subject": subject, "calls": calls, "runs": [_events(chance) for _ in range(runs)]}


def _events(chance: random.Random) -> list[Call]:
    """Return events of increasing times, some of them equal."""
    time, events = 10, []
    letters = chance.choice(("abc", "aab", "aabbc", "abcd", "aabc"))
    for _ in range(chance.randint(4, 8)):
        time += chance.choice((0, 1, 1, 2, 3))
        events.append([chance.choice(letters), chance.randint(0, 9), time])
    return events


def _quantifier(chance: random.Random, likely: float) -> list[Call]:
    return chance.choice(QUANTIFIERS) if chance.random() < likely else []


def _first(chance: random.Random) -> list[Call]:
    return [["begin", "a"], ["where", chance.choice(("a", "a", "ab"))]]


def _steps(chance: random.Random) -> list[Call]:
    calls = [["begin", "a"], ["where", "a"], *_quantifier(chance, 0.5)]
    for name in "bc"[: chance.randint(1, 2)]:
        calls += [[chance.choice(CONTIGUITIES), name], ["where", name], *_quantifier(chance, 0.6)]
    return calls


def _overlapping(chance: random.Random) -> list[Call]:
    """Steps that fit the same events."""
    calls: list[Call] = [["begin", "a"], ["where", chance.choice(("a", "ab"))], *_quantifier(chance, 0.5)]
    for name in "bc"[: chance.randint(1, 2)]:
        calls += [[chance.choice(CONTIGUITIES), name], ["where", chance.choice(("ab", "b", "abc", "a"))]]
        if chance.random() < 0.2:
            calls[-1:] = []
        calls += _quantifier(chance, 0.6)
    return calls


def _until(chance: random.Random) -> list[Call]:
    calls = [["begin", "a"], ["where", "a"], *_quantifier(chance, 0.2)]
    name = "b"
    if chance.random() < 0.3:
        calls = []
        name = "a"
    loop: list[Call] = [
        chance.choice((["one_or_more"], ["times_or_more", 2])),
        ["until", chance.choice("ccdab")],
    ]
    loop += chance.choice(([], [["consecutive"]], [["allow_combinations"]], [["greedy"]]))
    loop += chance.choice(([], [["optional"]]))
    step: list[Call] = [["where", chance.choice((name, "ab"))], *loop]
    calls += [["begin", "a"], *step] if not calls else [[chance.choice(CONTIGUITIES), "b"], *step]
    if chance.random() < 0.7:
        calls += [[chance.choice(CONTIGUITIES), "c"], ["where", chance.choice(("c", "bc"))]]
    return calls


def _groups(chance: random.Random) -> list[Call]:
    def group() -> list[Call]:
        calls: list[Call] = [["begin", "b"], ["where", "b"], *_quantifier(chance, 0.2)]
        if chance.random() < 0.8:
            contiguity = chance.choice((*CONTIGUITIES, "followed_by", "next"))
            calls += [[contiguity, "c"], ["where", chance.choice(("c", "ac"))], *_quantifier(chance, 0.2)]
        return calls

    quantifiers: list[list[Call]] = [
        [],
        [["optional"]],
        [["one_or_more"]],
        [["one_or_more"], ["optional"]],
        [["times", 2]],
        [["times", 1, 2]],
        [["times", 2], ["consecutive"]],
        [["one_or_more"], ["consecutive"]],
        [["one_or_more"], ["allow_combinations"]],
        [["one_or_more"], ["until", "d"]],
        [["times", 2], ["optional"]],
    ]
    quantifier = chance.choice(quantifiers)
    if chance.random() < 0.4:
        calls: list[Call] = [["begin", group()], *quantifier]
        if chance.random() < 0.7:
            calls += [[chance.choice(CONTIGUITIES), "a"], ["where", "a"], *_quantifier(chance, 0.2)]
        return calls
    calls = [["begin", "a"], ["where", "a"], *_quantifier(chance, 0.2)]
    calls += [[chance.choice(CONTIGUITIES), group()], *quantifier]
    if chance.random() < 0.5:
        calls += [[chance.choice(CONTIGUITIES), "e"], ["where", chance.choice("abc")]]
    return calls


def _absences(chance: random.Random) -> list[Call]:
    calls = [["begin", "a"], ["where", "a"], *_quantifier(chance, 0.2)]
    absent: list[Call] = [
        [chance.choice(("not_next", "not_followed_by")), "n"],
        ["where", chance.choice("bbcd")],
    ]
    calls += absent
    if chance.random() < 0.7:
        calls += [
            [chance.choice(CONTIGUITIES), "c"],
            ["where", chance.choice(("c", "b"))],
            *_quantifier(chance, 0.4),
        ]
        if chance.random() < 0.4:
            calls += [
                [chance.choice((*CONTIGUITIES, "not_followed_by")), "e"],
                ["where", chance.choice("abd")],
            ]
    if chance.random() < 0.6:
        calls += [["within", chance.randint(3, 9)]]
    return calls


def _skips(chance: random.Random) -> list[Call]:
    calls = chance.choice((_steps, _overlapping, _absences, _groups, _times))(chance)
    begin = calls[0]
    skip = chance.choice(SKIPS)
    return [[begin[0], begin[1], skip], *calls[1:]]


def _times(chance: random.Random) -> list[Call]:
    calls = chance.choice((_steps, _overlapping))(chance)
    call = chance.choice(("within", "within", "within_previous"))
    calls.append([call, chance.randint(2, 8)])
    if chance.random() < 0.2:
        calls.append(["within", chance.randint(4, 9)])
    if chance.random() < 0.2:
        places = [place for place, call in enumerate(calls) if call == ["one_or_more"]]
        for place in places:
            calls[place] = ["one_or_more", chance.randint(2, 4)]
    if chance.random() < 0.2:
        calls = [["begin", "a"], ["where", "a"], ["times", 2, 3, chance.randint(1, 4)], *calls[-1:]]
    return calls


def _iterative(chance: random.Random) -> list[Call]:
    calls = chance.choice((_steps, _overlapping, _times))(chance)
    return [
        ["where", f"{call[1]}>{chance.choice('aab')}"]
        if call[0] == "where" and chance.random() < 0.5
        else call
        for call in calls
    ]


def _refused(chance: random.Random) -> list[Call]:
    """Calls by chance, of which many mean nothing."""
    calls = chance.choice((_steps, _overlapping, _until, _absences, _groups))(chance)
    for _ in range(chance.randint(1, 2)):
        place = chance.randint(1, len(calls))
        added = chance.choice(
            (
                ["optional"],
                ["greedy"],
                ["consecutive"],
                ["allow_combinations"],
                ["one_or_more"],
                ["times", 2],
                ["times", 0, 2],
                ["times", 3, 2],
                ["times", 0],
                ["until", "c"],
                ["within_previous", 30],
                ["within", 20],
                ["not_followed_by", "x"],
                ["not_next", "y"],
                ["next", "a"],
                ["or_", "d"],
            )
        )
        calls = [*calls[:place], added, *calls[place:]]
    return calls

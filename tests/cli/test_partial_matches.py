"""The partial matches of a job, as of its last epoch, and of a savepoint."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest

from firesteel.cep import CEP, AfterMatchSkipStrategy, PartialMatch, Pattern, partial_matches
from firesteel.common import Duration
from firesteel.common.errors import StateError
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.runtime.patterns.compiling import compiled
from firesteel.runtime.patterns.matcher import Matcher
from firesteel.runtime.patterns.matches import KeyMatches
from firesteel.testing import ManualClock, executing
from tests.recovery import ledger
from tests.recovery.jobs import Watch, start
from tests.recovery.pattern_jobs import EVENTS, letter
from tests.runtime.patterns.calls import tables

pytestmark = pytest.mark.usefixtures("machine")

NOW = 1_000_000


@dataclass(frozen=True)
class Price:
    shop: str
    value: int


def run(tmp_path, pattern, events, act, *, per_epoch=1, parallelism=2, key=lambda event: event[0]):
    """Find a pattern in processing time, a millisecond for each epoch; `act(epoch, handle)` after each."""
    clock = ManualClock(NOW)

    def step(handle, stats):
        act(stats.epoch, handle)
        clock.advance(1)

    watch = Watch(step)
    directory = str(tmp_path / "state")
    with executing(
        state_dir=directory, parallelism=parallelism, epoch_records=per_epoch, clock=clock, listener=watch
    ):
        env = StreamExecutionEnvironment.get_execution_environment()
        stream = env.from_collection(events).uid("prices").set_parallelism(1)
        keyed = stream if key is None else stream.key_by(key)
        found = (
            _matches_of(keyed, pattern).in_processing_time().select(lambda match, *_: len(match)).uid("drops")
        )
        found.sink_to(ledger.LedgerSink(directory))
        start(env, watch).wait(60)
    ledger.forget(directory)
    return directory


def _matches_of(stream, pattern):
    return CEP.patterns(stream, pattern) if isinstance(pattern, dict) else CEP.pattern(stream, pattern)


@pytest.fixture
def look(firesteel):
    def look(*arguments):
        done = firesteel("state", "matches", *arguments)
        assert done.exit_code == 0, done.output
        return done.stdout

    return look


def rise():
    pattern = Pattern.begin("low").where(lambda event: event[1] < 10).followed_by("high")
    return (
        pattern.where(lambda event: event[1] > 90).times(2).followed_by("last").within(Duration.of_hours(1))
    )


PRICES = [("tea", 5), ("cup", 3), ("tea", 95), ("tea", 7), ("tea", 96), ("tea", 1), ("cup", 50)]
TEA = {
    1: [("high", 0, 0, {"low": [("tea", 5)]})],
    3: [("high", 0, 2, {"low": [("tea", 5)], "high": [("tea", 95)]})],
    4: [
        ("high", 0, 2, {"low": [("tea", 5)], "high": [("tea", 95)]}),
        ("high", 3, 3, {"low": [("tea", 7)]}),
    ],
    5: [
        ("last", 0, 4, {"low": [("tea", 5)], "high": [("tea", 95), ("tea", 96)]}),
        ("high", 3, 4, {"low": [("tea", 7)], "high": [("tea", 96)]}),
    ],
    7: [
        ("high", 3, 4, {"low": [("tea", 7)], "high": [("tea", 96)]}),
        ("high", 5, 5, {"low": [("tea", 1)]}),
    ],
}
"""By epoch: what the key tea waits for, since when, its last time, and its events."""


def test_a_running_job_is_asked_for_the_partial_matches_of_a_key(tmp_path):
    seen = {}

    def act(epoch, handle):
        seen[epoch] = partial_matches(tmp_path / "state", "drops", "tea")

    directory = run(tmp_path, rise(), PRICES, act)
    for epoch, expected in TEA.items():
        matches = [
            PartialMatch("tea", step, NOW + begin, NOW + last, events)
            for step, begin, last, events in expected
        ]
        assert seen[epoch] == matches
        assert partial_matches(directory, "drops", "tea", epoch=epoch) == matches
    assert partial_matches(directory, "drops", "pot") == []
    assert [match.key for match in partial_matches(directory, "drops")] in (
        ["cup", "tea", "tea"],
        ["tea", "tea", "cup"],
    )


def test_a_savepoint_is_asked(tmp_path):
    answers = []

    def act(epoch, handle):
        if epoch == 5:
            answers.append(handle.stop(str(tmp_path / "savepoints")))

    directory = run(tmp_path, rise(), PRICES, act)
    (first, second) = partial_matches(answers[0].result(), "drops", "tea")
    assert (first.waits_for, second.waits_for) == ("last", "high")
    assert [first, second] == partial_matches(directory, "drops", "tea", epoch=5)


def test_all_keys_have_what_the_automaton_has(tmp_path):
    """Against the automaton itself, in memory: shared events, several matches of a key, three subtasks."""
    pattern = Pattern.begin("a").where(letter("a")).followed_by_any("b").where(letter("b")).one_or_more()
    pattern = pattern.followed_by("c").where(letter("c"))
    automaton = compiled(pattern.definition())
    matcher, by_key, taken = Matcher(automaton, "pattern"), {}, iter(EVENTS)
    seen = []

    def act(epoch, handle):
        for _, event in zip(range(5), taken, strict=False):
            matches = by_key.setdefault(event[0], KeyMatches(tables()))
            matcher.advance(matches, event, NOW + epoch - 1, NOW)
        expected = [
            (key, automaton.states[run[0]].name, run[2], run[3], matches.match(matches.path(run[1])))
            for key, matches in by_key.items()
            for run in matches.runs
        ]
        found = [
            (match.key, match.waits_for, match.start, match.last, match.events)
            for match in partial_matches(tmp_path / "state", "drops")
        ]
        assert sorted(found, key=repr) == sorted(expected, key=repr)
        seen.append(len(found))

    run(tmp_path, pattern, EVENTS, act, per_epoch=5, parallelism=3)
    assert max(seen) > 50


def test_a_match_that_is_held_back_is_complete(tmp_path, look):
    same = lambda event, ctx: any(event[2] == each[2] for each in ctx.get_events_for_pattern("a"))  # noqa: E731
    pattern = Pattern.begin("a", AfterMatchSkipStrategy.skip_past_last_event()).where(
        lambda event: event[1] == "a"
    )
    pattern = pattern.followed_by("c").where(lambda event: event[1] == "c").where(same)
    events = [("k", "a", 1), ("k", "a", 2), ("k", "c", 2), ("k", "x", 0)]
    directory = run(tmp_path, pattern, events, lambda epoch, handle: None)
    open_, held = partial_matches(directory, "drops", "k", epoch=3)
    assert (open_.waits_for, open_.complete, open_.events) == ("c", False, {"a": [("k", "a", 1)]})
    assert (held.waits_for, held.complete) == ("", True)
    assert held.events == {"a": [("k", "a", 2)], "c": [("k", "c", 2)]}
    shown = look(directory, "drops").splitlines()
    assert [line.split()[1] for line in shown[1:]] == ["c", "earlier"]


def test_an_absence_waits_for_what_must_not_come(tmp_path):
    pattern = Pattern.begin("paid").where(lambda event: event[1] == 1).not_followed_by("refund")
    pattern = pattern.where(lambda event: event[1] == 2).within(Duration.of_minutes(5))
    directory = run(tmp_path, pattern, [(("p", 1), 1), (("p", 2), 3)], lambda epoch, handle: None)
    (match,) = partial_matches(directory, "drops", ("p", 1), epoch=2)
    assert (match.key, match.waits_for, match.start) == (("p", 1), "not refund", NOW)


def test_streams_without_keys_have_one_key(tmp_path):
    directory = run(tmp_path, Pattern.begin("a").next("b").next("c"), [1, 2, 3], lambda *_: None, key=None)
    assert [match.events for match in partial_matches(directory, "drops", epoch=2)] == [
        {"a": [1], "b": [2]},
        {"a": [2]},
    ]


def test_the_command_line_shows_them(tmp_path, look):
    directory = run(tmp_path, rise(), PRICES, lambda epoch, handle: None)
    assert look(directory, "drops", "--key", "tea", "--epoch", 5).splitlines() == [
        "key  waits_for    start     last  events",
        "tea  last       1000000  1000004  low: ('tea', 5); high: ('tea', 95), ('tea', 96)",
        "tea  high       1000003  1000004  low: ('tea', 7); high: ('tea', 96)",
    ]
    assert json.loads(look(directory, "drops", "--key", "cup", "--json", "--epoch", 2)) == [
        {
            "key": "cup",
            "waits_for": "high",
            "start": NOW + 1,
            "last": NOW + 1,
            "events": {"low": [["cup", 3]]},
            "complete": False,
        }
    ]
    assert look(directory, "drops", "--key", "pot") == "nothing at key pot\n"
    assert len(look(directory, "drops", "--limit", 1).splitlines()) == 2


def fall():
    pattern = Pattern.begin("high").where(lambda event: event[1] > 90)
    return pattern.followed_by("low").where(lambda event: event[1] < 2).within(Duration.of_hours(1))


def test_each_of_many_patterns_has_its_own(tmp_path, look):
    """A key's matches of a pattern are those that the pattern alone would have."""
    rising = run(tmp_path / "rise", rise(), PRICES, lambda epoch, handle: None)
    falling = run(tmp_path / "fall", fall(), PRICES, lambda epoch, handle: None)
    both = run(tmp_path / "both", {"up": rise(), "down": fall()}, PRICES, lambda epoch, handle: None)
    seen = set()
    for epoch in range(1, len(PRICES) + 1):
        for key in ("tea", "cup", "pot"):
            expected = [
                replace(match, pattern=id_)
                for id_, directory in (("up", rising), ("down", falling))
                for match in partial_matches(directory, "drops", key, epoch=epoch)
            ]
            assert partial_matches(both, "drops", key, epoch=epoch) == expected
            seen |= {match.pattern for match in expected}
    assert seen == {"up", "down"}
    header, *rows = look(both, "drops", "--key", "tea", "--epoch", 5).splitlines()
    assert header.split() == ["key", "waits_for", "start", "last", "events", "pattern"]
    assert [row.split()[-1] for row in rows] == ["up", "up", "down", "down"]


def test_events_of_the_programs_own_classes(tmp_path, look, monkeypatch):
    prices = [Price("tea", 3), Price("tea", 5)]
    directory = run(
        tmp_path,
        Pattern.begin("a").next("b").next("c"),
        prices,
        lambda *_: None,
        key=lambda price: price.shop,
    )
    assert partial_matches(directory, "drops", "tea", epoch=1)[0].events == {"a": [prices[0]]}
    assert "a: Price(shop='tea', value=3)" in look(directory, "drops", "--epoch", 1)
    monkeypatch.delattr(f"{__name__}.Price")
    with pytest.raises(StateError, match="requires the classes of the program's events") as raised:
        partial_matches(directory, "drops", "tea")
    assert "run it where the program's modules can be imported" in raised.value.hint
    assert "bytes that cannot be read here: " in look(directory, "drops", "--epoch", 1)


def test_operators_without_a_pattern_are_refused(tmp_path):
    directory = run(tmp_path, rise(), PRICES, lambda epoch, handle: None)
    with pytest.raises(
        StateError, match="requires an operator that looks for patterns; got one without"
    ) as raised:
        partial_matches(directory, "prices")
    assert raised.value.hint == "these have one: CepOperator"
    with pytest.raises(StateError, match="requires an operator with the uid, name or id 'cep'"):
        partial_matches(directory, "cep")
    with pytest.raises(StateError, match="requires epoch 99"):
        partial_matches(directory, "drops", epoch=99)

"""A pattern that is written as a text, however the job is run, finds what the same pattern in Python finds."""

from __future__ import annotations

from firesteel.cep import CEP, Pattern
from firesteel.common import Duration
from tests.semantics.test_patterns import WINDOW, keyed

TEXT = """
    select a.f0 as key, a.f2 as began, b.f2 as ended
    from every a = Event(f1 = 'a') -> b = Event(f1 = 'b' and f2 >= a.f2 + :least)
    within :window
"""
LEAST = 4


def in_python(env):
    pattern = Pattern.begin("a").where(lambda event: event[1] == "a").followed_by("b")
    pattern = pattern.where(
        lambda event, ctx: event[1] == "b" and event[2] >= next(ctx.get_events_for_pattern("a"))[2] + LEAST
    )
    found = CEP.pattern(keyed(env), pattern.within(Duration.of_millis(WINDOW)))
    return found.select(lambda match: (match["a"][0][0], match["a"][0][2], match["b"][0][2]))


def test_a_text_finds_the_same(run, run_in_process):
    def as_text(env):
        parameters = {"least": LEAST, "window": Duration.of_millis(WINDOW)}
        found = CEP.pattern_text(keyed(env), TEXT, parameters=parameters).rows()
        return found.map(lambda row: (row.key, row.began, row.ended))

    expected = sorted(run_in_process(in_python))
    assert len(expected) > 5
    assert sorted(run(as_text)) == expected

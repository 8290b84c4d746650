"""Many patterns on one stream, of the program or defined by a stream, however the job is run."""

from __future__ import annotations

from firesteel.cep import CEP, Pattern, PatternProcessFunction, PatternProcessor, TimedOutPartialMatchHandler
from firesteel.common import Duration
from firesteel.datastream import OutputTag, RuntimeExecutionMode
from tests.semantics.test_patterns import EVENTS, LATE, WINDOW, Pairs, a_then_b, keyed, kind, pairs

LATER = [("k0", "-", -100 + number) for number in range(12)] + EVENTS
"""The same events, after some that no pattern takes: by then all definitions have come, in short epochs, too."""

REJECTED = OutputTag("rejected")
HALF = 130
"""A time in the middle of the events (milliseconds)."""


class PairsOf(PatternProcessFunction, TimedOutPartialMatchHandler):
    """As Pairs, with the pattern."""

    def process_match(self, match, ctx):
        for found in Pairs().process_match(match, ctx):
            yield ctx.pattern_id(), ctx.pattern_version(), *found

    def process_timed_out_match(self, match, ctx):
        ctx.output(LATE, (ctx.pattern_id(), ctx.pattern_version(), match["a"][0], ctx.timestamp()))


def text(then="b"):
    return f"""
        select a.f2 as began, b.f2 as ended from every a = Event(f1 = 'a') -> b = Event(f1 = '{then}')
        within {WINDOW} milliseconds
    """


def expected(version):
    found, late = pairs()
    return sorted(
        [*((("p", version, a, b, b[2])) for a, b in found), *(("p", version, a, time) for a, time in late)],
        key=repr,
    )


def with_timeouts(stream):
    found = stream.process(PairsOf())
    return found.union(found.get_side_output(LATE))


def test_each_finds_what_it_finds_alone(run):
    def program(env):
        others = {f"other {letter}": text(letter) for letter in "xyz"}
        single = Pattern.begin("c").where(kind("c")).within(Duration.of_millis(WINDOW))
        patterns = {"p": a_then_b(), **others, "q": single}
        return CEP.patterns(keyed(env), patterns).select(lambda id_, match: (id_, *match.values()))

    found = [("p", [a], [b]) for a, b in pairs()[0]]
    alone = [("q", [event]) for event in EVENTS if event[1] == "c"]
    assert sorted(run(program), key=repr) == sorted([*found, *alone], key=repr)


def test_timeouts_tell_the_pattern(run_in_process):
    def program(env):
        return with_timeouts(CEP.patterns(keyed(env), {"p": text(), "q": text("x")}))

    results = run_in_process(program)
    assert sorted([each for each in results if each[0] == "p"], key=repr) == expected(None)
    assert {each[0] for each in results} == {"p", "q"}


def test_definitions_that_come_first_are_about_all_events(run):
    def program(env):
        definitions = env.from_collection(
            [PatternProcessor("p", 1, text("x")), {"id": "p", "version": 2, "pattern": text()}]
        )
        return with_timeouts(CEP.dynamic_patterns(keyed(env, LATER), definitions.set_parallelism(1)))

    assert sorted(run(program), key=repr) == expected(2)


def test_a_time_says_which_events_a_definition_is_about(run):
    def program(env):
        definitions = env.from_collection(
            [
                PatternProcessor("p", 1, text(), timestamp=0),
                PatternProcessor("p", 2, text("c"), timestamp=HALF),
                PatternProcessor("p", 3, "select", timestamp=HALF),
            ]
        ).set_parallelism(1)
        stream = CEP.dynamic_patterns(keyed(env, LATER), definitions)
        found = stream.side_output_rejected_definitions(REJECTED).rows()
        rejected = found.get_side_output(REJECTED).map(lambda row: ("rejected", row.line, row.column))
        return found.map(lambda row: (row.id, row.version, row.row.began, row.row.ended)).union(rejected)

    first, _ = pairs([event for event in LATER if event[2] < HALF])
    rest = [event for event in LATER if event[2] >= HALF]
    second, _ = pairs([(key, {"b": "-", "c": "b"}.get(letter, letter), time) for key, letter, time in rest])
    assert first
    assert second
    assert sorted(run(program), key=repr) == sorted(
        [
            *(("p", 1, a[2], b[2]) for a, b in first),
            *(("p", 2, a[2], b[2]) for a, b in second),
            ("rejected", 1, 7),
        ],
        key=repr,
    )


def test_in_batch_mode_all_definitions_come_before_all_events(run_in_process):
    def program(env):
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        definitions = env.from_collection([PatternProcessor("p", 1, text())])
        return with_timeouts(CEP.dynamic_patterns(keyed(env), definitions))

    assert sorted(run_in_process(program), key=repr) == expected(1)


def test_streams_without_keys_in_processing_time(run_in_process):
    def program(env):
        numbers = env.from_collection([*range(20)]).set_parallelism(1)
        even = Pattern.begin("even").where(lambda n: n % 2 == 0)
        patterns = {"three": even.next("it").where(lambda n: n % 3 == 0)}
        stream = CEP.patterns(numbers, patterns).in_processing_time()
        return stream.select(lambda id_, match: (id_, *match["even"], *match["it"]))

    assert sorted(run_in_process(program)) == [("three", 2, 3), ("three", 8, 9), ("three", 14, 15)]

"""Programs with patterns, each with something that must survive: partial matches, timers, matches that are held back,
events that wait to be put in order. What they find depends on nothing but their input.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firesteel.cep import (
    CEP,
    AfterMatchSkipStrategy,
    Pattern,
    PatternProcessFunction,
    PatternProcessor,
    TimedOutPartialMatchHandler,
    WithinType,
)
from firesteel.common import Duration, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner, WatermarkGenerator
from firesteel.datastream import OutputTag, StreamExecutionEnvironment
from firesteel.testing import ManualClock, ScriptedSource
from tests.recovery import ledger
from tests.recovery.jobs import Watch, environment, start

CHANCE = random.Random(4)
EVENTS = [
    (f"k{CHANCE.randrange(4)}", CHANCE.choice("aabbc"), number * 3 + CHANCE.randrange(10))
    for number in range(60)
]
"""Key, letter and timestamp (milliseconds), out of order by less than ten."""

PER_EPOCH = 6
STEP_MS = 8
"""How far the clock goes on after each epoch."""

ASIDE = OutputTag("aside")


class Third(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Impatient(WatermarkGenerator):
    """Its watermarks follow events so closely that others are late."""

    def on_event(self, event, event_timestamp, output):
        output.emit_watermark(event_timestamp - 4)

    def on_periodic_emit(self, output):
        pass


class Everything(PatternProcessFunction, TimedOutPartialMatchHandler):
    """Matches, and partial matches whose time has run out, with their times and patterns."""

    def process_match(self, match, ctx):
        yield "match", match, ctx.timestamp(), ctx.pattern_id(), ctx.pattern_version()

    def process_timed_out_match(self, match, ctx):
        yield ASIDE, ("timed out", match, ctx.timestamp(), ctx.pattern_id(), ctx.pattern_version())


def letter(wanted: str) -> Callable[[Any], bool]:
    return lambda event: event[1] == wanted


def millis(number: int) -> Duration:
    return Duration.of_millis(number)


def loop(last: str = "c") -> Pattern:
    """An a, any number of b, a c; or too late for it."""
    found = Pattern.begin("a").where(letter("a")).followed_by("b").where(letter("b")).one_or_more()
    return found.followed_by("c").where(letter(last)).within(millis(40))


def _absence() -> Pattern:
    found = Pattern.begin("a").where(letter("a")).followed_by("b").where(letter("b"))
    return found.not_followed_by("c").where(letter("c")).within(millis(25))


def _skipping(strategy: AfterMatchSkipStrategy) -> Callable[[], Pattern]:
    def pattern() -> Pattern:
        found = Pattern.begin("a", strategy).where(letter("a")).one_or_more()
        return found.followed_by("b").where(letter("b")).times(1, 2).within(millis(30))

    return pattern


def _previous() -> Pattern:
    found = Pattern.begin("a").where(letter("a")).followed_by("b").where(letter("b"))
    found = found.within(millis(12), WithinType.PREVIOUS_AND_CURRENT)
    return found.followed_by("c").where(letter("c")).within(millis(50))


def _neighbours() -> Pattern:
    return Pattern.begin("a").where(letter("a")).next("b").where(letter("b"))


def _rising() -> Pattern:
    rises = lambda event, ctx: all(event[2] > each[2] for each in ctx.get_events_for_pattern("up"))  # noqa: E731
    found = Pattern.begin("up").where(rises).times(3).allow_combinations()
    return found.within(millis(30))


def _by_letter(one: Any, two: Any) -> int:
    return (one[1] > two[1]) - (one[1] < two[1])


def _grouped(events: list[Any]) -> list[Any]:
    """Let several events have one time."""
    return [(key, kind, time // 12 * 12) for key, kind, time in events]


@dataclass(frozen=True)
class Job:
    """A program; `aside` is whether it puts something out aside, too. `by_clock`: in processing time."""

    pattern: Callable[[], Pattern]
    aside: bool = True
    by_clock: bool = False
    late: bool = False
    comparator: Callable[[Any, Any], int] | None = None

    def build(self, env: StreamExecutionEnvironment, name: str, pattern: Pattern | None = None) -> None:
        """Add the program to `env`; what it finds goes to a ledger of this name."""
        events = EVENTS if self.comparator is None else _grouped(EVENTS)
        strategy: Any = WatermarkStrategy.for_bounded_out_of_orderness(millis(12))
        if self.late:
            strategy = WatermarkStrategy.for_generator(Impatient)
        source = env.from_source(ScriptedSource(events), strategy.with_timestamp_assigner(Third()), "events")
        keyed = source.uid("events").key_by(lambda event: event[0])
        found = self._found(self._stream(env, keyed, pattern or self.pattern()))
        found.union(found.get_side_output(ASIDE)).sink_to(ledger.LedgerSink(name)).uid("ledger")

    def _stream(self, env: StreamExecutionEnvironment, keyed: Any, pattern: Pattern) -> Any:
        return CEP.pattern(keyed, pattern, self.comparator)

    def _found(self, stream: Any) -> Any:
        if self.by_clock:
            stream = stream.in_processing_time()
        if self.late:
            stream = stream.side_output_late_data(ASIDE)
        return stream.process(Everything()).uid("cep")

    def run(
        self,
        directory: Path,
        *,
        parallelism: int = 1,
        act: Callable[[Any, Any], object] = lambda handle, stats: None,
        clock: ManualClock | None = None,
        pattern: Pattern | None = None,
        state: str = "state",
        **more: Any,
    ) -> list[Any]:
        """Run the program with state in `directory`/`state`; `act` comes after each epoch; return its ledger."""
        clock = clock or ManualClock(1_000_000)

        def step(handle: Any, stats: Any) -> None:
            clock.advance(STEP_MS)
            act(handle, stats)

        watch = Watch(step)
        settings = {"on": "process", "state_dir": str(directory / state), "listener": watch, **more}
        with environment(
            directory, parallelism=parallelism, epoch_records=PER_EPOCH, clock=clock, **settings
        ) as env:
            self.build(env, str(directory), pattern)
            start(env, watch).wait(60)
        return sorted(ledger.rows(str(directory)), key=repr)


class ManyJob(Job):
    """A program that looks for several patterns in one operator."""

    def _stream(self, env: StreamExecutionEnvironment, keyed: Any, pattern: Pattern) -> Any:
        return CEP.patterns(
            keyed, {"a": pattern, "b": _absence(), "c": _previous()}, comparator=self.comparator
        )


def _text(last: str) -> str:
    return f"""
        select * from every a = Event(f1 = 'a') -> b = Event(f1 = 'b')+ -> c = Event(f1 = '{last}')
        within 40 milliseconds
    """


class DynamicJob(Job):
    """A program whose patterns are defined by a stream, and change at times that are said."""

    def _stream(self, env: StreamExecutionEnvironment, keyed: Any, pattern: Pattern) -> Any:
        definitions = [
            PatternProcessor("p", 1, _text("c")),
            PatternProcessor("q", 1, _text("a")),
            PatternProcessor("p", 2, _text("b"), timestamp=100),
            PatternProcessor("q", timestamp=140),
        ]
        stream = env.from_collection(definitions).set_parallelism(1).uid("definitions")
        return CEP.dynamic_patterns(keyed, stream, comparator=self.comparator)


SKIP = AfterMatchSkipStrategy

JOBS = {
    "a loop that may time out": Job(loop),
    "an absence at the end": Job(_absence),
    "skip past last event": Job(_skipping(SKIP.skip_past_last_event())),
    "skip to last": Job(_skipping(SKIP.skip_to_last("b"))),
    "time since the event before": Job(_previous),
    "an iterative condition": Job(_rising),
    "a comparator": Job(_neighbours, aside=False, comparator=_by_letter),
    "late events": Job(loop, late=True),
    "processing time": Job(loop, by_clock=True),
    "many patterns": ManyJob(loop),
    "patterns that change": DynamicJob(loop),
    "processing time, an absence": Job(_absence, aside=False, by_clock=True),
    "processing time, a comparator": Job(_neighbours, aside=False, by_clock=True, comparator=_by_letter),
}

"""Runs one window operator on state in a dict: records and watermarks in, results out, epochs at will."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.compiler.lower.recipe import Recipe, recipe
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.output_tag import OutputTag
from firesteel.functions.window_functions import ProcessWindowFunction
from firesteel.functions.windows import WINDOW_CODEC
from firesteel.graph import Location, Node
from firesteel.graph.operations import WindowOp
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.operator import Epoch, OperatorContext
from firesteel.runtime.output import Output
from firesteel.runtime.rows.windows.by_record import RecordByRecord
from firesteel.runtime.rows.windows.loops import Loops
from firesteel.runtime.rows.windows.operator import WindowOperator
from firesteel.runtime.rows.windows.panes import Panes
from firesteel.runtime.timers import TimerQueue
from firesteel.state.keys.composite import state_prefix
from firesteel.state.keys.groups import state_key
from firesteel.state.live.backend import KeyedStateBackend

LATE = OutputTag("late")
STEP = "watermark"

Event = tuple[Any, Any, int | None]
"""A key, a value and a timestamp; (STEP, None, w) advances the watermark to w."""


class DictReader:
    """A snapshot of state."""

    def __init__(self, entries: dict[bytes, bytes]) -> None:
        self._entries = dict(sorted(entries.items()))

    def get(self, key: bytes) -> bytes | None:
        return self._entries.get(key)

    def get_many(self, keys: list[bytes]) -> dict[bytes, bytes]:
        return {key: value for key in keys if (value := self.get(key)) is not None}

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        for key, value in self._entries.items():
            if key.startswith(prefix) and (start is None or key >= start):
                yield key, value


class _Gather:
    def __init__(self) -> None:
        self.records: list[tuple[int | None, Any]] = []

    def receive(self, batch: RowBatch) -> None:
        timestamps = batch.timestamps or [None] * len(batch.values)
        self.records += zip(timestamps, batch.values, strict=True)

    def receive_watermark(self, watermark: int | None) -> None:
        pass


class GeneralWindowOperator(WindowOperator):
    """The operator without its hot loops."""

    def choose_loops(self, panes: Panes, general: RecordByRecord) -> Loops:
        return Loops(general.take, general.fire)


class Harness:
    """One operator through as many epochs, and lives, as a test wants."""

    def __init__(
        self, assigner: Any, *, general: bool = False, trigger: Any = None, **arguments: Any
    ) -> None:
        arguments = {"mode": "process", "late_tag": LATE, **arguments}
        if arguments["mode"] == "process" and "window_function" not in arguments:
            arguments["window_function"] = Show()
        operation = WindowOp(assigner, trigger or assigner.get_default_trigger(None), **arguments)
        made = recipe(operation, Node(0, "window", operation, (), Location("job.py", 7)), batch=False)
        self._live(partial(GeneralWindowOperator, **made.keywords) if general else made)

    def _live(self, recipe: Recipe) -> None:
        """Begin the operator's first life, without state."""
        self._recipe = recipe
        self.entries: dict[bytes, bytes] = {}
        self._out, self._late = _Gather(), _Gather()
        self.watermark_ = MIN_WATERMARK
        self.now = 0
        self._number = 0
        self._schemas: dict[str, Any] = {}
        self._start()

    def _start(self) -> None:
        self.backend = KeyedStateBackend(128, WINDOW_CODEC)
        self.backend.restore_schemas(self._schemas)
        self._timers = TimerQueue(self.backend, "event"), TimerQueue(self.backend, "processing")
        self.operator = self._recipe()
        self.operator.open(
            OperatorContext(
                job_id="job",
                job_name="job",
                operator_id="window",
                name="window",
                who="window (job.py:7)",
                subtask=0,
                parallelism=1,
                max_parallelism=128,
                attempt=0,
                job_parameters={},
                output=Output([self._out]),
                side_outputs={"late": Output([self._late])},
                backend=self.backend,
                event_timers=self._timers[0],
                processing_timers=self._timers[1],
            )
        )
        self._begin(keep=False)

    def _begin(self, keep: bool) -> None:
        self._number += 1
        self.backend.begin(DictReader(self.entries), keep)
        for queue in self._timers:
            queue.begin()
        self.operator.begin_epoch(Epoch(EpochFacts(self._number, "1", self.now), self.watermark_))

    def epoch(self, *, keep: bool = True, restart: bool = False) -> None:
        """End the epoch, commit it, and start the next; `restart` in a new worker."""
        self.operator.end_epoch()
        for key, value in self.backend.changes():
            if value is None:
                self.entries.pop(key, None)
            else:
                self.entries[key] = value
        self._schemas = self.backend.schemas()
        if restart:
            self.operator.close()
            self._start()
        else:
            self._begin(keep)

    def batch(self, *events: Event) -> None:
        """Process records in one batch."""
        values, timestamps = [value for _, value, _ in events], [time for _, _, time in events]
        self.operator.process(RowBatch(values, timestamps, [state_key(key) for key, _, _ in events]), 0)

    def watermark(self, watermark: int) -> None:
        """Advance the watermark, if it is higher than before."""
        if watermark > self.watermark_:
            self.watermark_ = watermark
            self.operator.advance_watermark(watermark)

    def time(self, now: int) -> None:
        """Advance processing time."""
        self.now = now
        self.operator.advance_processing_time(now)

    def play(
        self, events: Iterable[Event], batch: int = 1_000, epoch: int = 0, restart: bool = False
    ) -> None:
        """Process events in batches of up to `batch`, with a new epoch after every `epoch`-th event."""
        pending: list[Event] = []
        for count, event in enumerate(events, 1):
            if event[0] == STEP:
                self._flush(pending)
                assert event[2] is not None
                self.watermark(event[2])
            else:
                pending.append(event)
                if len(pending) >= batch:
                    self._flush(pending)
            if epoch and count % epoch == 0:
                self._flush(pending)
                self.epoch(restart=restart)
        self._flush(pending)

    def _flush(self, pending: list[Event]) -> None:
        if pending:
            self.batch(*pending)
            pending.clear()

    def finish(self) -> None:
        """End the input."""
        self.watermark(MAX_WATERMARK)

    def out(self) -> list[tuple[int | None, Any]]:
        """Return, and forget, the results with their timestamps."""
        records, self._out.records = self._out.records, []
        return records

    def values(self) -> list[Any]:
        """Return, and forget, the results."""
        return [value for _, value in self.out()]

    def late(self) -> list[Any]:
        """Return, and forget, what was late."""
        records, self._late.records = self._late.records, []
        return [value for _, value in records]

    def event_timers(self) -> list[bytes]:
        """Return the event-time timers that are in state."""
        prefix = state_prefix(self._timers[0].state_id)
        return sorted(key for key in self.entries if key.startswith(prefix))

    def leftovers(self) -> list[bytes]:
        """Return the keys of what is in state after the epoch has been committed."""
        self.epoch()
        return list(self.entries)


class Show(ProcessWindowFunction[Any, Any, Any, Any]):
    """Emits key, window and contents."""

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key, repr(context.window()), list(elements)


def run(assigner: Any, events: list[Event], **arguments: Any) -> list[tuple[int | None, Any]]:
    """Play events and end the input; return the results with their timestamps."""
    harness = Harness(assigner, **arguments)
    harness.play(events)
    harness.finish()
    return harness.out()

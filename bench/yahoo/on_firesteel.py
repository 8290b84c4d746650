"""Firesteel, on Spark in local mode with two task slots; everything is durable after every epoch."""

from __future__ import annotations

import time
from collections.abc import Iterable

from bench.yahoo.command import Task, start_delay, task_from_arguments
from bench.yahoo.events import LANES, Lag, Load, Start
from firesteel.common import Configuration, Types, WatermarkStrategy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.ambient import Ambient, surrounded_by
from firesteel.datastream.pyflink_alias import install_pyflink_alias
from firesteel.functions.source import DiscoveryContext, RecordBatches, Source, Split

EPOCH = "1000 ms"
_BATCH = 2048


class AdEvents(Source[str]):
    """The events of a load: each lane is a split, which can be read up to the last event that is due.

    The run starts when a worker reads the first event, so that it is the events that wait, not the worker.
    """

    def __init__(self, load: Load, directory: str, start: str) -> None:
        self._load = load
        self._directory = directory
        self._start = Start(start)

    def discover(self, context: DiscoveryContext) -> Iterable[Split]:
        if context.known:
            return []
        lanes, count = context.parallelism, self._load.lane_count
        return [Split(f"{lane}", 0, count(lane, lanes), (lane, lanes)) for lane in range(lanes)]

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return self.discover(DiscoveryContext(known, LANES, int(time.time() * 1000)))

    def available(self, split: Split, position: int, now: int) -> int:
        assert split.end is not None
        if not self._load.paced:
            return split.end
        if not self._start.decided:
            return max(position, min(split.end, 1))
        lane, lanes = self._lane(split)
        due = int((now / 1000 - self._start.read()) * self._load.rate) + 1
        return max(position, min(split.end, -(-(due - lane) // lanes)))

    @staticmethod
    def _lane(split: Split) -> tuple[int, int]:
        lane, lanes = split.payload
        return lane, lanes

    def read(self, split: Split, start: int, end: int) -> RecordBatches[str]:
        lane, lanes = self._lane(split)
        event = self._load.event
        began = self._start.decide(start_delay(self._load))
        lag = Lag(self._load, self._directory)
        for low in range(start, end, _BATCH):
            high = min(low + _BATCH, end)
            yield [event(index) for index in range(lane + low * lanes, lane + high * lanes, lanes)]
            lag.note(lane + (high - 1) * lanes, time.time() - began)
        return None


def run(task: Task) -> None:
    """Run the job to its end."""
    configuration = Configuration()
    configuration.set_string("firesteel.master", f"local[{LANES},4]")
    configuration.set_string("firesteel.state-dir", str(task.directory / "state"))
    configuration.set_string("firesteel.epoch.duration", EPOCH)
    install_pyflink_alias()
    from bench.yahoo.pipeline import count_views  # only here is there something that it can import as pyflink

    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(LANES)
    source = AdEvents(task.load, str(task.directory), task.start)
    events = env.from_source(source, WatermarkStrategy.no_watermarks(), "ad events", Types.STRING())
    count_views(events, task.load.campaigns, task.target)
    with surrounded_by(Ambient(worker_setup=install_pyflink_alias)):
        env.execute("ad views")


if __name__ == "__main__":
    run(task_from_arguments())

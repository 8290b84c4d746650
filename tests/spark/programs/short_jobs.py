"""Many short jobs in one process; each with a class, state and operators (of 4 MiB) of its own.

Arguments: how many jobs, and the directory in which each operator that is closed leaves a file.

Prints a line for each job, `descriptors memory kept`: the most that one of its workers has (memory that is no
file's, in KiB; jobs of which something is kept). Every third job is cancelled while its operators are open.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from firesteel.common import Configuration, Types, WatermarkStrategy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction, RuntimeContext
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.spark import worker
from firesteel.testing import ScriptedSource


def usage() -> str:
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    descriptors = len([*Path("/proc/self/fd").iterdir()])
    return f"{descriptors} {fields['RssAnon'].split()[0]} {len(worker._kept)}"


def job(env: StreamExecutionEnvironment, number: int, closed: str, bounded: bool) -> list[str]:
    @dataclass
    class Own:
        """Each job has classes of its own."""

        value: int

    class Count(KeyedProcessFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            self._weight = bytearray(4 << 20)
            self._count = runtime_context.get_state(ValueStateDescriptor("count", Types.PICKLED_BYTE_ARRAY()))

        def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> Iterator[str]:
            before = self._count.value()
            self._count.update(Own(1 if before is None else before.value + 1))
            yield usage()

        def close(self) -> None:
            (Path(closed) / f"{number}-{os.getpid()}").touch()

    source = ScriptedSource([value % 7 for value in range(200)], bounded=bounded)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    counts = numbers.key_by(lambda value: value).process(Count(), Types.STRING())
    with counts.execute_and_collect(f"job {number}") as results:
        return [next(results) for _ in range(200)]


def main(jobs: int, closed: str) -> None:
    configuration = Configuration()
    configuration.set_string("firesteel.epoch.max-records", "40")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    for number in range(jobs):
        lines = job(env, number, closed, bounded=number % 3 != 2)
        print(*(max(int(line.split()[part]) for line in lines) for part in range(3)), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])

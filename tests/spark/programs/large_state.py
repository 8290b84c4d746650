"""Gives every key of many a value of 2000 bytes, pass after pass, and checks that it is the one given before.

Arguments: how many keys, how many passes, the directory for samples of the workers' memory, how many MiB of state a
worker may keep in memory, and by how many MiB its data may grow over what it is when its first task opens
(RLIMIT_DATA; 0: no limit).

A worker writes a line `anonymous data` (MiB) to a file of its own every 20 ms.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from firesteel.common import Configuration, Types, WatermarkStrategy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.connectors.number_seq import NumberSequenceSource
from firesteel.datastream.functions import KeyedProcessFunction, RuntimeContext
from firesteel.datastream.state import ValueStateDescriptor

SIZE = 2000
INTERVAL = 0.02


def memory() -> dict[str, int]:
    """Return what the process has in memory that is no file's, and what counts against RLIMIT_DATA, in MiB."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    kib = {name: int(fields[name].split()[0]) for name in ("RssAnon", "RssShmem", "VmData")}
    return {"anonymous": (kib["RssAnon"] + kib["RssShmem"]) >> 10, "data": kib["VmData"] >> 10}


def watch(file: TextIO) -> None:
    while True:
        now = memory()
        print(now["anonymous"], now["data"], file=file, flush=True)
        threading.Event().wait(INTERVAL)


class Replace(KeyedProcessFunction):
    """Each number stands for a new value of one key, which says how many there have been."""

    def __init__(self, keys: int, samples: str, room: int) -> None:
        self._keys = keys
        self._samples = samples
        self._room = room

    def open(self, runtime_context: RuntimeContext) -> None:
        path = Path(self._samples) / str(os.getpid())
        if not path.exists():
            file = path.open("w")
            if self._room:
                limit = (memory()["data"] + self._room) << 20
                resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
            threading.Thread(target=watch, args=(file,), daemon=True).start()
        self._value = runtime_context.get_state(ValueStateDescriptor("value", Types.STRING()))

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> Iterator[str]:
        key = value % self._keys
        before = self._value.value()
        times = 0 if before is None else int(before.split(" ", 2)[1])
        if before is not None and before != text(key, times):
            raise AssertionError(f"the value of {key} is {before!r:.40}")
        self._value.update(text(key, times + 1))
        if key % 1000 == 0:
            yield f"{key} {times + 1}"


def text(key: int, times: int) -> str:
    return (f"{key} {times} " * SIZE)[:SIZE]


def main(keys: int, passes: int, samples: str, kept: int, room: int) -> None:
    options = Configuration.from_dict({"firesteel.state.memory": f"{kept} mb"})
    env = StreamExecutionEnvironment.get_execution_environment(options)
    source = NumberSequenceSource(0, keys * passes - 1)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    stream.key_by(lambda number: number % keys).process(Replace(keys, samples, room), Types.STRING()).print()
    env.execute("large state")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))

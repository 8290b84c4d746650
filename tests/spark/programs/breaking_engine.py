"""Breaks the engine in its workers in the first try of an epoch, or raises an error of its own.

Arguments: "engine" or "user", and the marker that says that it was done.
"""

from __future__ import annotations

import sys
from pathlib import Path

from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import MapFunction, RuntimeContext
from firesteel.runtime import routing


class Saboteur(MapFunction):
    def __init__(self, marker: str, of: str) -> None:
        self._marker = Path(marker)
        self._of = of

    def open(self, runtime_context: RuntimeContext) -> None:
        self._encode = routing.encode_block

    def map(self, value: int) -> int:
        if value == 0 and not self._marker.exists():
            self._marker.touch()
            if self._of == "user":
                raise ValueError("of the program")
            routing.encode_block = None
        return value

    def close(self) -> None:
        routing.encode_block = self._encode


def main(of: str, marker: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection(list(range(10))).rebalance().map(Saboteur(marker, of))
    print(sorted(numbers.key_by(lambda n: n % 3).map(lambda n: n + 1).execute_and_collect()))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

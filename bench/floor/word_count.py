"""A small bounded program; it writes the times of its progress to standard error."""

from __future__ import annotations

import sys
import time

BEGAN = time.time()

from collections.abc import Iterator  # noqa: E402  (imports are part of what is timed)

from firesteel.common import Types  # noqa: E402
from firesteel.datastream import StreamExecutionEnvironment  # noqa: E402

IMPORTED = time.time()

LINES = ["to be or not to be", "that is the question", "whether tis nobler in the mind to suffer"]
COUNTED = Types.TUPLE([Types.STRING(), Types.LONG()])


def words(line: str) -> Iterator[tuple[str, int]]:
    for word in line.split():
        yield word, 1


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    lines = env.from_collection(LINES, Types.STRING())
    counts = lines.flat_map(words, COUNTED).key_by(lambda pair: pair[0], Types.STRING())
    counts.reduce(lambda total, pair: (total[0], total[1] + pair[1])).print()
    client = env.execute_async("word count")
    print(f"bench: {BEGAN} {IMPORTED} {time.time()}", file=sys.stderr)
    client.get_job_execution_result().result()


if __name__ == "__main__":
    main()

"""Counts words: the smallest program with state."""

from __future__ import annotations

from firesteel.common import Types
from firesteel.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

pair = Types.TUPLE([Types.STRING(), Types.INT()])
lines = env.from_collection(["to be or not to be", "that is the question"], Types.STRING())
words = lines.flat_map(lambda line: ((word, 1) for word in line.split()), output_type=pair)
words.key_by(lambda word: word[0], key_type=Types.STRING()).sum(1).print()

env.execute("word count")

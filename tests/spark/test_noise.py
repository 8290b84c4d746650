"""What child processes write to standard error reaches the terminal, but for what Spark says at every start and end."""

from __future__ import annotations

from firesteel.spark.noise import _worth_reading

HANGING_UP = b"""Traceback (most recent call last):
  File "/python/lib/pyspark.zip/pyspark/daemon.py", line 264, in manager
  File "/python/lib/pyspark.zip/pyspark/daemon.py", line 95, in worker
BrokenPipeError: [Errno 32] Broken pipe
"""
OF_A_PROGRAM = b"""Traceback (most recent call last):
  File "job.py", line 1, in <module>
BrokenPipeError: [Errno 32] Broken pipe
"""


def read(text: bytes) -> bytes:
    return b"".join(_worth_reading(text.splitlines(keepends=True), [], lambda: False))


def test_what_a_program_says_passes() -> None:
    for text in (b"a\nb\n", OF_A_PROGRAM, b"before\n" + OF_A_PROGRAM + b"after\n", OF_A_PROGRAM[:40]):
        assert read(text) == text


def test_what_spark_always_says_does_not() -> None:
    assert read(b"Setting default log level to\na\n" + HANGING_UP + b"b\n") == b"a\nb\n"


def test_two_workers_that_end_together_speak_in_turn() -> None:
    lines = HANGING_UP.splitlines(keepends=True)
    both = b"".join(line for line in lines for _ in range(2))
    assert read(b"a\n" + both + b"b\n") == b"a\nb\n"
    later = b"".join([lines[0], *lines[:2], lines[3], *lines[1:3], lines[3]])
    assert read(later + b"b\n") == b"b\n"


def test_an_error_beside_a_worker_that_ends_passes() -> None:
    lines = HANGING_UP.splitlines(keepends=True)
    both = b"".join([lines[0], *lines[:3], b"ValueError: 7\n", lines[3]])
    assert read(both + b"b\n") == both + b"b\n"

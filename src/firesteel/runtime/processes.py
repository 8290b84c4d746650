"""What a job's driver says of its process, and of the JVM that its epochs run in, when it is asked."""

from __future__ import annotations

import msgspec


class ThreadView(msgspec.Struct, frozen=True):
    """A thread; `text` is its stack as Flink's thread dumps have it, the innermost call first."""

    name: str
    text: str


class Collector(msgspec.Struct, frozen=True):
    """A garbage collector: how often it ran, and for how long in all (milliseconds)."""

    name: str
    count: int
    time: int


class JvmView(msgspec.Struct, frozen=True):
    """A JVM: its memory in bytes by Flink's names (`heapUsed`), -1 for a bound that there is not."""

    memory: dict[str, int]
    collectors: tuple[Collector, ...]
    threads: tuple[ThreadView, ...] = ()


class ProcessView(msgspec.Struct, frozen=True):
    """A Python process: its resident memory in bytes, and the JVM that works for it; `threads` only if asked for."""

    resident: int
    jvm: JvmView | None = None
    threads: tuple[ThreadView, ...] = ()

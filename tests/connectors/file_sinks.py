"""A file sink as the epoch loop drives it, and what is to be seen of it."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import cloudpickle
import pytest
from hypothesis import strategies as st

from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import WriterContext

NEVER: Final = RollingPolicy(part_size=1 << 40)


def sink_of(path: Path | str, rolling: RollingPolicy = NEVER, **options: Any) -> FileSink:
    options.setdefault("bucket_assigner", BasePathBuckets())
    return FileSink(path, TextLines(), rolling_policy=rolling, **options)


Step = tuple[list[str], str, int]
"""The values of an epoch, what goes wrong in it, and the pause before it."""

STEPS: Final = st.lists(
    st.tuples(
        st.lists(st.text("abc", max_size=6), max_size=6),
        st.sampled_from(["ok", "abort", "undecided", "twice", "zombie"]),
        st.integers(0, 50),
    ),
    max_size=12,
)


class Job:
    """Drives one subtask of a sink as the epoch loop does."""

    def __init__(self, sink: FileSink) -> None:
        self.sink = pickle.loads(cloudpickle.dumps(sink))
        self.state: Any = None
        self.epoch = 0
        self.attempts = 0
        self.wakeup: int | None = None
        self.lineage = ""

    def writer(self, now: int = 0, final: bool = False) -> Any:
        self.attempts += 1
        context = WriterContext(
            "job",
            "op",
            0,
            1,
            EpochFacts(self.epoch + 1, f"try/{self.attempts}", now, final, self.lineage),
            self.state,
        )
        return self.sink.create_writer(context)

    def prepare(self, values: Sequence[Any], now: int = 0, final: bool = False) -> list[Any]:
        writer = self.writer(now, final)
        writer.write(values, None)
        committables = pickle.loads(pickle.dumps(list(writer.prepare_commit())))
        self.wakeup = writer.next_wakeup()
        self.prepared = pickle.loads(pickle.dumps(writer.snapshot_state()))
        return committables

    def decide(self) -> None:
        """The manifest is written."""
        self.state = self.prepared
        self.epoch += 1

    def run(self, values: Sequence[Any], now: int = 0, final: bool = False) -> None:
        committables = self.prepare(values, now, final)
        self.decide()
        self.sink.create_committer().commit(committables)


def run_steps(job: Job, steps: Sequence[Step]) -> str:
    """Run epochs of which some fail, and a final one; return what must have become visible."""
    now = 0
    expected: list[str] = []
    for values, what, pause in [*steps, (list[str](), "final", 0)]:
        now += pause
        if what == "abort":
            writer = job.writer(now)
            writer.write(["wrong"], None)
            writer.abort()
        elif what == "undecided":
            job.prepare(["wrong", *values], now)
        elif what == "zombie":
            zombie = job.writer(now)
            zombie.write(["wrong"], None)
        committables = job.prepare(values, now, what == "final")
        job.decide()
        for _ in range(2 if what == "twice" else 1):
            job.sink.create_committer().commit(committables)
        if what == "zombie":
            zombie.write(["wrong"] * 20, None)
            zombie.prepare_commit()
        expected.extend(values)
    return "".join(f"{value}\n" for value in expected)


class _CrashError(BaseException):
    pass


def commit_crashing(
    committer: Any, committables: Sequence[Any], point: int, *calls: tuple[type[Any], str]
) -> bool:
    """Commit, and stop before the call number `point` of these methods; return whether it came to that."""
    count = 0

    def crashing(real: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count >= point:
                raise _CrashError
            return real(*arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for kind, name in calls:
            patch.setattr(kind, name, crashing(getattr(kind, name)))
        try:
            committer.commit(committables)
        except _CrashError:
            return True
    return False


def visible(path: Path) -> list[str]:
    """The contents of the visible files, in the order of their counters."""
    files = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]
    return [file.read_text() for file in sorted(files, key=lambda file: int(file.stem.rsplit("-", 1)[1]))]


def hidden(path: Path) -> list[Path]:
    return sorted(path.rglob(".*"))

"""The part: small epochs with one and with two exchanges, and first results."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Final

from bench.floor import word_count
from bench.floor.job import EPOCHS, WARM_UP
from bench.floor.report import COMMAND, HOW, ONE, SESSION, TWO, UNPREPARED, render
from bench.part import Case, Figures, Part, RunError
from bench.process import started
from firesteel.spark.class_archive import make_archive

_PATIENCE_S: Final = 300
_LEAST_EPOCHS: Final = 5


def _run(title: str, exchanges: int, scale: float) -> dict[str, Figures]:
    warm_up = max(round(WARM_UP * min(scale, 1)), 1)
    epochs = max(round(EPOCHS * min(scale, 1)), _LEAST_EPOCHS)
    options = ["--exchanges", exchanges, "--epochs", epochs, "--warm-up", warm_up]
    said = _finished(["-m", "bench.floor.job", *map(str, options)])
    figures: Figures = json.loads(said.lines[-1])
    return {title: figures}


@dataclass(frozen=True)
class _Said:
    """The output of a process; `shown` is the time of its first line (seconds since 1970)."""

    lines: list[str]
    shown: float
    errors: str


def _finished(arguments: list[str], **environment: str) -> _Said:
    """Run a Python process to its end. Raises RunError if it fails or takes too long."""
    with started("floor", arguments, _PATIENCE_S, environment=environment) as process:
        lines, shown = [process.output.readline()], time.time()
        lines += process.output
    return _Said([line.rstrip("\n") for line in lines], shown, process.errors)


def first_result(scale: float) -> dict[str, Figures]:
    """Measure the time from the start of `firesteel run` to its first line; the scale has no effect."""
    del scale
    make_archive()
    return {COMMAND: _first_result()}


def unprepared(scale: float) -> dict[str, Figures]:
    """Measure the same without a previous `firesteel prepare`."""
    del scale
    with tempfile.TemporaryDirectory(prefix="firesteel-bench-") as cache:
        return {UNPREPARED: _first_result(XDG_CACHE_HOME=cache)}


def _first_result(**environment: str) -> Figures:
    typed = time.time()
    said = _finished(["-m", "firesteel.cli", "run", word_count.__file__], **environment)
    if _counts(said.lines) != _words():
        raise RunError(f"the word count printed {said.lines}")
    began, imported, launched = _moments(said.errors)
    return {
        "seconds": round(said.shown - typed, 3),
        "python": round(began - typed, 3),
        "imports": round(imported - began, 3),
        "session": round(launched - imported, 3),
        "first_epoch": round(said.shown - launched, 3),
    }


def _counts(lines: list[str]) -> Counter[str]:
    """Return the number of results of each word."""
    return Counter(line.partition("(")[2].partition(",")[0].strip("'") for line in lines if line.strip())


def _words() -> Counter[str]:
    return Counter(word for line in word_count.LINES for word in line.split())


def _moments(text: str) -> list[float]:
    """Return the times in the line that starts with `bench:`."""
    [line] = [line for line in text.splitlines() if line.startswith("bench: ")]
    return [float(moment) for moment in line.split()[1:]]


def in_session(scale: float) -> dict[str, Figures]:
    """Measure the time from `execute` to the first result in a program with a session; the scale has no effect."""
    del scale
    called, committed = _moments("\n".join(_finished(["-m", "bench.floor.in_session"]).lines))
    return {SESSION: {"seconds": round(committed - called, 3)}}


PART: Final = Part(
    "floor",
    "The floor of an epoch",
    (
        Case("one exchange", partial(_run, ONE, 1)),
        Case("two exchanges", partial(_run, TWO, 2)),
        Case("first result", first_result),
        Case("first result, unprepared", unprepared),
        Case("first result in a session", in_session),
    ),
    render,
    HOW,
)

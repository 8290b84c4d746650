"""The measurements: each part is a series of cases, each case one run with figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from statistics import fmean, median, quantiles
from typing import Final

from bench.durability.check import check
from bench.durability.driver import Driver, Note
from bench.durability.job import KEYS_PER_EPOCH, Load
from bench.durability.prepared import savepoint
from bench.durability.report import HOW, render_recovery, render_rescale, render_state_size
from bench.part import Case, Figures, Part, RunError
from firesteel.common.errors import FiresteelError

SIZES: Final = (10_000, 1_000_000, 10_000_000)
KEYS: Final = 1_000_000
WARM_UP: Final = 10
"""Epochs that are left out at the start of a process: the first ones create working copies and warm up the JVM."""

EPOCHS: Final = 120
"""Measured epochs: enough to include a compaction and a removal of garbage."""

BEFORE: Final = 15
"""Epochs before a kill or a change of parallelism."""

CHANGES: Final = (3, 1, 2)
"""The parallelisms of a job, one after another."""


def state_size(keys: int, scale: float) -> dict[str, Figures]:
    """Measure epochs over a state of a size; the number of changed keys is always the same."""
    size = _scaled(keys, scale)
    count = max(2 * WARM_UP, round(EPOCHS * min(scale, 1)))
    return {f"{size:,} keys": _epochs(Load(size, min(KEYS_PER_EPOCH, _scaled(SIZES[0], scale))), count)}


def _epochs(load: Load, count: int) -> Figures:
    records = load.keys + (WARM_UP + count) * load.records
    with Driver(load, savepoint(load), gate=records) as driver:
        driver.start()
        epochs = driver.wait(lambda epochs: len(epochs) == WARM_UP + count)
        driver.stop()
        check(driver.state, load, records)
    measured = epochs[WARM_UP:]
    durations = [epoch["ms"] for epoch in measured]
    return {
        "keys": load.keys,
        "changed": load.changed,
        "records": load.records,
        "first_ms": round(epochs[0]["ms"]),
        "median_ms": round(median(durations)),
        "p95_ms": round(quantiles(durations, n=20)[-1]),
        "run_bytes": round(fmean(epoch["runs"] for epoch in measured)),
        "manifest_bytes": round(fmean(epoch["manifest"] for epoch in measured)),
        "compaction_bytes": sum(epoch["compaction"] for epoch in measured),
        "epochs_ms": [round(duration) for duration in durations],
    }


def recovery(scale: float) -> dict[str, Figures]:
    """Kill a driver and restart it at once, with and without its working copies."""
    load = _load(scale)
    with Driver(load, savepoint(load)) as driver:
        driver.start()
        driver.wait(lambda epochs: len(epochs) >= BEFORE)
        figures = {
            "the same machine": {"keys": load.keys, **_restarted(driver)},
            "another machine": {"keys": load.keys, **_restarted(driver, fresh=True)},
        }
        driver.stop()
        check(driver.state, load)
    return figures


def _restarted(driver: Driver, *, fresh: bool = False) -> Figures:
    killed = driver.kill()
    if fresh:
        driver.forget_working_copies()
    driver.start()
    epochs = driver.wait(lambda epochs: len(epochs) >= BEFORE)
    at = {note["what"]: note["at"] for note in driver.notes() if note["what"] != "epoch"}
    moments = [killed, at["began"], at["imported"], at["launched"], epochs[0]["at"]]
    python, imports, session, first = (round(later - earlier, 3) for earlier, later in pairwise(moments))
    return {
        "seconds": round(moments[-1] - killed, 3),
        "python": round(python + imports, 3),
        "session": session,
        "first_epoch": first,
        "usual_epoch": _usual(epochs[WARM_UP:]),
    }


def rescale(scale: float) -> dict[str, Figures]:
    """Change the parallelism of a running job."""
    load = _load(scale)
    changes: dict[str, Figures] = {}
    with Driver(load, savepoint(load)) as driver:
        driver.start()
        driver.wait(lambda epochs: len(epochs) >= BEFORE)
        for parallelism in CHANGES:
            done = len(driver.epochs())
            driver.ask("rescale", str(parallelism))
            epochs = driver.wait(partial(_is_at, parallelism))
            title, figures = _change(epochs[done - BEFORE + 1 :])
            changes[title] = {"keys": load.keys, **figures}
        driver.stop()
        check(driver.state, load)
    return changes


def _is_at(parallelism: int, epochs: list[Note]) -> bool:
    return _at(epochs, parallelism) >= BEFORE


def _at(epochs: list[Note], parallelism: int) -> int:
    """Return the number of epochs at a parallelism since its last change."""
    count = 0
    while count < len(epochs) and epochs[-1 - count]["parallelism"] == parallelism:
        count += 1
    return count


def _change(epochs: list[Note]) -> tuple[str, Figures]:
    """Return the title and the figures of the one change of parallelism among some epochs."""
    first = next(
        place
        for place, (old, new) in enumerate(pairwise(epochs), 1)
        if old["parallelism"] != new["parallelism"]
    )
    old, new = epochs[first - 1], epochs[first]
    figures = {
        "seconds": round(new["at"] - old["at"], 3),
        "epoch_before": _usual(epochs[:first]),
        "epoch_after": _usual(epochs[first + 2 :]),
    }
    return f"{old['parallelism']} to {new['parallelism']}", figures


def _usual(epochs: list[Note]) -> float:
    """Return the median time from one commit to the next, in seconds."""
    between: list[float] = [new["at"] - old["at"] for old, new in pairwise(epochs)]
    return round(median(between), 3)


def _load(scale: float) -> Load:
    keys = _scaled(KEYS, scale)
    return Load(keys, min(KEYS_PER_EPOCH, keys))


def _scaled(keys: int, scale: float) -> int:
    return max(int(keys * scale) // 2 * 2, 100)


def _checked(run: Callable[[float], dict[str, Figures]]) -> Callable[[float], dict[str, Figures]]:
    """Return the same case with Firesteel's own errors as failures of the run."""

    def checked(scale: float) -> dict[str, Figures]:
        try:
            return run(scale)
        except FiresteelError as error:
            raise RunError(str(error)) from error

    return checked


PARTS: Final = (
    Part(
        "state-size",
        "Epochs over states of different sizes",
        tuple(Case(f"{keys:,} keys", _checked(partial(state_size, keys))) for keys in SIZES),
        render_state_size,
        HOW["state-size"],
    ),
    Part(
        "recovery",
        "Recovery after a kill",
        (Case("both machines", _checked(recovery)),),
        render_recovery,
        HOW["recovery"],
    ),
    Part(
        "rescale",
        "Change of a running job's parallelism",
        (Case("up, down and up", _checked(rescale)),),
        render_rescale,
        HOW["rescale"],
    ),
)

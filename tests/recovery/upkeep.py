"""Drivers of the recovery program (see `pipeline`) whose state is looked after while they run, and that may crash."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from firesteel.checkpoint.integrity import damage_of
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.retention import collect_garbage, kept_epochs
from firesteel.control import EpochStats, JobHandle
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.testing import ManualClock, executing
from tests.checkpoint.histories import referred
from tests.recovery import pipeline
from tests.recovery.crashing import Crasher, Point, points
from tests.recovery.jobs import Watch, start

BUSY = MaintenancePolicy(2, 2, inline=True)
RETAINED = 2


def once(what: Iterable[str], struck: set[tuple[Point, int]]) -> Crasher:
    """One that strikes at each of these points of each epoch, also at the second of that name, if it has not yet."""
    crasher = Crasher()

    def dies(count: int, point: Point) -> bool:
        met = crasher.points.count(point)
        if point[1] not in what or (point, met) in struck:
            return False
        struck.add((point, met))
        return True

    crasher._dies = dies
    return crasher


def run(
    directory: Path,
    parallelism: int = 1,
    crasher: Crasher | None = None,
    act: Callable[[JobHandle, EpochStats], None] | None = None,
    build: Callable[[StreamExecutionEnvironment, Path], None] = pipeline.build,
    **more: object,
) -> Crasher:
    """Run a driver until its job ends or the crasher strikes; `act` is called after each epoch."""
    crasher = crasher or Crasher()
    watch = Watch(act or (lambda handle, stats: None))
    options = {
        "epoch_records": 6,
        "state_dir": str(directory / "state"),
        "retained": RETAINED,
        "maintenance": BUSY,
        **more,
    }
    with (
        points(crasher, upkeep=True),
        executing(
            crasher.executor,
            parallelism=parallelism,
            clock=ManualClock(1_000_000),
            listener=watch,
            **options,  # type: ignore[arg-type]
        ),
    ):
        env = StreamExecutionEnvironment.get_execution_environment()
        build(env, directory)
        try:
            start(env, watch).wait(60)
        except BaseException:
            if crasher.crashed is None:
                raise
    return crasher


def until_it_ends(what: list[str], go: Callable[[Crasher], Crasher], most: int = 300) -> int:
    """Start a driver again and again, of which `most` die where none has died before; answer how often one did."""
    struck: set = set()
    while go(once(what if len(struck) < most else [], struck)).crashed is not None:
        pass
    return len(struck)


def check_state(directory: Path) -> None:
    """Everything that is kept is intact, and nothing else stays once the state directory has been tidied up."""
    storage = Storage.of(directory)
    reader = ManifestReader(storage)
    kept = kept_epochs(reader)
    assert [damage_of(storage, epoch) for epoch in kept] == [None] * len(kept)
    collect_garbage(storage, kept[-1])
    assert [damage_of(storage, epoch) for epoch in kept] == [None] * len(kept)
    known = {path for path in storage.list("runs") if int(Path(path).name.partition("-")[0]) <= kept[-1]}
    assert known == referred(storage)

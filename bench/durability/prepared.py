"""The states from which runs start: savepoints under .cache/, created by the job itself on first use."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Final

from bench.durability.driver import Driver
from bench.durability.job import Load
from bench.environments import CACHE
from firesteel.checkpoint.manifest import FORMAT

JOB: Final = 1
"""Change this with the job, so that no savepoint of an older job is used."""


def savepoint(load: Load) -> Path:
    """Return the savepoint in which every key is counted once."""
    folder = CACHE / f"bench-state-{FORMAT}-{JOB}" / str(load.keys)
    if not folder.exists():
        print(f"bench: making {load.keys:,} keys of state in {folder} (once)", file=sys.stderr, flush=True)
        draft = folder.with_name(f"{folder.name}.new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        with Driver(load, None, gate=load.keys, epoch_records=load.keys) as driver:
            driver.start()
            driver.wait(lambda epochs: sum(epoch["records"] for epoch in epochs) == load.keys)
            driver.stop(draft)
        draft.rename(folder)
    [found] = folder.iterdir()
    return found

"""`python -m firesteel.checkpoint.follower`: takes epochs over for a process that answers reads meanwhile.

It says with a line that it is there, takes each line of its input as a `Step`, and says with another line that it is
done with it. It ends with its input, so it does not survive the process that has started it.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from firesteel.checkpoint.following import DONE, Step
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.recovery import catch_up
from firesteel.common.collector import collector_waits
from firesteel.common.decoders import json_decoder
from firesteel.common.errors import FiresteelError
from firesteel.state.disk.copy import open_working_store, release_working_stores

_storage = lru_cache(maxsize=32)(Storage.existing)


def take(step: Step) -> None:
    """Take a step. Raises what `catch_up` raises."""
    directory, groups = Path(step.directory), (0, step.max_parallelism - 1)
    store = open_working_store(directory, step.lineage, *groups)
    try:
        with collector_waits():
            catch_up(store, _storage(step.url), step.operator, groups, step.epoch, None)
    finally:
        release_working_stores(directory)  # its owner may remove the copy


def main() -> None:
    """Take steps until there are no more."""
    steps = json_decoder(Step)
    _answer()
    for line in sys.stdin.buffer:
        with suppress(FiresteelError):  # the reader meets it, too, and tells its caller
            take(steps.decode(line))
        _answer()


def _answer() -> None:
    sys.stdout.buffer.write(DONE)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

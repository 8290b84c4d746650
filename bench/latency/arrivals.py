"""Lets files of events arrive by the clock: `python -m bench.latency.arrivals FOLDER SLICES START SECONDS`.

Slice `n` of the events, of those below SLICES, appears in FOLDER `(n + 1) * SECONDS` after START (seconds since 1970),
when its last event has happened; late ones follow at once. The first one is there already. Files are hard links, so
they are complete when they appear.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path


def arrive(folder: Path, given: Path) -> None:
    """Let the files of a slice appear in a folder, with names in the order of arrival."""
    for file in sorted(given.iterdir()):
        (folder / f"{given.name}-{file.name}").hardlink_to(file)


def main() -> None:
    """Let the slices arrive that the command line names."""
    folder, slices = map(Path, sys.argv[1:3])
    start, seconds = map(float, sys.argv[3:])
    for number, given in enumerate(sorted(slices.iterdir())):
        if number:
            time.sleep(max(start + (number + 1) * seconds - time.time(), 0))
            arrive(folder, given)


if __name__ == "__main__":
    main()

"""Run a job with something of everything for a while, many short jobs beside it, and fail if anything grows.

    python -m soak                  20 minutes
    python -m soak --minutes 2      a short form
    python -m soak --picture soak.png

Memory, descriptors, threads, disk, the size of manifests and the CPU time per epoch (without and with a short job) are
judged after a warm-up, by the slope of a line that outliers do not move. How long epochs and short jobs take is shown,
but not judged: it follows the load of the machine. The exit code is 0 if nothing grows more than it may.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from soak.picture import draw
from soak.run import Outcome, run


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=20.0, help="how long (default: 20)")
    parser.add_argument("--picture", type=Path, help="a PNG file to draw what was measured into")
    arguments = parser.parse_args()
    # What Spark has there is its own to remove, and it may still do so when the run is over.
    with tempfile.TemporaryDirectory(prefix="firesteel-soak-", ignore_cleanup_errors=True) as directory:
        outcome = run(Path(directory), arguments.minutes * 60, lambda said: print(said, flush=True))
    print(report(outcome), flush=True)
    if arguments.picture is not None:
        draw(outcome, arguments.picture)
    return 1 if outcome.drifting else 0


def report(outcome: Outcome) -> str:
    """Say what came of it, a line for each quantity."""
    head = f"{'':<28}{'median':>12}{'growth':>12}{'allowed':>12}"
    lines = "\n".join(map(str, outcome.verdicts))
    return f"{outcome.short_jobs} short jobs, {outcome.files} files in, {outcome.output} lines out\n{head}\n{lines}"


if __name__ == "__main__":
    sys.exit(main())

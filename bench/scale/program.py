"""Runs the jobs of one curve, one after another in one session, and prints their seconds as one line of JSON."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.scale.curves import BY_NAME, Curve
from bench.scale.jobs import run

_FIRST: Final = BY_NAME["records"]


def main() -> None:
    """Measure the curve that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("curve", choices=sorted(BY_NAME))
    parser.add_argument("--scale", type=float, default=1.0)
    arguments = parser.parse_args()
    print(json.dumps(measure(BY_NAME[arguments.curve].scaled(arguments.scale))), flush=True)


def measure(curve: Curve) -> list[list[float]]:
    """Return size and seconds of each point of a curve, in order.

    Two jobs that are not counted run first: the first job of a session starts workers and makes the JVM load its
    classes.
    """
    for warming in (_FIRST, curve):
        with _scratch() as scratch:
            run(warming, warming.sizes[0], scratch)
    points: list[list[float]] = []
    for size in curve.sizes:
        with _scratch() as scratch:
            points.append([size, run(curve, size, scratch)])
    return points


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="firesteel-scale-") as scratch:
        yield Path(scratch)


if __name__ == "__main__":
    main()

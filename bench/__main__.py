"""Measure Firesteel, compare it to PyFlink and Spark's transformWithState if they support the job, and write
docs/benchmarks.md and the README's figures.

    python -m bench                         everything (about 80 minutes)
    python -m bench count-1k floor          some parts; the others keep their figures
    python -m bench nexmark --only q5       those cases alone whose names begin so
    python -m bench --list                  the parts and their records
    python -m bench --render                the page, its pictures and the README again, without measuring
    python -m bench --scale 0.02 --runs 1   a quick look at whether everything works; changes nothing

Nothing else should run on the machine. Cases take turns: each part's first runs, then its second ones, and so on. Every
finished run is stored in bench/results at once. An interrupted bench resumes where it stopped. Runs with the same
source on the same machine are not repeated, unless you pass --again. PyFlink gets its own virtual environment under
.cache/ ($FIRESTEEL_BENCH_PYFLINK names another interpreter).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from bench.environments import ROOT
from bench.machine import describe
from bench.page import draw, render
from bench.part import Part
from bench.readme import filled
from bench.registry import PARTS, group_of
from bench.runner import Plan, Runner, say
from bench.source import source_hash
from bench.store import Record, Store

DOCS: Final = ROOT / "docs"
README: Final = ROOT / "README.md"
_INTERRUPTED: Final = 130


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return exit code 1 if a run failed."""
    asked = _arguments(arguments)
    if asked.list:
        _list()
        return 0
    if asked.render:
        _write_page(Store(), DOCS, README)
        return 0
    parts = [part for part in PARTS if not asked.parts or part.name in asked.parts]
    if asked.scale == 1:
        return _measure(parts, asked, Store(), DOCS, README)
    with tempfile.TemporaryDirectory(prefix="firesteel-bench-") as scratch:
        return _measure(parts, asked, Store(Path(scratch) / "results"), Path(scratch))


def _measure(
    parts: list[Part], asked: argparse.Namespace, store: Store, docs: Path, readme: Path | None = None
) -> int:
    plan = Plan(describe(), _source, asked.runs, asked.scale, asked.again, tuple(asked.only))
    runner = Runner(store, plan)
    try:
        runner.measure(parts)
    except KeyboardInterrupt:
        say("bench: interrupted; the same command resumes from here")
        return _INTERRUPTED
    page = _write_page(store, docs, readme)
    print(page.partition("\n## The machine")[0])
    for failure in runner.failures:
        say(f"\nfailed: {failure}")
    return 1 if runner.failures else 0


def _source(part: Part) -> str:
    return source_hash(group_of(part).code)


def _known(store: Store) -> dict[str, Record]:
    return {part.name: record for part in PARTS if (record := store.read(part.name)) is not None}


def _write_page(store: Store, docs: Path, readme: Path | None) -> str:
    """Render the page, its pictures and the README's figures from all stored ones, and return the page."""
    known = _known(store)
    page = render(known)
    draw(known, docs / "images")
    docs.mkdir(exist_ok=True)
    (docs / "benchmarks.md").write_text(page, encoding="utf-8")
    say(f"written: {docs / 'benchmarks.md'}")
    if readme is not None:
        figures = {name: record.shown.runs for name, record in known.items()}
        readme.write_text(filled(readme.read_text(encoding="utf-8"), figures), encoding="utf-8")
        say(f"written: {readme}")
    return page


def _list() -> None:
    known = _known(Store())
    for part in PARTS:
        record = known.get(part.name)
        state = "not measured"
        if record is not None:
            fresh = "this source" if record.source == _source(part) else f"source {record.source}"
            state = f"{sum(record.done.values())} runs with {fresh}, {record.measured[:16]}"
        print(f"{part.name:12} {part.title:45} {len(part.cases)} cases; {state}")


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    names = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(
        prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(names)} (default: all)")
    parser.add_argument("--runs", type=int, help="runs of each case, including stored ones")
    parser.add_argument("--scale", type=float, default=1, help="multiplies the amount of work")
    parser.add_argument("--only", action="append", default=[], metavar="CASE", help="run these cases")
    parser.add_argument("--again", action="store_true", help="discard the stored runs")
    parser.add_argument("--render", action="store_true", help="render the page from the stored figures")
    parser.add_argument("--list", action="store_true", help="list the parts")
    asked = parser.parse_args(arguments)
    unknown = sorted(set(asked.parts) - set(names))
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(names)}")
    return asked


if __name__ == "__main__":
    sys.exit(main())

"""Prints the results of `access_log.py` from its files."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

RESULTS = ("hits_per_page", "sessions", "bursts", "malformed", "late")


def print_summary(output: Path, seconds: float) -> None:
    """Print a summary of the results in `output` of a job that ran for `seconds`."""
    hours: Counter[str] = Counter()
    pages: Counter[str] = Counter()
    sent = 0
    for hour, page, hits, size in rows(output / "hits_per_page"):
        hours[hour] += int(hits)
        pages[page] += int(hits)
        sent += int(size)
    sessions = list(rows(output / "sessions"))
    bursts = list(rows(output / "bursts"))
    malformed = sum(1 for _ in lines(output / "malformed"))
    late = Counter(result for result, *_ in rows(output / "late"))
    hits_in_all = hours.total()

    print()
    print(
        f"{hits_in_all + malformed:,} lines in {seconds:.1f} s ({(hits_in_all + malformed) / seconds:,.0f} a second)"
    )
    if hours:
        print(f"  from the hour of {min(hours)} to that of {max(hours)}; {sent / 1e6:,.1f} MB sent")
    print(f"  malformed: {malformed:,}; too late to be counted: {_listed(late) or 'none'}")
    print("\nTop pages")
    for page, hits in pages.most_common(5):
        print(f"  {hits:>9,}  {page}")
    for hour, hits in hours.most_common(1):
        print(f"\nBusiest hour\n  {hits:>9,}  {hour}")
    print(
        f"\nSessions\n  {len(sessions):>9,}  in all, of {len({visitor for visitor, *_ in sessions}):,} visitors"
    )
    if sessions:
        visitor, first, last, hits = max(sessions, key=_length)
        print(f"  {_length((visitor, first, last))!s:>9}  the longest: {visitor}, {hits} hits from {first}")
    print(f"\nBursts of errors\n  {len(bursts):>9,}  in all")
    for visitor, first, _, errors in sorted(bursts, key=lambda burst: (-int(burst[3]), burst[1]))[:5]:
        print(f"  {errors:>9}  errors of {visitor} within a minute of {first}")
    print(f"\nResults in {output}: {', '.join(RESULTS)}")


def rows(directory: Path) -> Iterator[list[str]]:
    """Yield the rows of comma-separated values in the committed files of `directory`."""
    for line in lines(directory):
        yield next(csv.reader([line]))


def lines(directory: Path) -> Iterator[str]:
    """Yield the lines of the committed files of `directory`; names of uncommitted files start with a dot."""
    for path in sorted(directory.glob("[!.]*")):
        with path.open(encoding="utf-8", newline="\n") as file:
            yield from (line.removesuffix("\n") for line in file)


def _length(session: list[str] | tuple[str, str, str]) -> object:
    return datetime.fromisoformat(session[2]) - datetime.fromisoformat(session[1])


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} of {name}" for name, count in sorted(counts.items()))

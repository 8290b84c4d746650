"""Writes a realistic access log of a web server, which is the same for the same seed.

Pages and visitors are Zipf-distributed, and days have a rush hour. Lines are written up to a minute after their
request, as by servers that log when a response is finished. Some lines are cut off, and sometimes a scanner requests
many pages that do not exist.

    python examples/generate_access_log.py --lines 100000 --seed 7 access_log.gz
"""

from __future__ import annotations

import argparse
import gzip
import heapq
import itertools
import math
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

START = int(datetime(2024, 3, 4, tzinfo=UTC).timestamp())
LATEST = 60
"""The maximum time between a request and its line, in seconds."""

SECTIONS = ["blog", "docs", "articles", "projects", "images", "files"]
AGENTS = ["Mozilla/5.0 (X11; Linux x86_64)", "Mozilla/5.0 (Windows NT 10.0)", "curl/8.5.0", "ExampleBot/2.1"]
STATUSES, STATUS_WEIGHTS = [200, 304, 301, 404, 500], [910, 50, 20, 18, 2]


def generate(lines: int, seed: int = 7) -> Iterator[str]:
    """Yield `lines` lines (with their line ends) in the order in which the server wrote them."""
    return itertools.islice(_in_order_of_writing(random.Random(seed)), lines)


def write(path: Path, lines: int, seed: int = 7) -> None:
    """Write `lines` lines to `path`, gzipped if its name ends in `.gz`; equal arguments give equal files."""
    data = "".join(generate(lines, seed)).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _in_order_of_writing(chance: random.Random) -> Iterator[str]:
    """Yield lines as written: requests happen in order of time, and a heap holds lines that are written later."""
    waiting: list[tuple[int, int, str]] = []
    for number, (time, line) in enumerate(_requests(chance)):
        while waiting and waiting[0][0] <= time:
            yield heapq.heappop(waiting)[2]
        heapq.heappush(waiting, (time + chance.randrange(LATEST), number, line))


def _requests(chance: random.Random) -> Iterator[tuple[int, str]]:
    """Yield (time in seconds, line) without end, in order of time."""
    pages = [f"/{SECTIONS[i % len(SECTIONS)]}/page-{i}.html" for i in range(500)]
    visitors = [f"10.{i // 256}.{i % 256}.{chance.randrange(1, 255)}" for i in range(2000)]
    page_weights, visitor_weights = _zipf(len(pages), 1.1), _zipf(len(visitors), 0.9)
    scans: list[tuple[float, str]] = []
    now = float(START)
    while True:
        rush = 1.2 + math.sin((now - START) / 86_400 * 2 * math.pi - math.pi / 2)
        now += chance.expovariate(0.1 * rush)
        while scans and scans[-1][0] <= now:
            time, scanner = scans.pop()
            yield int(time), _line(chance, time, scanner, f"/wp-admin/{chance.randrange(1000)}.php", 404)
        visitor = chance.choices(visitors, cum_weights=visitor_weights)[0]
        page = chance.choices(pages, cum_weights=page_weights)[0]
        status = chance.choices(STATUSES, STATUS_WEIGHTS)[0]
        yield int(now), _line(chance, now, visitor, page, status)
        if not scans and chance.random() < 0.002:
            scanner = f"203.0.113.{chance.randrange(1, 255)}"
            times = (now + chance.uniform(0, 45) for _ in range(chance.randrange(3, 30)))
            scans = [(time, scanner) for time in sorted(times, reverse=True)]


def _line(chance: random.Random, time: float, visitor: str, page: str, status: int) -> str:
    stamp = datetime.fromtimestamp(int(time), UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    size = chance.randrange(200, 50_000) if status == 200 else "-"
    query = f"?utm={chance.randrange(10)}" if chance.random() < 0.05 else ""
    line = (
        f'{visitor} - - [{stamp}] "GET {page}{query} HTTP/1.1" {status} {size} "-" "{chance.choice(AGENTS)}"'
    )
    return (line[: chance.randrange(10, 60)] if chance.random() < 0.0005 else line) + "\n"


def _zipf(count: int, exponent: float) -> list[float]:
    return list(itertools.accumulate(1 / rank**exponent for rank in range(1, count + 1)))


def main() -> None:
    """Run the command line: write a log."""
    parser = argparse.ArgumentParser(
        description="Writes a web server's access log, the same for the same seed."
    )
    parser.add_argument("file", type=Path, help="where to write it; gzipped if the name ends in .gz")
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    write(arguments.file, arguments.lines, arguments.seed)


if __name__ == "__main__":
    main()

"""The README's table and picture of SQL, made from the stored figures: the lines between two marks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bench.nexmark.report import PICTURE
from bench.part import Runs
from bench.summary import SUMMARIES
from bench.tables import table

BEGIN: Final = "<!-- figures of `./run bench`, written by it -->"
END: Final = "<!-- end of the figures -->"
PARTS: Final = ("nexmark", "tpch", "tpch-10", "nexmark-growth", "nexmark-latency", "joins")


def filled(readme: str, runs: Mapping[str, Runs]) -> str:
    """Return the README with the figures of the parts that were measured, by name.

    >>> filled(f"before\\n{BEGIN}\\nold\\n{END}\\nafter\\n", {})
    'before\\n<!-- figures of `./run bench`, written by it -->\\n<!-- end of the figures -->\\nafter\\n'
    """
    before, _, rest = readme.partition(f"{BEGIN}\n")
    _, _, after = rest.partition(f"{END}\n")
    figures = "".join(f"{line}\n" for line in _lines(runs))
    return f"{before}{BEGIN}\n{figures}{END}\n{after}"


def _lines(runs: Mapping[str, Runs]) -> list[str]:
    rows = [row[:3] for part in PARTS for row in SUMMARIES[part](runs.get(part, {}))]
    if not rows:
        return []
    lines = ["", *table(["SQL", "Measured", "Aim"], rows), ""]
    if runs.get("nexmark"):
        lines += [f"![Times Flink's rate, by query of Nexmark](docs/images/{PICTURE})", ""]
    return lines

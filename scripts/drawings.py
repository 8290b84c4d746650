"""Writes what is drawn from code into docs/: the state machine of a job into architecture.md, patterns into images/.

Usage: python scripts/drawings.py [PAGE]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from firesteel.cep import AfterMatchSkipStrategy, Pattern
from firesteel.common import Duration
from firesteel.control.transitions import drawing

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "architecture.md"
_DRAWN = re.compile(r"```mermaid\nstateDiagram-v2\n.*?\n```", re.DOTALL)


def price_drop() -> Pattern:
    """Return the pattern of docs/cep.md: a price above 100, and then two below 50."""
    drop = Pattern.begin("high", AfterMatchSkipStrategy.skip_past_last_event()).where(
        lambda price: price[1] > 100
    )
    drop = drop.followed_by("low").where(lambda price: price[1] < 50).times(2)
    return drop.within(Duration.of_seconds(10))


PICTURES = {"cep-drop.svg": price_drop}


def main() -> None:
    """Replace the drawing of a page by that of the table in `firesteel.control.transitions`, and write the pictures."""
    page = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    text, count = _DRAWN.subn(lambda _: f"```mermaid\n{drawing()}\n```", page.read_text("utf-8"))
    if count != 1:
        sys.exit(f"{page} must have one drawing of a state machine; it has {count}")
    page.write_text(text, "utf-8")
    for name, pattern in PICTURES.items():
        (page.parent / "images" / name).write_text(pattern().explain("svg"), "utf-8")


if __name__ == "__main__":
    main()

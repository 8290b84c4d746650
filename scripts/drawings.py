"""Writes what is drawn from code into docs/architecture.md: the state machine of a job.

Usage: python scripts/drawings.py [PAGE]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from firesteel.control.transitions import drawing

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
_DRAWN = re.compile(r"```mermaid\nstateDiagram-v2\n.*?\n```", re.DOTALL)


def main() -> None:
    """Replace the drawing of a page by that of the table in `firesteel.control.transitions`."""
    page = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    text, count = _DRAWN.subn(lambda _: f"```mermaid\n{drawing()}\n```", page.read_text("utf-8"))
    if count != 1:
        sys.exit(f"{page} must have one drawing of a state machine; it has {count}")
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()

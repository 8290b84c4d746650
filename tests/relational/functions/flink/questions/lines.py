"""Questions that are written one a line."""

from __future__ import annotations


def lines(text: str) -> list[str]:
    """Return the lines of a block."""
    return [line.strip() for line in text.strip().splitlines()]

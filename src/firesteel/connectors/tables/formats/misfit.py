"""A record that is no row of the table's type."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Misfit:
    """`number` is its place among the records of the block, `text` what it says, `why` what is wrong."""

    number: int
    text: str
    why: str

"""What says which data a sink has stored beside the checkpoints."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredOutput:
    """Data that a writer stored: its name in the store, its size in bytes and its checksum."""

    name: str
    size: int
    checksum: str

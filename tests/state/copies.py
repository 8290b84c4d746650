"""What tests of working copies share."""

from __future__ import annotations

from firesteel.state.disk.copy import WorkingStore


def contents(store: WorkingStore, prefix: bytes = b"") -> list[tuple[bytes, bytes]]:
    with store.read() as reader:
        return list(reader.scan(prefix))

"""Programs that ask Flink are run by hand."""

from __future__ import annotations

collect_ignore_glob = ["windows/flink/ask_*.py"]

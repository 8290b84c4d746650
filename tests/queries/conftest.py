"""Programs for real Flink are no tests."""

from __future__ import annotations

collect_ignore_glob = ["flink/ask_*.py"]

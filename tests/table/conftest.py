"""The programs that ask real Flink need Flink; they are not collected."""

from __future__ import annotations

collect_ignore_glob = ["flink/ask_*.py", "queries/ask_*.py"]

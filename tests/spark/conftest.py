"""Tests of Firesteel on Spark itself."""

from __future__ import annotations

collect_ignore_glob = ["programs/*"]
"""Programs that tests run."""

"""The tag of a side output."""

from __future__ import annotations

from firesteel.functions.output_tag import OutputTag

__all__ = ["OutputTag"]

"""How Flink is asked about single messages: what it reads from bytes, and what bytes it writes."""

from __future__ import annotations

from typing import Any

REGISTRY = "http://registry"
"""Stands for the registry's address."""

Question = dict[str, Any]


def decode(form: str, columns: str, messages: list[bytes | None], **options: Any) -> Question:
    found = [None if message is None else message.hex() for message in messages]
    return {"ask": "decode", "format": form, "columns": columns, "messages": found, "options": options}


def encode(form: str, columns: str, rows: list[str], **options: Any) -> Question:
    pairs = [row if isinstance(row, list) else ["+I", row] for row in rows]
    return {"ask": "encode", "format": form, "columns": columns, "rows": pairs, "options": options}

"""A module beside the program, which imports it."""

from __future__ import annotations


def key_of(number: int) -> str:
    return f"key-{number % 7}"

"""The messages of the benchmark: JSON objects of 200 bytes, each made of its number.

This module is imported by the programs of all systems: it uses the standard library only.
"""

from __future__ import annotations

import random
import string
from typing import Final

SIZE: Final = 200
"""Bytes of a message."""

FIELDS: Final = (
    ("id", "BIGINT"),
    ("customer", "BIGINT"),
    ("price", "DOUBLE"),
    ("kind", "STRING"),
    ("paid", "BOOLEAN"),
    ("note", "STRING"),
)
"""The fields of a message, with their types in SQL."""

KINDS: Final = ("order", "refund", "visit", "question")
_CUSTOMERS: Final = 10_007
_TEXT: Final = "".join(random.Random(1).choices(string.ascii_lowercase, k=4 * SIZE))


def message(number: int) -> str:
    """Return a message, which is in ASCII.

    >>> message(7)[:80], len(message(7)), len(message(10**9))
    ('{"id":7,"customer":5398,"price":7.07,"kind":"question","paid":true,"note":"ucavl', 200, 200)
    """
    customer, kind = number * 7919 % _CUSTOMERS, KINDS[number % len(KINDS)]
    paid = "true" if number % 3 else "false"
    price = f"{number % 9973 * 1.01:.2f}"
    head = f'{{"id":{number},"customer":{customer},"price":{price},"kind":"{kind}","paid":{paid},"note":"'
    start = number % (3 * SIZE)
    return f'{head}{_TEXT[start : start + SIZE - len(head) - 2]}"}}'

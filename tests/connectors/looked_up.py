"""Functions that tables of the connector 'python' look rows up with."""

from __future__ import annotations

import asyncio
from typing import Any

import pyarrow as pa

from firesteel.common.types import Row

NAMES = {1: "ann", 2: "bob"}
RUNNING = {"now": 0, "most": 0}
ASKED: list[int] = []
NO_FUNCTION = "text"


def a_dict(k: int) -> dict[str, Any] | None:
    return {"s": NAMES[k], "k": k} if k in NAMES else None


def a_row(k: int) -> Row:
    return Row(s=NAMES.get(k), k=k)


def tuples(k: int) -> list[tuple[int, str]]:
    return [(k, name) for name in (NAMES[k], NAMES[k].upper())] if k in NAMES else []


def of_two(k: int, s: str) -> tuple[int, str] | None:
    return (k, s) if NAMES.get(k) == s else None


def of_many(keys: list[tuple[int]]) -> list[Any]:
    return [a_dict(k) for (k,) in keys]


def too_few(keys: list[tuple[int]]) -> list[Any]:
    return []


def wrong(k: int) -> dict[str, Any]:
    return {"k": k}


def of_arrow(keys: pa.RecordBatch) -> pa.Table:
    wanted = set(keys["k"].to_pylist())
    return pa.table({"s": [*NAMES.values(), "zed"], "k": [*NAMES, max(wanted) + 7]})


def appearing(k: int) -> dict[str, Any] | None:
    ASKED.append(k)
    return {"k": k, "s": "there"} if ASKED.count(k) > 2 else None


async def later(k: int) -> tuple[int, str]:
    RUNNING["now"] += 1
    RUNNING["most"] = max(RUNNING.values())
    await asyncio.sleep(0)
    RUNNING["now"] -= 1
    return k, str(k)


async def never(k: int) -> None:
    await asyncio.Event().wait()

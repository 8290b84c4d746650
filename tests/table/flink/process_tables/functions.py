"""The functions of AskProcessTables.java in Python."""

from __future__ import annotations

from typing import Any

from firesteel.common.types import Row, RowKind
from firesteel.table import ChangelogMode
from firesteel.table.process_tables import (
    ArgumentHint,
    ArgumentTrait,
    ChangelogFunction,
    ProcessTableFunction,
    udptf,
)

SET, ROW = ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.ROW_SEMANTIC_TABLE
UPDATES, OPTIONAL = ArgumentTrait.SUPPORT_UPDATES, ArgumentTrait.OPTIONAL_PARTITION_BY
BEFORE, ON_TIME = ArgumentTrait.REQUIRE_UPDATE_BEFORE, ArgumentTrait.REQUIRE_ON_TIME
PASS = ArgumentTrait.PASS_COLUMNS_THROUGH
COUNTED = {"seen": "ROW<n BIGINT>"}


class Counting(ProcessTableFunction):
    def eval(self, ctx: Any, seen: Any, r: Any) -> Any:
        seen["n"] = (seen["n"] or 0) + 1
        yield f"{r['v']} is {seen['n']}"


class Kinds(ProcessTableFunction):
    def eval(self, ctx: Any, r: Any) -> Any:
        kinds = ctx.table_semantics_for("r").changelog_mode().kinds
        mode = "".join(str(kind) for kind in RowKind if kind in kinds)
        yield f"{r.get_row_kind()} {r[1]} {mode}"


class Sorted(ProcessTableFunction):
    def eval(self, ctx: Any, r: Any) -> Any:
        table = ctx.table_semantics_for("r")
        keys = zip(table.order_by_columns(), table.order_by_directions(), strict=True)
        yield f"{r['v']}{''.join(f' {column} {way.name}' for column, way in keys)}"


class SortedLater(ProcessTableFunction):
    def eval(self, ctx: Any, r: Any) -> Any:
        time = ctx.time_context()
        time.register_on_time(time.time() + 2000, "later")
        yield f"{r['v']} at {time.time() % 100000}"

    def on_timer(self, ctx: Any) -> Any:
        yield f"{ctx.current_timer()} at {ctx.time_context().time() % 100000}"


class Upserting(ProcessTableFunction, ChangelogFunction):
    def eval(self, ctx: Any, seen: Any, r: Any) -> Any:
        if r["v"] < 0:
            yield Row.of_kind(RowKind.DELETE, seen["n"])
            seen["n"] = None
        else:
            kind = RowKind.INSERT if seen["n"] is None else RowKind.UPDATE_AFTER
            seen["n"] = (seen["n"] or 0) + 1
            yield Row.of_kind(kind, seen["n"])

    def get_changelog_mode(self, changelog_context: Any) -> ChangelogMode:
        return ChangelogMode.upsert()


class Retracting(ProcessTableFunction, ChangelogFunction):
    def eval(self, ctx: Any, seen: Any, r: Any) -> Any:
        if seen["n"] is None:
            seen["n"] = 1
            yield Row.of_kind(RowKind.INSERT, 1)
            return
        if RowKind.UPDATE_BEFORE in ctx.get_changelog_mode().kinds:
            yield Row.of_kind(RowKind.UPDATE_BEFORE, seen["n"])
        seen["n"] += 1
        yield Row.of_kind(RowKind.UPDATE_AFTER, seen["n"])

    def get_changelog_mode(self, changelog_context: Any) -> ChangelogMode:
        return ChangelogMode.all()


class Adapting(Retracting):
    def get_changelog_mode(self, changelog_context: Any) -> ChangelogMode:
        before = RowKind.UPDATE_BEFORE in changelog_context.get_required_changelog_mode().kinds
        return ChangelogMode.all() if before else ChangelogMode.upsert()


class Lying(ProcessTableFunction):
    def eval(self, ctx: Any, r: Any) -> Any:
        yield Row.of_kind(RowKind.UPDATE_AFTER, 1)


class Updating(ProcessTableFunction, ChangelogFunction):
    def eval(self, ctx: Any, r: Any) -> Any:
        yield "x"

    def get_changelog_mode(self, changelog_context: Any) -> ChangelogMode:
        return ChangelogMode.all()


class Passing(ProcessTableFunction):
    def eval(self, ctx: Any, r: Any) -> Any:
        yield f"x{r['v']}"


class Optional(ProcessTableFunction):
    def eval(self, ctx: Any, r: Any, factor: Any, word: Any, part: Any) -> Any:
        shown = ("null" if value is None else str(value) for value in (factor, word, part))
        yield f"{r['v']} {' '.join(shown)}"


class Describing(ProcessTableFunction):
    def eval(self, ctx: Any, first: Any, second: Any, third: Any) -> Any:
        lists = (None if names is None else f"[{', '.join(names)}]" for names in (first, second, third))
        yield " ".join("null" if names is None else names for names in lists)


class Generating(ProcessTableFunction):
    def eval(self, ctx: Any, count: int) -> Any:
        return [f"row {number}" for number in range(count)]


class Pairing(ProcessTableFunction):
    def eval(self, ctx: Any, last: Any, a: Any, b: Any) -> Any:
        if a is not None:
            last["a"] = str(a["v"])
        else:
            last["b"] = str(b[1])


_COUNT = "ROW<n BIGINT>"
FUNCTIONS = [
    udptf(Counting(), {"r": SET}, "STRING", COUNTED),
    udptf(Kinds(), {"r": [SET, UPDATES, OPTIONAL]}, "STRING"),
    udptf(Kinds(), {"r": [SET, UPDATES, BEFORE]}, "STRING", name="BothKinds"),
    udptf(Kinds(), {"r": [ROW, UPDATES]}, "STRING", name="RowKinds"),
    udptf(Sorted(), {"r": [SET, OPTIONAL]}, "STRING"),
    udptf(SortedLater(), {"r": [SET, ON_TIME]}, "STRING"),
    udptf(Upserting(), {"r": SET}, _COUNT, COUNTED),
    udptf(Retracting(), {"r": SET}, _COUNT, COUNTED),
    udptf(Adapting(), {"r": SET}, _COUNT, COUNTED),
    udptf(Lying(), {"r": SET}, _COUNT),
    udptf(Updating(), {"r": ROW}, "STRING"),
    udptf(Passing(), {"r": [SET, PASS]}, "STRING"),
    udptf(
        Optional(),
        {
            "r": SET,
            "factor": ArgumentHint("INT", is_optional=True),
            "word": "STRING",
            "part": ArgumentHint("DOUBLE", is_optional=True),
        },
        "STRING",
    ),
    udptf(
        Describing(),
        {
            "first": "DESCRIPTOR",
            "second": ArgumentHint("DESCRIPTOR", is_optional=True),
            "third": "DESCRIPTOR NOT NULL",
        },
        "STRING",
    ),
    udptf(Generating(), {"count": "INT"}, "STRING"),
    udptf(Pairing(), {"a": SET, "b": SET}, "STRING", {"last": "ROW<a STRING, b STRING>"}),
]

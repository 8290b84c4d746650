"""Calls of process table functions: changes, order, time to live, arguments, the Table API, Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import ProgramError
from firesteel.common.typeinfo import Types
from firesteel.common.types import Row, RowKind
from firesteel.control import EpochStats, JobHandle
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.table import (
    ChangelogMode,
    EnvironmentSettings,
    Schema,
    StreamTableEnvironment,
    TableEnvironment,
)
from firesteel.table.expressions import col, descriptor, lit
from firesteel.table.process_tables import (
    ArgumentHint,
    ArgumentTrait,
    ChangelogFunction,
    ProcessTableFunction,
    StateHint,
    udptf,
)
from firesteel.testing import ManualClock, executing
from tests.queries.interrupted import Start, killed, rescaled, run
from tests.queries.tables import table_of
from tests.queries.together import started, tables
from tests.recovery.sql.test_rescaling import Stopping
from tests.table.flink.process_tables.functions import FUNCTIONS, Counting, Optional, Pairing, Retracting

SET, UPDATES = ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES


class Latest(ProcessTableFunction, ChangelogFunction):
    """Gives the greatest value of a key that is not taken back, ten times."""

    def eval(self, ctx: Any, known: Any, last: Any, row: Any) -> Any:
        added = row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER)
        count = (known.get(row["n"]) or 0) + (1 if added else -1)
        known.put(row["n"], count) if count else known.remove(row["n"])
        old, last["v"] = last["v"], max(known.keys(), default=None)
        if old == last["v"]:
            return
        if last["v"] is None:
            yield Row.of_kind(RowKind.DELETE, old * 10)
        else:
            if old is not None:
                yield Row.of_kind(RowKind.UPDATE_BEFORE, old * 10)
            kind = RowKind.INSERT if old is None else RowKind.UPDATE_AFTER
            yield Row.of_kind(kind, last["v"] * 10)

    def get_changelog_mode(self, changelog_context: Any) -> ChangelogMode:
        return ChangelogMode.all()


class Sequence(ProcessTableFunction):
    """Numbers the rows of a set, and says whether their times never go back."""

    def eval(self, ctx: Any, last: Any, row: Any) -> Any:
        in_order = last["time"] is None or last["time"] <= row["v"]
        last["time"], last["n"] = row["v"], (last["n"] or 0) + 1
        yield last["n"], in_order


class Reminding(ProcessTableFunction):
    """Gives each row when it comes, and again three seconds later."""

    def eval(self, ctx: Any, row: Any) -> Any:
        time = ctx.time_context()
        time.register_on_time(time.time() + 3_000)
        yield "row"

    def on_timer(self, ctx: Any) -> Any:
        yield "again"


reminding = udptf(Reminding(), {"t": [SET, ArgumentTrait.REQUIRE_ON_TIME]}, "STRING", name="reminding")
latest = udptf(
    Latest(),
    {"t": [SET, UPDATES]},
    "ROW<most BIGINT>",
    {"known": "MAP<BIGINT, BIGINT>", "last": "ROW<v BIGINT>"},
    "latest",
)
sequence = udptf(
    Sequence(),
    {"t": SET},
    "ROW<n BIGINT, in_order BOOLEAN>",
    {"last": "ROW<`time` BIGINT, n BIGINT>"},
    "sequence",
)


def session() -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    rows = [("a", 1), ("b", 2), ("a", 3)]
    env.create_temporary_view("pairs", env.from_elements(rows, ["k", "v"]))
    env.create_temporary_view("words", env.from_elements([("a", "x"), ("c", "y")], ["k", "word"]))
    for function in (*FUNCTIONS, latest, sequence, reminding):
        env.create_temporary_system_function(function.signature.name, function)
    return env


def rows(env: TableEnvironment, query: str, **options: Any) -> list[tuple[Any, ...]]:
    with executing(**options):
        return sorted(table_of(env, query).elements(), key=str)


def plan(found: Any) -> str:
    text: str = found.explain()
    return text.partition("== Optimized Physical Plan ==")[2]


def test_from_call_is_a_call_in_sql() -> None:
    env = session()
    pairs, words = (env.from_path(name).partition_by(col("k")) for name in ("pairs", "words"))
    tree = env.from_call("Pairing", words.as_argument("b"), pairs.as_argument("a"))
    text = "SELECT * FROM Pairing(b => TABLE words PARTITION BY k, a => TABLE pairs PARTITION BY k)"
    assert plan(tree) == plan(env.sql_query(text))
    by_place = env.from_call("Optional", pairs.as_argument("r"), lit("w").as_argument("word"))
    named = "SELECT * FROM Optional(word => 'w', r => TABLE pairs PARTITION BY k)"
    assert plan(by_place) == plan(env.sql_query(named))
    with executing():
        found = env.from_call("Generating", lit(2)).to_pandas()
    assert found["EXPR$0"].tolist() == ["row 0", "row 1"]


def test_a_table_without_keys_is_an_argument() -> None:
    env = session()
    found = env.from_call("Kinds", env.from_path("pairs").as_argument("r"))
    assert plan(found) == plan(env.sql_query("SELECT * FROM Kinds(TABLE pairs)"))


def many() -> TableEnvironment:
    """A table whose rows come up to three seconds late, 200 of them, for seven keys."""
    streams = StreamExecutionEnvironment.get_execution_environment()
    env = StreamTableEnvironment.create(streams)
    pair = Types.ROW_NAMED(["v", "k"], [Types.LONG(), Types.LONG()])
    mixed = [Row(v, v % 7) for start in range(0, 200, 4) for v in reversed(range(start, start + 4))]
    schema = Schema.new_builder().column("v", "BIGINT").column("k", "BIGINT")
    schema.column_by_expression("ts", "TO_TIMESTAMP_LTZ(v, 0)").watermark("ts", "ts - INTERVAL '4' SECOND")
    given = env.from_data_stream(streams.from_collection(mixed, pair), schema.build())
    env.create_temporary_view("many", given)
    for function in (*FUNCTIONS, latest, sequence, reminding):
        env.create_temporary_system_function(function.signature.name, function)
    return env


def test_order_by_of_the_table_api_is_that_of_sql() -> None:
    env = many()
    sets = env.from_path("many").partition_by(col("k")).order_by(col("ts"), col("v").desc)
    text = "SELECT * FROM sequence(t => TABLE many PARTITION BY k ORDER BY (ts, v DESC))"
    assert plan(sets.process(sequence)) == plan(env.sql_query(text))
    timed = env.from_path("many").partition_by(col("k")).order_by(col("ts"))
    found = timed.process("SortedLater", descriptor("ts").as_argument("on_time"))
    text = "SELECT * FROM SortedLater(TABLE many PARTITION BY k ORDER BY ts, on_time => DESCRIPTOR(ts))"
    assert plan(found) == plan(env.sql_query(text))


LATEST = {
    "query": "SELECT most, COUNT(*) AS n FROM latest(t => TABLE summed PARTITION BY b) GROUP BY most",
}
ORDERED = {
    "query": "SELECT k, COUNT(*) AS n, MAX(n) AS m, MIN(CAST(in_order AS INT)) AS o FROM "
    "sequence(t => TABLE many PARTITION BY k ORDER BY ts) GROUP BY k",
}
TIMERS = {
    "query": "SELECT k, COUNT(*) AS n FROM "
    "reminding(TABLE many PARTITION BY k ORDER BY ts, on_time => DESCRIPTOR(ts)) GROUP BY k",
}
TOGETHER = [LATEST, ORDERED, TIMERS]


def counted() -> TableEnvironment:
    env = many()
    env.create_temporary_view(
        "summed", env.sql_query("SELECT k, k / 2 AS b, COUNT(*) AS n FROM many GROUP BY k")
    )
    return env


def check(found: list[Any]) -> None:
    """Compare the tables with what they must be: each count has come and gone, but for the last of each key."""
    size = {k: len(range(k, 200, 7)) for k in range(7)}
    most = Counter(max(size[k] for k in range(7) if k // 2 == b) * 10 for b in range(4))
    assert found[0] == Counter((str(value), str(count)) for value, count in most.items())
    assert found[1] == Counter((str(k), str(n), str(n), "1") for k, n in size.items())
    assert found[2] == Counter((str(k), str(2 * n)) for k, n in size.items())


@pytest.mark.parametrize("interrupted", [killed, rescaled])
def test_changes_and_order_survive(
    tmp_path: Path, interrupted: Callable[[Path, Start], None], capfd: pytest.CaptureFixture[str]
) -> None:
    interrupted(tmp_path, lambda: started(counted(), TOGETHER))
    check(tables(counted(), TOGETHER, capfd.readouterr().out))


NUMBERED = "SELECT k, n{} AS n FROM sequence(t => TABLE many PARTITION BY k ORDER BY ts, uid => 'mine')"


def test_a_savepoint_serves_another_query_around_the_call(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The state is found by its uid: rows go on with the numbers that they had before the query changed."""
    stop = Stopping(3, tmp_path / "savepoints")
    run(tmp_path / "first", lambda: started(many(), [{"query": NUMBERED.format("")}]), 2, stop)
    capfd.readouterr()
    changed = [{"query": NUMBERED.format(" * 10")}]

    def resumed() -> JobHandle:
        env = many()
        env.get_config().set("execution.state-recovery.path", stop.savepoint)
        return started(env, changed)

    run(tmp_path / "second", resumed, 3, lambda handle, stats: None)
    (found,) = tables(many(), changed, capfd.readouterr().out)
    numbers = {(int(k), int(n) // 10) for k, n in found.elements()}
    size = {k: len(range(k, 200, 7)) for k in range(7)}
    for k in size:
        given = sorted(n for other, n in numbers if other == k)
        assert given == [*range(given[0], size[k] + 1)]
    assert any((k, 1) not in numbers for k in size)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(("parallelism", "epoch_records"), [(1, 1000), (2, 1000), (3, 60)])
def test_on_spark(parallelism: int, epoch_records: int, capfd: pytest.CaptureFixture[str]) -> None:
    with executing("spark", parallelism=parallelism, epoch_records=epoch_records):
        env = counted()
        started(env, TOGETHER).wait()
    check(tables(env, TOGETHER, capfd.readouterr().out))


class _Passing:
    """Lets ten seconds pass with each epoch."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock

    def on_epoch(self, stats: EpochStats) -> None:
        self._clock.advance(10_000)


@pytest.mark.parametrize(
    ("hint", "session_ttl", "counted_up_to"),
    [
        (StateHint("ROW<n BIGINT>", ttl="25 s"), None, 1),
        (StateHint("ROW<n BIGINT>"), "25 s", 1),
        (StateHint("ROW<n BIGINT>", ttl="0"), "25 s", 3),
        ("ROW<n BIGINT>", None, 3),
    ],
)
def test_state_lives_as_long_as_is_said(hint: Any, session_ttl: str | None, counted_up_to: int) -> None:
    """The rows of a key come at 0, 10 and 60 seconds: the last one finds what is there for longer than 50 seconds."""
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    if session_ttl is not None:
        env.get_config().set("table.exec.state.ttl", session_ttl)
    given = [("a", 1), ("a", 2), *[("b", 0)] * 4, ("a", 3)]
    table = env.from_elements(given, ["k", "v"])
    counting = udptf(Counting(), {"r": SET}, "STRING", {"seen": hint})
    clock = ManualClock(1_000_000)
    with executing(parallelism=1, epoch_records=1, clock=clock, listener=_Passing(clock)):
        found = table.partition_by(col("k")).process(counting).to_pandas()
    last = found[found["k"] == "a"]["EXPR$0"].tolist()[-1]
    assert last == f"3 is {counted_up_to}"


class Silent(Retracting):
    """Says nothing that is a mode."""

    def get_changelog_mode(self, changelog_context: Any) -> Any:
        return "all"


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (
            lambda: udptf(Counting(), {"r": [SET, ArgumentTrait.REQUIRE_UPDATE_BEFORE]}, "INT"),
            "requires SUPPORT_UPDATES for the argument r",
        ),
        (
            lambda: udptf(Counting(), {"r": [SET, UPDATES, ArgumentTrait.PASS_COLUMNS_THROUGH]}, "INT"),
            "requires a table of inserts for PASS_COLUMNS_THROUGH",
        ),
        (
            lambda: udptf(Optional(), {"r": SET, "n": ArgumentHint("INT NOT NULL", is_optional=True)}, "INT"),
            "requires a type with NULL for the optional argument n",
        ),
        (
            lambda: udptf(Counting(), {"r": SET}, "INT", {"seen": StateHint("ROW<n INT>", ttl="soon")}),
            "requires a duration as the ttl of the state seen",
        ),
        (
            lambda: udptf(Pairing(), {"a": SET, "b": ArgumentTrait.ROW_SEMANTIC_TABLE}, "INT"),
            "for several tables",
        ),
    ],
)
def test_a_wrong_declaration_is_refused(make: Any, part: str) -> None:
    with pytest.raises(ProgramError, match=part):
        make()


def test_a_function_says_its_changes_with_a_mode() -> None:
    env = session()
    silent = udptf(Silent(), {"r": SET}, "BIGINT", {"seen": "ROW<n BIGINT>"})
    with pytest.raises(ProgramError, match="requires a ChangelogMode"):
        env.from_path("pairs").partition_by(col("k")).process(silent).explain()

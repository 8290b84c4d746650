"""The partial matches of MATCH_RECOGNIZE, as of a kept epoch, and of a savepoint's copy of it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from firesteel.cep import PartialMatch, partial_matches
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.saved.inspection import SavedState
from firesteel.table import StreamTableEnvironment
from firesteel.testing import executing

pytestmark = pytest.mark.usefixtures("machine")

SECOND = 1000
START = 1_577_836_800_000
"""2020-01-01, the time of the first row."""

RISE = """PARTITION BY shop ORDER BY ts MEASURES low.price AS p, high.price AS h PATTERN (low high last_)
    DEFINE low AS low.price < 10, high AS high.price > 90"""
PRICES = [("tea", 5), ("cup", 3), ("tea", 95), ("pot", 50), ("jar", 9), ("jar", 8)]


def run(
    directory: Path,
    rows: Sequence[tuple[str, Any]],
    clauses: str,
    *,
    price: str = "INT",
    parallelism: int = 2,
) -> str:
    """Look for a pattern in prices of consecutive seconds; return the state directory of the job."""
    lines = [
        {
            "shop": shop,
            "price": value,
            "day": f"2020-01-{place % 28 + 1:02d}",
            "ts": f"2020-01-01 {place // 3600:02d}:{place // 60 % 60:02d}:{place % 60:02d}",
        }
        for place, (shop, value) in enumerate(rows)
    ]
    (directory / "rows").mkdir(parents=True)
    (directory / "rows" / "prices.json").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    state = str(directory / "state")
    with executing(state_dir=state, parallelism=parallelism, epoch_records=100):
        env = StreamExecutionEnvironment.get_execution_environment()
        tables = StreamTableEnvironment.create(env)
        tables.execute_sql(
            f"CREATE TABLE prices (shop STRING, price {price}, `day` DATE, ts TIMESTAMP(3), "
            "WATERMARK FOR ts AS ts) "
            f"WITH ('connector' = 'filesystem', 'path' = '{directory / 'rows'}', 'format' = 'json')"
        )
        found = tables.sql_query(f"SELECT * FROM prices MATCH_RECOGNIZE ({clauses})")
        tables.to_data_stream(found).print()
        env.execute("prices")
    return state


def pattern_of(directory: str) -> str:
    """Return the id of the operator that looks for a pattern."""
    operators = SavedState.open(directory).operators()
    (found,) = [each.id for each in operators if any(one.name == "matches" for one in each.arrangements)]
    return found


def matches(directory: str, key: Any = None) -> list[PartialMatch]:
    return partial_matches(directory, pattern_of(directory), key)


@pytest.fixture
def look(firesteel: Callable[..., Any]) -> Callable[..., str]:
    def look(*arguments: Any) -> str:
        done = firesteel("state", "matches", *arguments)
        assert done.exit_code == 0, done.output
        return str(done.stdout)

    return look


def test_keys_have_what_they_wait_for_with_rows_by_variable(tmp_path: Path) -> None:
    directory = run(tmp_path, PRICES, RISE)
    low, high = {"low": [{"price": 5}]}, {"high": [{"price": 95}]}
    tea = PartialMatch("tea", "last_", START, START + 2 * SECOND, low | high)
    cup = PartialMatch("cup", "high", START + SECOND, START + SECOND, {"low": [{"price": 3}]})
    # A row that is not high ends the match that began with the row before it.
    jar = PartialMatch("jar", "high", START + 5 * SECOND, START + 5 * SECOND, {"low": [{"price": 8}]})
    assert [matches(directory, key) for key in ("tea", "cup", "jar")] == [[tea], [cup], [jar]]
    assert matches(directory, "pot") == matches(directory, 5) == matches(directory, ("tea", 5)) == []
    assert sorted(matches(directory), key=lambda match: match.start) == [tea, cup, jar]


def test_the_command_line_shows_them(tmp_path: Path, look: Callable[..., str]) -> None:
    directory = run(tmp_path, PRICES, RISE)
    operator = pattern_of(directory)
    assert look(directory, operator, "--key", "cup").splitlines()[1].split(maxsplit=4) == [
        *("cup", "high", str(START + SECOND), str(START + SECOND), "low: {'price': 3}"),
    ]
    (found,) = json.loads(look(directory, operator, "--key", "cup", "--json"))
    assert (found["waits_for"], found["events"]) == ("high", {"low": [{"price": 3}]})
    assert look(directory, operator, "--key", "pot") == "nothing at key pot\n"


@pytest.mark.parametrize("rows", [100, 700])
def test_a_long_match_has_all_its_rows(tmp_path: Path, rows: int) -> None:
    """More than a few hundred rows are stored one by one."""
    clauses = """PARTITION BY shop ORDER BY ts MEASURES SUM(up.price) AS s, LAST(up.ts) AS t
        PATTERN (start_ up* down) DEFINE start_ AS start_.price = 0, up AS up.price > 0, down AS down.price < 0"""
    prices = [(shop, price) for price in range(rows) for shop in ("tea", "cup")] + [("pot", 0)]
    directory = run(tmp_path, prices, clauses)
    for number, shop in enumerate(("tea", "cup")):
        (match,) = matches(directory, shop)
        assert [row["price"] for row in match.events["up"]] == [*range(1, rows)]
        assert [row["price"] for row in match.events["start_"]] == [0]
        assert match.last == START + (2 * (rows - 1) + number) * SECOND
        assert match.events["up"][-1]["ts"] == dt.datetime.fromtimestamp(match.last / 1000, dt.UTC).replace(
            tzinfo=None
        )
    assert sorted(match.key for match in matches(directory)) == ["cup", "pot", "tea"]


def test_rows_have_their_types_and_keys_may_have_several_columns(tmp_path: Path) -> None:
    clauses = """PARTITION BY shop, `day` ORDER BY ts MEASURES a.price AS p, a.`day` AS d
        PATTERN (a b) DEFINE a AS a.price > 1.5"""
    directory = run(tmp_path, [("tea", 1.25), ("tea", 2.75)], clauses, price="DECIMAL(10, 2)")
    day = dt.date(2020, 1, 2)
    expected = PartialMatch(
        ("tea", day), "b", START + SECOND, START + SECOND, {"a": [{"price": Decimal("2.75"), "day": day}]}
    )
    assert matches(directory) == [expected]
    assert matches(directory, ("tea", "2020-01-02")) == [expected]
    for other in (("tea", "2020-01-01"), ("tea", "noon"), ("tea",), "tea", (5, "2020-01-02")):
        assert matches(directory, other) == []


def test_without_a_partition_all_rows_have_one_key(tmp_path: Path) -> None:
    directory = run(
        tmp_path, PRICES[:2], "ORDER BY ts MEASURES a.price AS p PATTERN (a b c) DEFINE b AS TRUE"
    )
    assert [(match.key, match.waits_for, match.events) for match in matches(directory)] == [
        (None, "c", {"a": [{"price": 5}], "b": [{"price": 3}]}),
        (None, "b", {"a": [{"price": 3}]}),
    ]

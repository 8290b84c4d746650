"""Calls with OVER give what they give in real Flink (see flink/ask_overs.py), in one epoch and in many."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.runtime.columns.over.flink.overs import COLUMNS, QUERIES, Mode, rows

ANSWERS: dict[tuple[str, str], dict[str, Any]] = {
    (line["mode"], line["over"]): line
    for line in map(json.loads, (Path(__file__).parent / "flink" / "overs.jsonl").read_text().splitlines())
}
WAYS: dict[Mode, dict[str, dict[str, Any]]] = {
    "streaming": {"many epochs": {"parallelism": 1, "epoch_records": 3}, "one epoch": {"parallelism": 1}},
    "batch": {"batch": {"parallelism": 2, "epoch_records": 5}},
}
QUICK = "many epochs"
DIFFERENT: dict[tuple[str, str], str] = {
    **{
        (
            "batch",
            (
                f"{call} OVER (PARTITION BY k ORDER BY {order} "
                "RANGE BETWEEN INTERVAL '6' SECOND PRECEDING AND CURRENT ROW)"
            ),
        ): "the code that Flink makes for a range of a TIMESTAMP does not compile"
        for call in ("SUM(b)", "COUNT(*)", "MAX(s)")
        for order in ("ts", "ts DESC")
    },
    **{
        (
            "batch",
            f"{call} OVER (PARTITION BY k ORDER BY n RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING)",
        ): "Flink's frame stays empty in partitions with a NULL"
        for call in ("SUM(b)", "COUNT(*)", "MAX(s)")
    },
    **{
        ("batch", f"{call} OVER (PARTITION BY k ORDER BY ts, id)"): "in BATCH mode, Flink cannot compute it"
        for call in ("LAG(a)", "LAG(n, id)", "LEAD(n, id)")
    },
    **{
        ("streaming", f"{call} OVER (PARTITION BY k ORDER BY n{frame})"): "in Flink, the job fails"
        for call in ("COUNT(DISTINCT b)", "ARRAY_AGG(b)", "FIRST_VALUE(b)", "LISTAGG(s)")
        for frame in ("", " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW")
        if frame or not call.startswith(("FIRST", "LISTAGG"))
    },
    ("streaming", "SUM(b) OVER (PARTITION BY k ORDER BY a)"): "arrays cannot be sorted by",
    **{
        ("streaming", f"{call}(DISTINCT n) OVER (PARTITION BY k ORDER BY ts {frame} AND CURRENT ROW)"): (
            "in Flink, a value keeps the place of an equal one that has left the frame since"
        )
        for call in ("ARRAY_AGG", "FIRST_VALUE")
        for frame in ("ROWS BETWEEN 2 PRECEDING", "RANGE BETWEEN INTERVAL '6' SECOND PRECEDING")
    },
}
"""Calls that have another answer on purpose, with the reason."""

REFUSED_BY_FLINK: frozenset[str] = frozenset(
    {
        *(
            f"{call} OVER (PARTITION BY k ORDER BY ts)"
            for call in (
                *("NTILE(2)", "NTILE(3)", "CUME_DIST()", "PERCENT_RANK()"),
                *("LEAD(n)", "LEAD(n, 2, -1)", "LEAD(s)", "LEAD(n, id)"),
            )
        ),
        *(f"SUM(n) OVER (PARTITION BY k{order})" for order in ("", " ORDER BY ts, id", " ORDER BY ts DESC")),
        *(
            f"{call}(b) OVER (PARTITION BY k ORDER BY n{more})"
            for call, more in (("LAG", ""), ("SUM", " DESC"))
        ),
        *(f"SUM(b) OVER (PARTITION BY k ORDER BY {order})" for order in ("n, id",)),
        *(
            f"SUM(b) OVER (PARTITION BY k ORDER BY n {frame})"
            for frame in (
                "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
                "RANGE BETWEEN 2 PRECEDING AND CURRENT ROW",
                "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            )
        ),
    }
)
"""What Flink refuses in STREAMING mode, and what has the answers of BATCH mode here."""


def environment(directory: Path, mode: str) -> TableEnvironment:
    (directory / "rows.json").write_text("\n".join(rows()) + "\n")
    env = TableEnvironment.create(getattr(EnvironmentSettings, f"in_{mode}_mode")())
    env.get_config().set("table.local-time-zone", "UTC")
    env.execute_sql(
        f"CREATE TABLE t ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{directory}', "
        "'format' = 'json', 'json.timestamp-format.standard' = 'SQL')"
    )
    return env


def answers(env: TableEnvironment, overs: list[str]) -> list[tuple[str, dict[str, str | None]]]:
    """Return the type of each column, and its values by id as texts; of what is refused together, halves are asked."""
    try:
        return answers_together(env, overs)
    except FiresteelError:
        if len(overs) == 1:
            raise
    env.drop_temporary_view("answered")
    half = len(overs) // 2
    return answers(env, overs[:half]) + answers(env, overs[half:])


def answers_together(env: TableEnvironment, overs: list[str]) -> list[tuple[str, dict[str, str | None]]]:
    columns = ", ".join(f"{over} AS r{number}" for number, over in enumerate(overs))
    env.create_temporary_view("answered", env.sql_query(f"SELECT id, {columns} FROM t"))
    with env.execute_sql("DESCRIBE answered").collect() as described:
        types = [f"{column[1]}{'' if column[2] else ' NOT NULL'}" for column in described][1:]
    casts = ", ".join(f"CAST(r{number} AS STRING)" for number in range(len(overs)))
    with env.execute_sql(f"SELECT id, {casts} FROM answered").collect() as results:
        found = {str(row[0]): list(row)[1:] for row in results}
    env.drop_temporary_view("answered")
    return [(kind, {key: row[place] for key, row in found.items()}) for place, kind in enumerate(types)]


def expected_of(line: dict[str, Any]) -> tuple[str, dict[str, str | None]]:
    """Return Flink's type and values; the results of LAG and LEAD with a default may be NULL, which it believes not."""
    kind, values = line["type"], line["values"]
    if re.match(r"(LAG|LEAD)\(.*,.*,", line["over"]) and kind.endswith(" NOT NULL"):
        return kind.removesuffix(" NOT NULL"), {key: text or None for key, text in values.items()}
    return kind, values


def plain(text: str | None, kind: str) -> str | None:
    """Return a value without what may differ: last digits of floating point numbers, the order within a multiset."""
    if text is not None and kind.startswith(("DOUBLE", "FLOAT")):
        return f"{float(text):.9g}"
    if text is not None and kind.startswith("MULTISET"):
        return ",".join(sorted(text[1:-1].split(", ")))
    return text


def without_marks(kind: str) -> str:
    """Return a type without the mark of time attributes, and without NOT NULL of an array, which Flink leaves out."""
    kind = kind.removesuffix(" *ROWTIME*")
    return kind.removesuffix(" NOT NULL") if kind.startswith("ARRAY") else kind


def cases() -> list[Any]:
    return [
        pytest.param(
            mode,
            way,
            overs,
            id=f"{way}-{overs[0]}",
            marks=[] if way == QUICK or not place % 8 else [pytest.mark.thorough],
        )
        for place, (mode, overs) in enumerate(QUERIES)
        for way in WAYS[mode]
        if any("values" in ANSWERS.get((mode, over), {}) for over in overs)
    ]


@pytest.mark.parametrize(("mode", "way", "overs"), cases())
def test_calls_answer_as_in_flink(mode: Mode, way: str, overs: tuple[str, ...], tmp_path: Path) -> None:
    given = {over: ANSWERS.get((mode, over), {}) for over in overs if (mode, over) not in DIFFERENT}
    asked = [over for over, line in given.items() if "values" in line]
    with executing("process", **WAYS[mode][way]):
        found = answers(environment(tmp_path, mode), asked) if asked else []
    wrong = {}
    for over, (kind, values) in zip(asked, found, strict=True):
        wanted, texts = expected_of(given[over])
        mine, expected = (
            {key: plain(text, kind) for key, text in found.items()} for found in (values, texts)
        )
        if without_marks(kind) != without_marks(wanted) or mine != expected:
            differing = {
                key: (mine.get(key), expected[key]) for key in expected if mine.get(key) != expected[key]
            }
            wrong[over] = kind, wanted, differing
    assert not wrong


@pytest.mark.parametrize(
    ("mode", "over"), [key for key, line in ANSWERS.items() if "error" in line], ids=lambda given: str(given)
)
def test_what_flink_refuses_is_refused(mode: str, over: str, tmp_path: Path) -> None:
    if (mode, over) in DIFFERENT:
        pytest.xfail(DIFFERENT[mode, over])
    if mode == "streaming" and over in REFUSED_BY_FLINK:
        with executing("process", parallelism=1, epoch_records=3):
            found, expected = (
                answers(environment(tmp_path, each), [over]) for each in ("streaming", "batch")
            )
        assert found == expected
        return
    with pytest.raises(FiresteelError), executing("process", parallelism=1):
        answers(environment(tmp_path, mode), [over])

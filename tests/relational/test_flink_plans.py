"""Plans beside those of real Flink: the nodes that keep or move rows, with their changelog modes, and what is refused.

`flink/plans.jsonl` has Flink's answers, which `flink/ask_plans.py` asked for. Calcs are not compared: where columns are
computed is a matter of taste. Neither are watermarks, which Flink keeps where nothing reads them, too. Ours has one
strategy for ORDER BY with LIMIT, which needs the old rows of updates where Flink may have another one that does not.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.functions.columns.connectors import ChangelogMode, TableSink
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.explaining import forest
from firesteel.relational.physical.planning import Connections
from firesteel.relational.planning import physical_plans
from firesteel.relational.sink_options import SinkOptions
from firesteel.relational.tables import ResolvedTable
from tests.relational.plans import NoSink, connections
from tests.sql.binding.catalogs import Catalog

HERE = Path(__file__).parent / "flink"
ANSWERS = [json.loads(line) for line in (HERE / "plans.jsonl").read_text().splitlines()]
MODES = {
    "app": ChangelogMode.inserts(),
    "pr": ChangelogMode.all(),
    "prpk": ChangelogMode.all(),
    "appk": ChangelogMode.inserts(),
}
NODE = re.compile(r"^[ :+-]*(\w+)\(.*?changelogMode=\[([\w,]+)\]", re.MULTILINE)
UPSERTS = re.compile(r"(?:upsertMaterialize|conflictStrategy)=\[\w+\]")
PASSED_OVER = {
    "Calc",
    "WatermarkAssigner",
    "LocalWindowAggregate",
    "UpdateBeforeToDelete",
    "ConstraintEnforcer",
}
REFUSED_HERE = {
    "SELECT a, TUMBLE_START(ts, INTERVAL '1' MINUTE), COUNT(*) FROM (SELECT a, ts, COUNT(*) FROM t GROUP BY a, ts) "
    "GROUP BY a, TUMBLE(ts, INTERVAL '1' MINUTE)": "requires a time attribute in TUMBLE",
    "FORCE INSERT INTO appk SELECT k, v FROM s": "takes inserts alone",
}
"""Flink takes the time of a group for a time attribute in GROUP BY, and gives updates to sinks that take none."""
PLANNED_HERE = {"SELECT a, SUM(b) OVER (PARTITION BY a ORDER BY ts DESC) FROM t": "OverAggregate"}
"""Flink's OVER has no descending order."""


def catalog() -> Catalog:
    made = Catalog()
    for statement in (HERE / "tables.sql").read_text().splitlines():
        made.create(statement)
    return made


CATALOG = catalog()


def sink(table: ResolvedTable) -> TableSink:
    name = table.identifier.name
    return TableSink(NoSink(), MODES.get(name, ChangelogMode.upserts()), adapts=name not in ("app", "appk"))


def planned(sql: str, options: dict[str, str] | None = None) -> str:
    plan = CATALOG.insert(sql) if sql.startswith("INSERT") else CATALOG.query(sql)
    connected = Connections(connections().source, sink)
    given = PlanOptions(two_phase=False, sinks=SinkOptions.of(options or {}))
    return forest(physical_plans([plan], given, connected), modes=True)


def nodes(plan: str) -> list[tuple[str, str]]:
    """Return the nodes from the root down.

    The two phases of windows are one, for ours have one. What materializes is a part of the sink in Flink.
    """
    without_phases = re.sub(
        r"\n[ :+-]*Exchange\([^\n]*\n[ :+-]*LocalWindowAggregate", "\n   LocalWindowAggregate", plan
    )
    without_phases = re.sub(r"\n[ :+-]*SinkMaterializer\([^\n]*\n[ :+-]*Exchange\([^\n]*", "", without_phases)
    found = []
    for name, mode in NODE.findall(without_phases):
        if name == "LocalWindowAggregate":
            found.append(("Exchange", mode))
        elif name not in PASSED_OVER:
            found.append((name.replace("GlobalWindow", "Window"), mode))
    return found


def name(answer: dict[str, Any]) -> str:
    values = answer.get("options", {}).values()
    return " ".join((*values, answer["sql"]))


@pytest.mark.parametrize(
    "answer", [given for given in ANSWERS if given["sql"].startswith("INSERT")], ids=name
)
def test_sinks_materialize_where_those_of_flink_do(answer: dict[str, Any]) -> None:
    if "plan" in answer and name(answer) not in REFUSED_HERE:
        plan = planned(answer["sql"], answer.get("options"))
        assert UPSERTS.findall(plan.split("\n")[0]) == UPSERTS.findall(answer["plan"].split("\n")[0])
        assert ("SinkMaterializer" in plan) == ("upsertMaterialize" in answer["plan"])


@pytest.mark.parametrize("answer", ANSWERS, ids=name)
def test_plans_have_the_nodes_and_modes_of_flink(answer: dict[str, Any]) -> None:
    if name(answer) in REFUSED_HERE:
        with pytest.raises(FiresteelError, match=REFUSED_HERE[name(answer)]):
            planned(answer["sql"], answer.get("options"))
    elif answer["sql"] in PLANNED_HERE:
        assert PLANNED_HERE[answer["sql"]] in planned(answer["sql"], answer.get("options"))
    elif "error" in answer:
        with pytest.raises(FiresteelError) as error:
            planned(answer["sql"], answer.get("options"))
        if "doesn't support consuming" in answer["error"]:
            expected = answer["error"].replace(", strategy=[UndefinedStrategy]", "")
            assert str(error.value).split("\n")[0].endswith(f" cannot run: {expected}")
    elif "UpdateFastStrategy" in answer["plan"]:
        names = [
            [name for name, _ in nodes(plan)]
            for plan in (planned(answer["sql"], answer.get("options")), answer["plan"])
        ]
        assert names[0] == names[1]
    else:
        assert nodes(planned(answer["sql"], answer.get("options"))) == nodes(answer["plan"])

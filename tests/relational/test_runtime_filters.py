"""In BATCH mode, rows that will have no partner in a small side are not aggregated or sent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.explaining import forest
from firesteel.relational.physical.grouping import GroupAggregate
from firesteel.relational.physical.joins import Join
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import Exchange
from firesteel.relational.physical.planning import Connections
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.planning import physical_plans
from tests.relational.plans import connections, sized
from tests.sql.binding.catalogs import small_catalog

Node = TypeVar("Node", bound=PhysicalNode)

CATALOG = small_catalog()
ROWS = {"s": 1_000, "part": 500, "t": 10_000_000}
GROUPS = "(SELECT a, SUM(b) AS total FROM t GROUP BY a)"
VALUES = {"a": 1_000_000}


def plans(*queries: str, connected: Connections | None = None, **options: Any) -> list[PhysicalNode]:
    given = PlanOptions(**{"batch": True, "most_everywhere": 1 << 20, **options})
    tables = connected or sized(ROWS, values=VALUES)
    return physical_plans([CATALOG.query(sql) for sql in queries], given, tables)


def plan(query: str, **options: Any) -> str:
    return forest(plans(query, **options))


def nodes(roots: Iterable[PhysicalNode], kind: type[Node]) -> list[Node]:
    """Return the nodes of a kind, each once."""
    found: dict[int, PhysicalNode] = {}
    waiting = [*roots]
    while waiting:
        node = waiting.pop()
        found[id(node)] = node
        waiting += node.inputs
    return [node for node in found.values() if isinstance(node, kind)]


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT s.c, g.total FROM s JOIN {GROUPS} AS g ON s.a = g.a",
        f"SELECT s.c, g.total FROM {GROUPS} AS g JOIN s ON s.a = g.a AND s.b < g.total",
        f"SELECT a, total FROM {GROUPS} AS g WHERE a IN (SELECT a FROM s)",
        "SELECT s.c FROM s WHERE b < (SELECT AVG(b) FROM t WHERE t.a = s.a)",
        "SELECT s.c, g.x FROM s JOIN (SELECT a + 1 AS y, a AS x, COUNT(*) AS n FROM t GROUP BY a) AS g ON s.a = g.x",
    ],
)
def test_rows_without_a_partner_are_not_aggregated(query: str) -> None:
    for two_phase in (True, False):
        found = plans(query, two_phase=two_phase)
        [sent] = [exchange for exchange in nodes(found, Exchange) if exchange.everywhere]
        *_, first = [one for one in nodes(found, GroupAggregate) if one.phase != "global"]
        partners = first.input if two_phase else first.input.inputs[0]
        assert isinstance(partners, Join)
        assert (partners.kind, partners.build, partners.row) == ("SEMI", 1, partners.left.row)
        assert partners.right is sent


@pytest.mark.parametrize(
    "query",
    [
        # Groups without a partner are in the result.
        f"SELECT s.c, g.total FROM {GROUPS} AS g LEFT JOIN s ON s.a = g.a",
        f"SELECT total FROM {GROUPS} AS g WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.a = g.a)",
        # What must be equal is no key of the groups, or comes of none of them.
        f"SELECT s.c FROM s JOIN {GROUPS} AS g ON s.a = g.total",
        "SELECT s.c FROM s JOIN (SELECT a + 1 AS x FROM t GROUP BY a) AS g ON s.a = g.x",
        "SELECT s.c FROM s JOIN (SELECT SUM(b) AS total FROM t) AS g ON s.a = g.total",
        # NULL has NULL as a partner here.
        f"SELECT s.c FROM s JOIN {GROUPS} AS g ON s.a IS NOT DISTINCT FROM g.a",
        # A join that nothing is aggregated for.
        "SELECT s.c FROM s JOIN t ON s.a = t.a",
    ],
)
def test_other_rows_are_aggregated(query: str) -> None:
    found = plan(query)
    assert "broadcast" in found
    assert "LeftSemiJoin" not in found


@pytest.mark.parametrize(
    ("connected", "most"),
    [
        (sized({**ROWS, "t": 100_000}, values={"a": 50_000}), 1 << 20),
        (sized({**ROWS, "t": 10_000_000}, values={"a": 1_500}), 1 << 20),
        (sized(ROWS), 1 << 20),
        (connections(), 1 << 60),
        (sized(ROWS, values=VALUES), 0),
    ],
    ids=["few rows", "most rows stay", "no values", "nothing known", "no small side"],
)
def test_a_filter_must_be_worth_it(connected: Connections, most: int) -> None:
    query = f"SELECT s.c, g.total FROM s JOIN {GROUPS} AS g ON s.a = g.a"
    assert "LeftSemiJoin" not in plan(query, connected=connected, most_everywhere=most)


def test_groups_that_another_part_reads_are_all_there() -> None:
    joined = f"SELECT s.c, g.total FROM s JOIN {GROUPS} AS g ON s.a = g.a"
    found = plans(joined, f"SELECT MAX(a), MAX(total) FROM {GROUPS} AS g")
    assert [one.kind for one in nodes(found, Join)] == ["INNER"]
    assert len([one for one in nodes(found, GroupAggregate) if one.aggregate.keys]) == 2


def test_what_one_filter_leaves_is_not_filtered_again() -> None:
    both = f"SELECT g.a FROM {GROUPS} AS g JOIN s ON s.a = g.a JOIN part ON part.a = g.a"
    assert plan(both).count("LeftSemiJoin") == 1


LARGE = sized({**ROWS, "bid": 5_000_000}, values={"a": 1_000_000, "b": 1_000_000, "auction": 1_000_000})
BIDS = "(SELECT s.b AS k, bid.bidder, bid.channel FROM s JOIN bid ON s.b = bid.auction)"
SOLD = "SELECT auction, channel FROM bid WHERE auction IN (SELECT b FROM s)"
MATCHED = "SELECT auction, channel FROM s JOIN bid ON s.b = auction"
ANY = "SELECT s.b AS k, bidder, auction FROM bid LEFT JOIN s ON s.b = auction"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT t.c, h.channel FROM {BIDS} AS h JOIN t ON t.b = h.k",
        f"SELECT t.c, h.channel FROM t JOIN {BIDS} AS h ON t.b = h.k AND t.c = h.channel",
        # The column of the large table that is equal to that of the small one will do.
        f"SELECT t.c, h.channel FROM ({MATCHED}) AS h JOIN t ON t.b = h.auction",
        f"SELECT t.c, h.channel FROM ({SOLD}) AS h JOIN t ON t.b = h.auction",
        "SELECT c FROM t WHERE EXISTS (SELECT 1 FROM bid, s WHERE auction = s.b AND t.b = auction AND t.c <> channel)",
    ],
)
def test_rows_are_not_sent_to_meet_what_has_met_a_small_side(query: str) -> None:
    found = plans(query, connected=LARGE, most_everywhere=50_000)
    [sent] = [exchange for exchange in nodes(found, Exchange) if exchange.everywhere]
    filters = [one for one in nodes(found, Join) if one.right is sent and reads(one.left) == ["t"]]
    assert [(one.kind, one.build, one.row) for one in filters] == [
        ("SEMI", 1, one.left.row) for one in filters
    ]
    assert len(filters) == 1


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT t.c, h.channel FROM {BIDS} AS h RIGHT JOIN t ON t.b = h.k",
        f"SELECT t.c, h.channel FROM {BIDS} AS h JOIN t ON t.b = h.bidder",
        f"SELECT t.c, h.bidder FROM ({ANY}) AS h JOIN t ON t.b = h.auction",
        f"SELECT t.c FROM t WHERE NOT EXISTS (SELECT 1 FROM {BIDS} AS h WHERE t.b = h.k AND t.c <> h.channel)",
    ],
)
def test_rows_are_sent_that_may_be_in_the_result(query: str) -> None:
    found = plans(query, connected=LARGE, most_everywhere=50_000)
    assert "broadcast" in forest(found)
    assert not [one for one in nodes(found, Join) if one.kind == "SEMI"]


def reads(root: PhysicalNode) -> list[str]:
    return [scan.table.identifier.name for scan in nodes([root], TableSourceScan)]

"""A compiled plan: what runs, as JSON, whatever later versions would make of the statement.

Contract: `StoredPlan.json` has each node once, below those that read it, with the text that plans show, and the ids of
the operators in the order in which `GraphWriter` adds them. Reading it connects the tables again, by the options that
the plan has; a table that the catalog knows must have the columns of the plan, and a function its types. Source:
Flink's CompiledPlan, with
'table.plan.compile.catalog-objects' and 'table.plan.restore.catalog-objects' at their default, ALL.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from firesteel import __version__
from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import ObjectIdentifier
from firesteel.functions.columns.python_functions import UserFunction
from firesteel.relational.physical.lookup_joins import LookupJoin
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.planning import Connections
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.physical.sinks import Sink, overwriting
from firesteel.relational.physical.vector_search import VectorSearchTableFunction
from firesteel.relational.stored.functions import CALLED, FunctionReader, FunctionWriter, Import
from firesteel.relational.stored.values import Json, Reader, Writer
from firesteel.relational.tables import ResolvedTable, delivery_order, shown_name

_FORMAT: Final = 1

Known = Callable[[ObjectIdentifier], ResolvedTable | None]
"""Finds a table in the catalogs."""


@dataclass(frozen=True)
class StoredPlan:
    """Plans that end in sinks, and the ids of their operators."""

    plans: tuple[PhysicalNode, ...]
    ids: tuple[str, ...]
    batch: bool

    @property
    def json(self) -> str:
        """Return the text of the plan's file. Raises ProgramError for plans that only their program can run."""
        nodes: list[Json] = []
        places: dict[int, int] = {}

        def node(found: object) -> Json:
            if isinstance(found, UserFunction):
                return called(found)
            if not isinstance(found, PhysicalNode):
                return None
            if id(found) not in places:
                content = write.content(found)
                places[id(found)] = len(nodes) + 1
                nodes.append({"id": places[id(found)], "description": found.text, "operator": content})
            return {"node": places[id(found)]}

        write = Writer(node)
        called = FunctionWriter(write)
        _require_tables(self.plans)
        plans = [write(plan) for plan in self.plans]
        document = {
            "firesteelVersion": __version__,
            "format": _FORMAT,
            "mode": "batch" if self.batch else "streaming",
            **({"functions": called.listed} if called.listed else {}),
            "nodes": nodes,
            "plans": plans,
            "operatorIds": list(self.ids),
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def stored_plan(text: str, who: str, connections: Connections, known: Known, imported: Import) -> StoredPlan:
    """Return the plan of a file's text. Raises ProgramError, which begins with `who`, if that is none."""
    try:
        document = json.loads(text)
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            raise ValueError("the file has no plan of this format")
        return _read(document, _Tables(connections, known, who), FunctionReader(imported, who))
    except (ValueError, KeyError, TypeError) as error:
        raise ProgramError(
            "requires a plan that COMPILE PLAN has made in this version",
            who=who,
            got=str(error),
            hint="compile the statement again; its state is found by its form",
        ) from error


def _read(document: Mapping[str, Json], tables: _Tables, functions: FunctionReader) -> StoredPlan:
    made: dict[int, PhysicalNode] = {}
    called: dict[int, UserFunction] = {}

    def node(reference: Mapping[str, Json]) -> object:
        return made[_number(reference["node"])]

    def function(reference: Mapping[str, Json]) -> object:
        return called[_number(reference[CALLED])]

    read = Reader({"node": node, CALLED: function})
    for place, definition in enumerate(_list(document.get("functions", [])), 1):
        if not isinstance(definition, dict):
            raise ValueError(f"no function: {definition}")
        called[place] = functions(definition, read)
    for entry in _list(document["nodes"]):
        if not isinstance(entry, dict):
            raise ValueError(f"no node: {entry}")
        found = read(entry["operator"])
        if not isinstance(found, PhysicalNode):
            raise ValueError(f"no operator: {entry}")
        made[_number(entry["id"])] = tables.connected(found)
    plans = tuple(made[_number(plan["node"])] for plan in _list(document["plans"]) if isinstance(plan, dict))
    ids = tuple(str(one) for one in _list(document["operatorIds"]))
    return StoredPlan(plans, ids, document["mode"] == "batch")


class _Tables:
    """Connects sources and sinks with their tables."""

    def __init__(self, connections: Connections, known: Known, who: str) -> None:
        self._connections = connections
        self._known = known
        self._who = who

    def connected(self, node: PhysicalNode) -> PhysicalNode:
        """Return a node that has been read, with its source or its sink."""
        if isinstance(node, TableSourceScan):
            return self._scan(node)
        if isinstance(node, LookupJoin | VectorSearchTableFunction):
            self._check(node.table)
            return node.connected(self._connections.lookup)
        if isinstance(node, Sink) and node.target is not None:
            self._check(node.target)
            sink = self._connections.sink(node.target)
            if node.overwrites:
                sink = overwriting(sink, node.title, batch=True)
            return replace(node, sink=sink)
        return node

    def _scan(self, node: TableSourceScan) -> TableSourceScan:
        table = node.table
        self._check(table)
        order = delivery_order(table.read)
        whole = TableSourceScan(table, order, self._connections.source(table), mode=node.mode)
        found = whole.like(node)
        if found is None:
            raise ProgramError(
                "requires a source that reads what the plan reads",
                who=self._who,
                got=f"table '{shown_name(table)}', whose connector reads others now",
                hint="compile the statement again",
            )
        return found

    def _check(self, table: ResolvedTable) -> None:
        """Require that the catalog, if it knows the table, has the columns of the plan."""
        current = self._known(table.identifier)
        if current is not None and current.columns != table.columns:
            raise ProgramError(
                f"requires table '{shown_name(table)}' with the columns ({_columns(table)})",
                who=self._who,
                got=f"({_columns(current)})",
                hint="compile the statement again, or give the table its former columns",
            )


def _require_tables(plans: Sequence[PhysicalNode]) -> None:
    """Refuse what only the program that made it can read: streams, and rows in memory."""
    for plan in plans:
        if isinstance(plan, TableSourceScan) and (plan.source is None or plan.table.source is not None):
            raise ProgramError(
                "requires tables of connectors",
                who="COMPILE PLAN",
                got=f"table '{shown_name(plan.table)}', which a program has made",
            )
        _require_tables(plan.inputs)


def _columns(table: ResolvedTable) -> str:
    return ", ".join(f"{column.name} {column.type}" for column in table.columns)


def _list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise ValueError(f"no list: {value}")
    return value


def _number(value: Json) -> int:
    if not isinstance(value, int):
        raise ValueError(f"no number: {value}")
    return value

"""The parts of a query that an earlier version of it had: they keep their operator ids, and so their state.

Parts are matched by their identities (`firesteel.graph.uids`): first those that do exactly the same, then the only one
of a form with the only one of that form, in which filters or computed columns have changed. A part that could be one of
several is none of them; `firesteel.control.program_check` then refuses the program if state would be lost. So a further
INSERT, or another order of INSERTs, changes nothing for the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from firesteel.checkpoint.manifest import Manifest
from firesteel.graph import Graph, Node
from firesteel.graph.uids import Identity, id_of_form


class _Kept(NamedTuple):
    """An operator of an earlier version."""

    id: str
    identity: Identity


def adopted(graph: Graph, manifest: Manifest | None) -> Graph:
    """Return the program with the operator ids of the state that it starts from (None: it starts without).

    Ids that the program gives itself stay.
    """
    if manifest is None:
        return graph
    parts = [node for node in graph.nodes if node.query_part is not None and node.uid_hash is None]
    kept: dict[str, list[_Kept]] = defaultdict(list)
    for operator_id, snapshot in manifest.operators.items():
        if snapshot.identity is not None:
            form, digest = snapshot.identity.form, snapshot.identity.digest
            kept[form].append(_Kept(operator_id, Identity(form, digest)))
    ids: dict[int, str] = {}
    for form, nodes in _by_form(graph, parts).items():
        ids |= dict(_matched(graph, nodes, kept[form]))
    taken = {*manifest.operators, *ids.values()}
    for node in parts:
        if node.id not in ids:
            ids[node.id] = _unused(graph.identities[node.id].form, taken)
            taken.add(ids[node.id])
    return graph.map_nodes(lambda node: replace(node, uid_hash=ids[node.id]) if node.id in ids else node)


def _by_form(graph: Graph, parts: Iterable[Node]) -> Mapping[str, list[Node]]:
    found: dict[str, list[Node]] = defaultdict(list)
    for node in parts:
        found[graph.identities[node.id].form].append(node)
    return found


def _matched(graph: Graph, nodes: Iterable[Node], kept: Iterable[_Kept]) -> Iterator[tuple[int, str]]:
    """Yield the ids of parts of one form that the earlier version had."""
    left = list(kept)
    others = []
    for node in nodes:
        same = next((one for one in left if one.identity == graph.identities[node.id]), None)
        if same is None:
            others.append(node)
        else:
            left.remove(same)
            yield node.id, same.id
    if len(left) == len(others) == 1:
        yield others[0].id, left[0].id


def _unused(form: str, taken: set[str]) -> str:
    ordinal = 0
    while (found := id_of_form(form, ordinal)) in taken:
        ordinal += 1
    return found

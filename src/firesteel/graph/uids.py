"""Stable operator ids, by which state, positions and committables are found when a program runs again.

An id is 32 hexadecimal digits. A `uid_hash` is used unchanged, and a `uid` is hashed. Without both, the id is a hash of
the operation's place in the graph (its kind and its inputs, back to the sources), as in Flink's StreamGraphHasherV2.
Such an id survives changes of functions, names and parallelism, but not of the operations upstream. Unlike Flink's, it
also survives changes in other branches. Operations in the same place are distinguished by their order.

The place of a part of a query, its *form*, has the `meaning` of operations and the names of tables, so that an
aggregate never takes the state of another for its own, and it has no operations that keep nothing, so that filters and
computed columns may come and go. Parts of the same form are told apart by their *digests*, which have everything: with
both, `firesteel.control.adopting` finds the parts of an earlier version of the program again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

from firesteel.common.errors import ProgramError
from firesteel.graph.nodes import Edge, Node

_DIGITS = frozenset("0123456789abcdef")


class Identity(NamedTuple):
    """What a part of a query is known by: hashes of its place in the query, and of all that it and its inputs do."""

    form: str
    digest: str


def operator_ids(nodes: Iterable[Node]) -> dict[int, str]:
    """Return the operator id of each node; `nodes` are in topological order.

    Raises ProgramError if two nodes have the same id, or a `uid_hash` is not 32 hexadecimal digits.
    """
    return _Places(nodes).ids


def identities(nodes: Iterable[Node]) -> dict[int, Identity]:
    """Return what the parts of queries among the nodes are known by; `nodes` are in topological order."""
    return _Places(nodes).identities


def id_of_form(form: str, ordinal: int) -> str:
    """Return the id of the part of a query that is the one of this number, from 0, of its form."""
    return _hash(f"{form}#{ordinal}")


def id_of_uid(uid: str) -> str:
    """Return the id of the operator with this uid.

    >>> id_of_uid("counts")
    'd66e9bf6a1b16a174ccbf8d7a49839c2'
    """
    return _hash(f"uid:{uid}")


class _Places:
    """The places of nodes, and what follows from them."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.ids: dict[int, str] = {}
        self.identities: dict[int, Identity] = {}
        self._origins: dict[int, str] = {}
        self._digests: dict[int, str] = {}
        self._seen: Counter[str] = Counter()
        self._owners: dict[str, Node] = {}
        for node in nodes:
            self._add(node)

    def _add(self, node: Node) -> None:
        part = node.query_part
        place = f"{_kind(node)}({_inputs(node, self._origins)})"
        key = place if part is None else _hash(place)
        ordinal, self._seen[key] = self._seen[key], self._seen[key] + 1
        self._origins[node.id] = own = id_of_form(key, ordinal)
        self._digests[node.id] = own
        if part is not None:
            self._origins[node.id] = _inputs(node, self._origins) if node.operation.keeps_nothing else key
            # Whoever reads the same rows of a table shares one source of all columns.
            reads = part.table and not node.inputs
            read = _hash(f"{key}{part.choice}") if part.choice else key
            done = read if reads else _hash(f"{part.text}({_inputs(node, self._digests)})")
            self._digests[node.id] = done
            self.identities[node.id] = Identity(key, done)
        chosen = _chosen(node) or own
        if chosen in self._owners:
            raise _collision(node, self._owners[chosen])
        self._owners[chosen] = node
        self.ids[node.id] = chosen


def _kind(node: Node) -> str:
    table = "" if node.query_part is None else node.query_part.table
    return f"{type(node.operation).__name__}{node.operation.meaning}{table}"


def _inputs(node: Node, known: dict[int, str]) -> str:
    return "|".join("+".join(sorted(_origin(edge, known) for edge in port)) for port in node.inputs)


def _origin(edge: Edge, known: dict[int, str]) -> str:
    side = "" if edge.side_output is None else f":{edge.side_output}"
    return f"{known[edge.source]}{side}"


def _chosen(node: Node) -> str | None:
    if node.uid_hash is not None:
        chosen = node.uid_hash.lower()
        if len(chosen) != 32 or not _DIGITS.issuperset(chosen):
            raise ProgramError(
                "requires a uid hash of 32 hexadecimal digits", who=node.who, got=repr(node.uid_hash)
            )
        return chosen
    return None if node.uid is None else id_of_uid(node.uid)


def _hash(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _collision(node: Node, other: Node) -> ProgramError:
    return ProgramError(
        "requires a uid that no other operation has",
        who=node.who,
        got=f"{node.uid or node.uid_hash!r}, which is also that of {other.who}",
        hint="give each operation its own uid",
    )

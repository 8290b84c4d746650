"""Stable operator ids, by which state, positions and committables are found when a program runs again.

An id is 32 hexadecimal digits. A `uid_hash` is used unchanged, and a `uid` is hashed. Without both, the id is a hash of
the operation's place in the graph (its kind and its inputs, back to the sources), as in Flink's StreamGraphHasherV2.
Such an id survives changes of functions, names and parallelism, but not of the operations upstream. Unlike Flink's, it
also survives changes in other branches, and it has the `meaning` of operations: an aggregate of a table never takes the
state of another for its own. Operations in the same place are distinguished by their order.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from firesteel.common.errors import ProgramError
from firesteel.graph.nodes import Edge, Node

_DIGITS = frozenset("0123456789abcdef")


def operator_ids(nodes: Iterable[Node]) -> dict[int, str]:
    """Return the operator id of each node; `nodes` are in topological order.

    Raises ProgramError if two nodes have the same id, or a `uid_hash` is not 32 hexadecimal digits.
    """
    places: dict[int, str] = {}
    seen: dict[str, int] = {}
    ids: dict[int, str] = {}
    owners: dict[str, Node] = {}
    for node in nodes:
        place = _place(node, places)
        ordinal = seen[place] = seen.get(place, -1) + 1
        places[node.id] = _hash(f"{place}#{ordinal}")
        chosen = _chosen(node) or places[node.id]
        if chosen in owners:
            raise _collision(node, owners[chosen])
        owners[chosen] = node
        ids[node.id] = chosen
    return ids


def id_of_uid(uid: str) -> str:
    """Return the id of the operator with this uid.

    >>> id_of_uid("counts")
    'd66e9bf6a1b16a174ccbf8d7a49839c2'
    """
    return _hash(f"uid:{uid}")


def _place(node: Node, places: dict[int, str]) -> str:
    ports = ("+".join(sorted(_origin(edge, places) for edge in port)) for port in node.inputs)
    return f"{type(node.operation).__name__}{node.operation.meaning}({'|'.join(ports)})"


def _origin(edge: Edge, places: dict[int, str]) -> str:
    side = "" if edge.side_output is None else f":{edge.side_output}"
    return f"{places[edge.source]}{side}"


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

"""The order of inner joins in which the fewest rows come out of them.

The cost of an order is the number of rows of all its joins together: each is sent on and kept by the next join (C_out;
Cluet and Moerkotte, 1995; Leis et al.: How Good Are Query Optimizers, Really?, VLDB 2015). A join without an equality
is put off as long as there is another, because it has one subtask. Up to a number of relations all trees are looked
at, from small sets of relations to large ones (dynamic programming; Selinger et al. 1979, for bushy trees), which takes
3^n steps. Above it, those two trees are joined again and again whose join has the fewest rows (greedy operator
ordering; Fegaras, 1998). Flink's second way has left-deep trees only (LoptOptimizeJoinRule). Here both sides of a join
are kept anyway, so nothing is won by that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations
from math import prod
from typing import NamedTuple

Tree = int | tuple["Tree", "Tree"]
"""A relation by its number, or a join of two trees."""


class Link(NamedTuple):
    """A condition between relations, which are bits of a mask: an equality of something of two sides, or another one.

    `share` is how many of the pairs of rows it lets pass. `keys` are the numbers of the values that it says are equal,
    each with the share that it lets pass alone: values of one number are all equal to each other, so of those that
    others make equal already it lets all pass. Those that are written come before one that `follows` from them.
    """

    sides: tuple[int, int]
    share: float
    equality: bool = True
    keys: tuple[tuple[int, float], ...] = ()
    follows: bool = False

    @property
    def relations(self) -> int:
        """Return the relations of both sides."""
        return self.sides[0] | self.sides[1]


class Cost(NamedTuple):
    """How many joins have no equality, and how many rows come out of all joins."""

    crossings: int
    rows: float


class JoinOrders:
    """The orders of joins of relations with so many rows each.

    >>> orders = JoinOrders([1000, 1000, 10], [Link((1, 2), 0.1), Link((2, 4), 0.001)])
    >>> orders.best(most=12)
    (0, (1, 2))
    >>> orders.cost(((0, 1), 2)), orders.cost((0, (1, 2)))
    (Cost(crossings=0, rows=101000.0), Cost(crossings=0, rows=1010.0))
    """

    def __init__(self, rows: Sequence[float], links: Sequence[Link]) -> None:
        links = sorted(links, key=lambda link: (link.follows, -link.share))
        self._count = len(rows)
        equalities = [link.sides for link in links if link.equality]

        @cache
        def size(mask: int) -> float:
            given = prod(one for place, one in enumerate(rows) if mask >> place & 1)
            return max(given * _passing(link for link in links if not link.relations & ~mask), 1.0)

        @cache
        def within(mask: int) -> tuple[int, int]:
            """Return which equalities have their first, and their second side in some relations."""
            first, second = (
                sum(1 << place for place, sides in enumerate(equalities) if not sides[side] & ~mask)
                for side in (0, 1)
            )
            return first, second

        self._size = size
        self._within = within

    def best(self, most: int) -> Tree:
        """Return the best order, by looking at all of them if there are at most so many relations."""
        return self._best_of_all() if self._count <= most else self._greedy()

    def cost(self, tree: Tree) -> Cost:
        """Return the cost of an order."""
        return self._weighed(tree)[1]

    def _weighed(self, tree: Tree) -> tuple[int, Cost]:
        if isinstance(tree, int):
            return 1 << tree, Cost(0, 0.0)
        (left, one), (right, other) = map(self._weighed, tree)
        rows = one.rows + other.rows + self._size(left | right)
        return left | right, Cost(one.crossings + other.crossings + self._crosses(left, right), rows)

    def _crosses(self, left: int, right: int) -> bool:
        (first, second), (third, fourth) = self._within(left), self._within(right)
        return not (first & fourth or second & third)

    def _best_of_all(self) -> Tree:
        found: dict[int, tuple[Cost, Tree]] = {
            1 << place: (Cost(0, 0.0), place) for place in range(self._count)
        }
        for mask in range(1, 1 << self._count):
            if mask not in found:
                left, cost = self._best_split(mask, found)
                one, other = found[left], found[mask ^ left]
                found[mask] = cost, (one[1], other[1])
        return found[(1 << self._count) - 1][1]

    def _best_split(self, mask: int, found: dict[int, tuple[Cost, Tree]]) -> tuple[int, Cost]:
        """Return which relations are on the left of the best join of some relations, the first of them among these."""
        first, best = mask & -mask, None
        rest = mask ^ first
        part, size = rest, self._size(mask)
        while part:
            part = part - 1 & rest
            left = first | part
            one, other = found[left][0], found[mask ^ left][0]
            crossings = one.crossings + other.crossings + self._crosses(left, mask ^ left)
            rows = one.rows + other.rows
            if best is None or (crossings, rows) < best[1]:
                best = left, (crossings, rows)
        assert best is not None
        return best[0], Cost(best[1][0], best[1][1] + size)

    def _greedy(self) -> Tree:
        trees: list[tuple[int, Tree]] = [(1 << place, place) for place in range(self._count)]
        while len(trees) > 1:
            left, right = min(
                combinations(trees, 2),
                key=lambda pair: (self._crosses(pair[0][0], pair[1][0]), self._size(pair[0][0] | pair[1][0])),
            )
            trees = [tree for tree in trees if tree not in (left, right)]
            trees.append((left[0] | right[0], (left[1], right[1])))
        return trees[0][1]


def _passing(links: Iterable[Link]) -> float:
    """Return the share of the rows that pass links: those come first that are written, and that let most pass.

    Of links between the same values, those count that connect them: a relation has no more values than one that it was
    joined with already.

    >>> chain = [Link((1, 2), 0.1, keys=((0, 0.1),)), Link((2, 4), 0.01, keys=((0, 0.01),))]
    >>> follows = Link((1, 4), 0.01, keys=((0, 0.01),), follows=True)
    >>> _passing(chain) == _passing([*chain, follows])
    True
    """
    share = 1.0
    connected: dict[int, list[int]] = {}
    for link in links:
        fresh = [alone for number, alone in link.keys if _connects(connected.setdefault(number, []), link)]
        if len(fresh) == len(link.keys):
            share *= link.share
        elif fresh:
            share *= max(link.share, prod(fresh))
    return share


def _connects(known: list[int], link: Link) -> bool:
    """Add a link to the sets of relations that are connected; return whether it was missing."""
    relations = link.relations
    if any(not relations & ~mask for mask in known):
        return False
    met = [mask for mask in known if mask & relations]
    known[:] = [mask for mask in known if mask not in met]
    for mask in met:
        relations |= mask
    known.append(relations)
    return True

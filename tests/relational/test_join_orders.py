"""Orders of joins: the best of all, what is done above a number of relations, and joins without an equality."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from firesteel.relational.estimates.join_orders import Cost, JoinOrders, Link, Tree


def trees(relations: list[int]) -> Iterator[Tree]:
    """Yield all trees of some relations."""
    if len(relations) == 1:
        yield relations[0]
    first, *rest = relations
    for mask in range((1 << len(rest)) - 1):
        left = [first, *(one for place, one in enumerate(rest) if mask >> place & 1)]
        right = [one for place, one in enumerate(rest) if not mask >> place & 1]
        for one in trees(left):
            for other in trees(right):
                yield one, other


def some(seed: int, count: int) -> JoinOrders:
    """Return random relations: a tree of equalities, or not quite, and other conditions."""
    chance = random.Random(seed)
    rows = [float(chance.randint(1, 100_000)) for _ in range(count)]
    links = [
        Link((1 << chance.randrange(place), 1 << place), 10 ** -chance.uniform(0, 5))
        for place in range(1, count)
        if chance.random() < 0.9
    ]
    links += [Link((1 << chance.randrange(count) | 1, 0), chance.random(), equality=False)]
    links += [Link((0b11, 0b100), 0.01)] * (seed % 2)
    return JoinOrders(rows, links)


@pytest.mark.parametrize("seed", range(40))
def test_the_best_order_is_the_best_of_all(seed: int) -> None:
    orders = some(seed, 3 + seed % 4)
    least = min(orders.cost(tree) for tree in trees([*range(3 + seed % 4)]))
    found = orders.cost(orders.best(most=12))
    assert found.crossings == least.crossings
    assert found.rows == pytest.approx(least.rows)


def test_there_are_as_few_joins_without_an_equality_as_possible() -> None:
    orders = JoinOrders([2.0, 2.0, 1e6], [Link((1, 4), 1e-6), Link((2, 4), 1e-6)])
    assert orders.cost(orders.best(most=12)).crossings == 0
    apart = JoinOrders([10.0, 10.0, 10.0], [Link((1, 2), 1.0), Link((4, 0), 0.5, equality=False)])
    assert orders.cost(((0, 1), 2)) == Cost(1, 5.0)
    assert apart.cost(apart.best(most=12)) == Cost(1, 550.0)


def test_above_a_number_of_relations_the_smallest_join_comes_next() -> None:
    rows = [1e6, 1e5, 1e4, 1e3]
    orders = JoinOrders(rows, [Link((1, 2), 1e-5), Link((2, 4), 1e-4), Link((4, 8), 1e-4)])
    assert orders.best(most=3) == (0, (1, (2, 3)))


def test_an_equality_of_several_relations_on_one_side_waits_for_them() -> None:
    orders = JoinOrders([10.0, 10.0, 10.0], [Link((0b011, 0b100), 0.1)])
    assert orders.best(most=12) == ((0, 1), 2)
    assert orders.cost(((0, 1), 2)) == Cost(1, 200.0)


def test_what_follows_from_equalities_lets_all_pass_that_they_let_pass() -> None:
    rows = [1000.0, 100.0, 10.0]
    chain = [Link((1, 2), 1e-3, keys=((0, 1e-3),)), Link((2, 4), 1e-2, keys=((0, 1e-2),))]
    follows = Link((1, 4), 1e-3, keys=((0, 1e-3),), follows=True)
    written, closed = JoinOrders(rows, chain), JoinOrders(rows, [*chain, follows])
    assert closed.cost(((0, 1), 2)) == written.cost(((0, 1), 2)) == Cost(0, 110.0)
    assert written.cost(((0, 2), 1)).crossings == 1
    assert closed.cost(((0, 2), 1)) == Cost(0, 20.0)


def test_a_key_of_which_one_part_follows_has_the_share_of_the_other() -> None:
    rows = [100.0, 100.0, 100.0]
    ones = ((0, 0.1), (1, 0.2))
    links = [
        Link((1, 2), 0.1, keys=((0, 0.1),)),
        Link((2, 4), 0.1, keys=((0, 0.1),)),
        Link((1, 4), 0.05, keys=ones),
    ]
    assert JoinOrders(rows, links).cost(((0, 1), 2)).rows == pytest.approx(1000 + 1e6 * 0.1 * 0.1 * 0.2)


def test_many_relations_have_an_order() -> None:
    star = [Link((1, 1 << place), 1e-3) for place in range(1, 40)]
    orders = JoinOrders([1e9, *(1e3 / place for place in range(1, 40))], star)
    found = orders.cost(orders.best(most=12))
    assert found.crossings == 0
    assert orders.cost(JoinOrders([1.0] * 12, star[:11]).best(most=12)).crossings == 0

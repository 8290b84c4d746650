"""A plan as people and programs read it: its levels, the chains in each, and the exchanges between them."""

from __future__ import annotations

from typing import Any

from firesteel.runtime.plan import EdgeSpec, Plan


def describe_levels(plan: Plan) -> list[dict[str, Any]]:
    """Return a dict per level: `level`, `tasks` (its width), `chains` (lists of operator names), `exchanges` out of it.

    An exchange is a dict of `from`, `to`, `level` (that of its target), `distribution` and `side_output`.
    """
    chain_of = _chains(plan)
    described = []
    for level, width in enumerate(plan.levels):
        chains: dict[int, list[str]] = {}
        for operator in plan.operators:
            if operator.level == level:
                chains.setdefault(chain_of[operator.index], []).append(operator.name)
        exchanges = [
            _exchange(plan, edge)
            for edge in plan.edges
            if not edge.local and plan.operators[edge.source].level == level
        ]
        described.append(
            {"level": level, "tasks": width, "chains": list(chains.values()), "exchanges": exchanges}
        )
    return described


def levels_as_text(levels: list[dict[str, Any]]) -> str:
    """Put what `describe_levels` returned into lines."""
    lines = []
    for level in levels:
        tasks = "1 task" if level["tasks"] == 1 else f"{level['tasks']} tasks"
        lines.append(f"level {level['level']} ({tasks})")
        lines.extend(f"    chain: {' -> '.join(chain)}" for chain in level["chains"])
        for exchange in level["exchanges"]:
            side = f" side output {exchange['side_output']!r}" if exchange["side_output"] else ""
            lines.append(
                f"    exchange: {exchange['from']}{side} => {exchange['to']} "
                f"({exchange['distribution']}, level {exchange['level']})"
            )
    return "\n".join(lines)


def _chains(plan: Plan) -> dict[int, int]:
    """The chain of each operator index, named by the chain's first operator: what local edges connect."""
    chain = {operator.index: operator.index for operator in plan.operators}
    for edge in plan.edges:
        if edge.local:
            joined = {chain[edge.source], chain[edge.target]}
            chain.update({index: min(joined) for index, first in chain.items() if first in joined})
    return chain


def _exchange(plan: Plan, edge: EdgeSpec) -> dict[str, Any]:
    target = plan.operators[edge.target]
    return {
        "from": plan.operators[edge.source].name,
        "to": target.name,
        "level": target.level,
        "distribution": edge.distribution.value,
        "side_output": edge.side_output,
    }

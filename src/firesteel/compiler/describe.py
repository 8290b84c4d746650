"""A plan as people and programs read it: its levels, the chains in each, and the edges that leave a chain."""

from __future__ import annotations

from typing import Any

from firesteel.runtime.plan import EdgeSpec, OperatorSpec, Plan

Description = list[dict[str, Any]]


def describe_levels(plan: Plan) -> Description:
    """Return a dict per level: `level`, `tasks` (its width), `chains` and `edges`.

    A chain is a list of operators, each a dict of `name`, `parallelism` and `after` (the place of the one before it in
    the chain, None for the first). An edge leads from one chain to another: a dict of `from`, `to`, `level` (that of
    its target), `distribution`, `side_output` and `exchange` (False where the target runs in the same tasks).
    """
    before = _predecessors(plan)
    described = []
    for level, width in enumerate(plan.levels):
        members = [operator for operator in plan.operators if operator.level == level]
        described.append(
            {
                "level": level,
                "tasks": width,
                "chains": [_chain(plan, head, before) for head in members if head.index not in before],
                "edges": [
                    _edge(plan, edge)
                    for edge in plan.edges
                    if before.get(edge.target) != edge.source and plan.operators[edge.source].level == level
                ],
            }
        )
    return described


def levels_as_text(levels: Description) -> str:
    """Put what `describe_levels` returned into lines."""
    lines = []
    for level in levels:
        lines.append(
            f"level {level['level']} ({level['tasks']} {'task' if level['tasks'] == 1 else 'tasks'})"
        )
        for number, chain in enumerate(level["chains"], 1):
            lines.append(f"    chain {number}: {_tree(chain)}")
        for edge in level["edges"]:
            side = f" (side output {edge['side_output']!r})" if edge["side_output"] else ""
            kind = "exchange" if edge["exchange"] else "direct"
            lines.append(
                f"    {kind}: {edge['from']}{side} => {edge['to']} in level {edge['level']}, {edge['distribution']}"
            )
    return "\n".join(lines)


def _predecessors(plan: Plan) -> dict[int, int]:
    """The operator before each that is not the first of its chain: its only input, over a local edge (as in Flink)."""
    before = {}
    for operator in plan.operators:
        match plan.incoming(operator.index):
            case [edge] if edge.local:
                before[operator.index] = edge.source
    return before


def _chain(plan: Plan, head: OperatorSpec, before: dict[int, int]) -> list[dict[str, Any]]:
    chain = [head.index]
    for operator in plan.operators:  # in topological order
        if before.get(operator.index) in chain:
            chain.append(operator.index)
    position = {index: place for place, index in enumerate(chain)}
    return [
        {
            "name": plan.operators[index].name,
            "parallelism": plan.operators[index].parallelism,
            "after": position.get(before[index]) if index in before else None,
        }
        for index in chain
    ]


def _tree(chain: list[dict[str, Any]], place: int = 0) -> str:
    """The chain from `place` on: `a -> b`, or `a -> (b, c -> d)` where it branches (Flink's notation)."""
    following = [_tree(chain, other) for other, operator in enumerate(chain) if operator["after"] == place]
    name = str(chain[place]["name"])
    if not following:
        return name
    return f"{name} -> {following[0]}" if len(following) == 1 else f"{name} -> ({', '.join(following)})"


def _edge(plan: Plan, edge: EdgeSpec) -> dict[str, Any]:
    target = plan.operators[edge.target]
    return {
        "from": plan.operators[edge.source].name,
        "to": target.name,
        "level": target.level,
        "distribution": edge.distribution.value,
        "side_output": edge.side_output,
        "exchange": not edge.local,
    }

"""The picture of a run: a panel for each quantity, over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from bench.plots import pyplot
from soak.drift import Verdict, thinned
from soak.run import Outcome

_ACROSS: Final = 3


def draw(outcome: Outcome, path: Path) -> None:
    """Draw what was measured; the part that is not judged is grey."""
    plt = pyplot()
    down = -(-len(outcome.verdicts) // _ACROSS)
    figure, axes = plt.subplots(down, _ACROSS, figsize=(10, 1.9 * down), squeeze=False)
    for panel in axes.flat[len(outcome.verdicts) :]:
        panel.axis("off")
    for panel, verdict in zip(axes.flat, outcome.verdicts, strict=False):
        _panel(panel, outcome, verdict)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _panel(panel: Any, outcome: Outcome, verdict: Verdict) -> None:
    limit = verdict.limit
    points = thinned(outcome.series.values[limit.name])
    values = [value / limit.unit for _, value in points]
    panel.plot([at / 60 for at, _ in points], values, color="#c8501e", linewidth=0.9)
    panel.axvspan(0, outcome.warm_up_s / 60, color="0.93")
    panel.set_ylim(0, max(values) * 1.25 or 1)
    title = f"{limit.name}, {limit.unit_name}" if limit.unit_name else limit.name
    panel.set_title(title, fontsize=8)
    panel.set_xlabel("minutes", fontsize=7)
    panel.tick_params(labelsize=7)

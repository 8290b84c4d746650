"""Pictures are drawn into files: no screen is needed."""

from __future__ import annotations

from typing import Any


def pyplot() -> Any:
    """Return matplotlib's pyplot, which is imported only where something is drawn."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    return plt

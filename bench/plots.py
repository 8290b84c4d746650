"""Pictures are drawn into files, without a screen."""

from __future__ import annotations

from typing import Any


def pyplot() -> Any:
    """Return matplotlib's pyplot, imported only if something is drawn."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    return plt

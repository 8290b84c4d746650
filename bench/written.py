"""What the epochs of a job add to its state directory."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import Layer, manifest_path
from firesteel.checkpoint.objects import Storage


class Written(NamedTuple):
    """Bytes: an epoch's changes of state, its manifest, and the merged layers that are new in it."""

    runs: int
    manifest: int
    compaction: int


class StateDirectory:
    """Reads what each epoch of one job has written; the first that is asked for has all merged layers so far."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: set[str] = set()

    def written(self, epoch: int) -> Written:
        """Return what an epoch has added. Call it for each epoch, in order."""
        manifest = ManifestReader(Storage.of(self._path)).read(epoch)
        merged = [
            layer for layers in manifest.layers.values() for layer in layers if layer.first < layer.last
        ]
        return Written(
            sum(run.size for operator in manifest.operators.values() for run in operator.runs),
            (self._path / manifest_path(epoch)).stat().st_size,
            sum(self._new(layer) for layer in merged),
        )

    def _new(self, layer: Layer) -> int:
        """Return the bytes of a new merged layer."""
        runs = [run for run in layer.runs if run.path not in self._known]
        self._known.update(run.path for run in runs)
        return sum(run.size for run in runs)

    def size(self, epoch: int) -> int:
        """Return the bytes of the whole state after an epoch."""
        layers = ManifestReader(Storage.of(self._path)).all_layers(0, epoch)
        return sum(layer.size for found in layers.values() for layer in found)

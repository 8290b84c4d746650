"""A model of scikit-learn in SQL: into which of eight regions do the strong earthquakes of 2016 fall?

    python examples/earthquake_regions.py

lets scikit-learn find the regions in the first half of the year (k-means over places on the globe), keeps what it has
found in a file, and asks it about all earthquakes in a query: how many each region had in each half of the year. It
needs scikit-learn: `pip install scikit-learn`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import joblib
import numpy as np
import pyarrow as pa

from firesteel.functions.models import PredictFunction
from firesteel.functions.user_defined import FunctionContext
from firesteel.table import EnvironmentSettings, TableEnvironment

DATA = Path(__file__).parent / "data" / "earthquakes.csv"
HALF = "2016/07/01"


class Regions(PredictFunction):
    """Says in which region a place is, and how far from its middle, in degrees."""

    def open(self, function_context: FunctionContext) -> None:
        """Load what scikit-learn has found."""
        self.means = joblib.load(self.options["file"])

    def predict(self, features: pa.RecordBatch) -> pa.RecordBatch:
        """Return the region of each place, and the distance from its middle."""
        places = on_globe(features.column("latitude").to_numpy(), features.column("longitude").to_numpy())
        regions = self.means.predict(places)
        away = np.linalg.norm(places - self.means.cluster_centers_[regions], axis=1)
        columns = {"region": regions.astype(np.int32), "away": np.degrees(away)}
        return pa.RecordBatch.from_pydict(columns)


def on_globe(latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """Return places as points on a globe of radius 1, so that neighbours across the date line are near."""
    north, east = np.radians(latitude), np.radians(longitude)
    return np.stack((np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)), axis=1)


def trained(file: Path) -> None:
    """Find eight regions in the first half of the year; the one with the lowest number is the southernmost."""
    from sklearn.cluster import KMeans

    rows = np.genfromtxt(DATA, delimiter=",", dtype=str)
    places = on_globe(*rows[rows[:, 0] < HALF][:, 1:3].astype(float).T)
    means = KMeans(n_clusters=8, n_init=10, random_state=0).fit(places)
    means.cluster_centers_ = means.cluster_centers_[np.argsort(means.cluster_centers_[:, 2])]
    joblib.dump(means, file)


def main() -> None:
    """Train, and ask."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "regions.joblib"
        trained(file)
        tables = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        tables.execute_sql(
            "CREATE TABLE quakes (recorded STRING, latitude DOUBLE, longitude DOUBLE, magnitude DOUBLE) "
            f"WITH ('connector' = 'filesystem', 'path' = '{DATA}', 'format' = 'csv')"
        )
        tables.execute_sql(
            "CREATE TEMPORARY MODEL regions INPUT (latitude DOUBLE, longitude DOUBLE) "
            "OUTPUT (region INT, away DOUBLE) "
            f"WITH ('provider' = 'python', 'function' = 'earthquake_regions:Regions', 'file' = '{file}')"
        )
        tables.execute_sql(
            "SELECT region, CAST(AVG(latitude) AS INT) AS north, "
            f"COUNT(*) FILTER (WHERE recorded < '{HALF}') AS `first half`, "
            f"COUNT(*) FILTER (WHERE recorded >= '{HALF}') AS `second half`, MAX(magnitude) AS strongest "
            "FROM ML_PREDICT(TABLE quakes, MODEL regions, DESCRIPTOR(latitude, longitude)) "
            "GROUP BY region ORDER BY region"
        ).print()


if __name__ == "__main__":
    main()

"""The paths of the service, a module for each subject; a further subject is one more module in `GROUPS`."""

from __future__ import annotations

from typing import Final

from firesteel.rest.calls import RouteGroup
from firesteel.rest.gateway import forwarding
from firesteel.rest.routes import (
    applications,
    checkpoints,
    cluster,
    epochs,
    jobs,
    logs,
    metrics,
    operations,
    page,
    patterns,
    processes,
    profiler,
    programs,
    states,
    taskmanagers,
    vertices,
)

GROUPS: Final[tuple[RouteGroup, ...]] = (
    states.ROUTES,
    cluster.ROUTES,
    metrics.ROUTES,
    jobs.ROUTES,
    logs.ROUTES,
    vertices.ROUTES,
    checkpoints.ROUTES,
    epochs.ROUTES,
    operations.ROUTES,
    programs.ROUTES,
    taskmanagers.ROUTES,
    processes.ROUTES,
    profiler.ROUTES,
    applications.ROUTES,
    patterns.ROUTES,
    page.ROUTES,
    forwarding.ROUTES,
    states.SHORT_ROUTES,
)
"""Routes of groups that come first win: `/jobs/overview` stands before `/jobs/:jobid`. They are found soonest, too, and
states are read thousands of times a second."""

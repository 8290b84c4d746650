"""A stream that later jobs may read again."""

from __future__ import annotations

from typing import NoReturn

from firesteel.common.errors import ProgramError
from firesteel.datastream.streams.node_settings import call_site
from firesteel.datastream.streams.plain import DataStream


class CachedDataStream(DataStream):
    """A stream marked for use by several jobs of one environment (Flink: a cache that is computed lazily, in
    BATCH mode).

    The cache is a hint: each job computes the stream again from its sources, which gives the same records, as
    the sources must be able to be read again.
    """

    def invalidate(self) -> None:
        """Forget what is cached; as nothing is kept between jobs, this has no effect."""

    def _own_node(self, call: str) -> NoReturn:
        raise ProgramError(
            "is for the result of an operation",
            who=call_site(call),
            got="a cached stream",
            hint="call it before cache()",
        )

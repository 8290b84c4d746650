"""What the parts of queries are known by from one version of a program to the next."""

from __future__ import annotations

import msgspec


class PartIdentity(msgspec.Struct, frozen=True, array_like=True):
    """What the operator of a part of a query is known by in other versions of the program, and what it does.

    `form` and `digest` are those of `firesteel.graph.uids`; `text` is what plans show (empty: it keeps nothing).
    """

    form: str
    digest: str
    text: str

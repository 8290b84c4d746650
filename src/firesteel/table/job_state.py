"""Where the jobs of a session keep their state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from typing import Final
from urllib.parse import quote

from firesteel.control import JobSettings
from firesteel.datastream.ambient import Ambient, current_ambient, surrounded_by

_LONGEST: Final = 160

COLLECT: Final = "collect"
"""The name of a job whose rows go to the program. It is over when the program is, and nothing of it is kept."""


@contextmanager
def own_state(names: Counter[str], name: str) -> Iterator[None]:
    """Give the job that is started in this context a state directory below that of the program.

    A program has one state directory, but each of its INSERTs is a job. The directory of a job has its name, and a
    number if the session, which counts them in `names`, has had a job of that name. So the jobs of a program that is
    started again find their states. The one job of a program in a cluster, which has given it its id, has the
    program's directory.
    """
    outer = current_ambient().adapt

    def adapt(settings: JobSettings) -> JobSettings:
        adapted = settings if outer is None else outer(settings)
        if adapted.job_id is not None and name != COLLECT:
            return adapted
        return replace(adapted, state_dir=_directory(adapted.state_dir, names, name))

    with surrounded_by(Ambient(adapt=adapt)):
        yield


def _directory(program: str | None, names: Counter[str], name: str) -> str | None:
    """Return the directory of the next job of a name; None for one that is removed when the job has ended.

    >>> names = Counter()
    >>> [_directory("s3://bucket/state/", names, "insert-into_a/b") for _ in range(2)]
    ['s3://bucket/state/insert-into_a%2Fb', 's3://bucket/state/insert-into_a%2Fb-2']
    >>> _directory("state", names, COLLECT), _directory(None, names, "any")
    (None, None)
    >>> _directory("state", names, "insert-into_" + "a" * 300)[-40:]
    'aaaaaaa-d53349711febebe3b9528bb5ed83812c'
    """
    if program is None or name == COLLECT:
        return None
    names[name] += 1
    number = f"-{names[name]}" if names[name] > 1 else ""
    return f"{program.rstrip('/')}/{_shortened(quote(name, safe=''))}{number}"


def _shortened(name: str) -> str:
    """Return a name that a directory can have: the begin of a long one, and a digest of all of it."""
    return (
        name
        if len(name) <= _LONGEST
        else f"{name[:_LONGEST]}-{blake2b(name.encode(), digest_size=16).hexdigest()}"
    )

"""The rows of one statement, in pages that a client fetches by number (Flink: ResultFetcher).

Contract: one thread adds rows, and waits while too many are unread, so that an endless query waits for its reader. A
page is asked for by its token, which the page before has; the same token once more gives the same page, because an
answer may get lost. A page may be empty. A client that asks too early waits for a moment, so that it need not ask again
at once.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import RowType
from firesteel.functions.columns.endpoints import Changes
from firesteel.table.result_kind import ResultKind

MOST_ROWS: Final = 20_000
"""How many rows may be unread before the statement waits for its reader."""

PAGE_ROWS: Final = 5_000
"""The rows of a page, but for those of one batch."""

WAIT_SECONDS: Final = 0.5
"""How long a client that asks too early waits."""


@dataclass(frozen=True)
class Page:
    """Rows, and the token of the next page; None: there is none."""

    changes: tuple[Changes, ...]
    next_token: int | None


class Results:
    """The rows of a statement with what Flink says about them."""

    def __init__(
        self, row: RowType, kind: ResultKind, zone: str, *, is_query: bool, job_id: str | None
    ) -> None:
        self.row = row
        self.kind = kind
        self.zone = zone
        self.is_query = is_query
        self.job_id = job_id
        self._changed = threading.Condition()
        self._unread: deque[Changes] = deque()
        self._before: tuple[Changes, ...] = ()
        self._token = 0
        self._ended = False
        self._exhausted = False
        self._error: Exception | None = None

    def add_all(self, batches: Iterator[Changes]) -> None:
        """Add rows up to their end, or until the results are closed; an error of theirs is what the reader gets."""
        try:
            for rows, kinds in batches:
                for start in range(0, rows.num_rows, PAGE_ROWS):
                    part = None if kinds is None else kinds[start : start + PAGE_ROWS]
                    if not self._add((rows.slice(start, PAGE_ROWS), part)):
                        return
        except Exception as error:  # whatever it is, it belongs to the reader
            self._end(error)
        else:
            self._end(None)

    def _add(self, changes: Changes) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._count() < MOST_ROWS)
            if self._ended:
                return False
            self._unread.append(changes)
            self._changed.notify_all()
            return True

    def _end(self, error: Exception | None) -> None:
        with self._changed:
            if not self._ended:
                self._ended, self._error = True, error
            self._changed.notify_all()

    def close(self) -> None:
        """Forget what is unread, and take no more."""
        with self._changed:
            self._ended = True
            self._unread.clear()
            self._changed.notify_all()

    @property
    def ended(self) -> bool:
        """Whether all rows are there."""
        return self._ended

    def fetch(self, token: int, wait: float = WAIT_SECONDS) -> Page:
        """Return the page of a token. Raises the error of the statement, and ProgramError for another token."""
        with self._changed:
            if token == self._token - 1 and not self._exhausted:
                return Page(self._before, self._token)
            if token != self._token:
                expected = f"{self._token} or {self._token - 1}" if self._token else "0"
                raise ProgramError(f"requires the token {expected}", who="fetching results", got=str(token))
            self._changed.wait_for(lambda: self._ended or bool(self._unread), wait)
            if self._ended and not self._unread:
                if self._error is not None:
                    raise self._error
                self._exhausted = True
                return Page((), None)
            self._before = self._next_page()
            self._token += 1
            self._changed.notify_all()
            return Page(self._before, self._token)

    def _next_page(self) -> tuple[Changes, ...]:
        page: list[Changes] = []
        while self._unread and sum(rows.num_rows for rows, _ in page) < PAGE_ROWS:
            page.append(self._unread.popleft())
        return tuple(page)

    def _count(self) -> int:
        return sum(rows.num_rows for rows, _ in self._unread)

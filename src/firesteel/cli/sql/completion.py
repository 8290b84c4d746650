"""What can be typed next, for the shell."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

Candidates = Callable[[str, str], tuple[str, list[str]]]
"""(text before the cursor, whole text) -> the word that is being typed, and the words that it may become."""


class StatementCompleter(Completer):
    """Offers what begins like the word before the cursor."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the words that fit, names before keywords."""
        typed, words = self._candidates(document.text_before_cursor, document.text)
        for word in words:
            yield Completion(word, start_position=-len(typed))

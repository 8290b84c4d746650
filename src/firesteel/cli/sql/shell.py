"""The interactive shell: a prompt with history, completion and colours."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output

from firesteel.cli.sql.completion import StatementCompleter
from firesteel.cli.sql.display import Display, QuitRequested
from firesteel.cli.sql.highlighting import STYLE, StatementLexer
from firesteel.common.excepthook import describe_failure
from firesteel.sql.script import is_complete

_PROMPT: Final[StyleAndTextTuples] = [("class:prompt", "Firesteel SQL> ")]
_WELCOME: Final = "Firesteel SQL: HELP; lists the commands, QUIT; leaves, Tab completes."
_ALONE: Final = frozenset({"quit", "exit", "help", "clear"})
"""Words that need no semicolon."""


class Shell:
    """Reads statements from a terminal and executes them until QUIT or the end of the input.

    An error of a statement is shown and ends nothing. Ctrl-C ends a query, or drops what is typed; Ctrl-D leaves.
    """

    def __init__(
        self,
        client: Display,
        history: Path | None,
        *,
        terminal_input: Input | None = None,
        terminal_output: Output | None = None,
    ) -> None:
        self._client = client
        self._prompt: PromptSession[str] = PromptSession(
            message=_PROMPT,
            prompt_continuation=_continuation,
            multiline=True,
            lexer=StatementLexer(),
            completer=StatementCompleter(client.candidates),
            complete_while_typing=False,
            history=_history(history),
            key_bindings=_bindings(),
            style=STYLE,
            input=terminal_input,
            output=terminal_output,
        )

    def run(self) -> None:
        """Read and execute until the end; then stop the jobs that still run."""
        self._client.say(_WELCOME)
        try:
            while self._turn():
                pass
        except (EOFError, QuitRequested):
            pass
        self._stop_jobs()

    def _turn(self) -> bool:
        try:
            text = self._prompt.prompt()
        except KeyboardInterrupt:
            return True
        for job in self._client.failed_jobs():
            assert job.error is not None
            self._report(job.error, f"job {job.job_id} has failed: ")
        try:
            self._client.run(text)
        except KeyboardInterrupt:
            self._client.say("[INFO] Interrupted.")
        except QuitRequested:
            return False
        except Exception as error:  # whatever goes wrong in a statement, the session goes on
            self._report(error)
        return True

    def _report(self, error: BaseException, what: str = "") -> None:
        self._client.say(f"[ERROR] {what}{describe_failure(error).removeprefix('error: ')}")

    def _stop_jobs(self) -> None:
        running = self._client.running_jobs()
        if running:
            ids = ", ".join(job.job_id for job in running)
            self._client.say(f"[INFO] Stopping at the end of the epoch: {ids}")
        for job in running:
            job.stop()
        for job in running:
            job.wait()


def _continuation(width: int, line: int, wrapped: int) -> str:
    del line, wrapped
    return "> ".rjust(width)


def _history(path: Path | None) -> History:
    return InMemoryHistory() if path is None else FileHistory(str(path))


def ends_here(text: str) -> bool:
    """Return whether Enter executes a text, rather than beginning another line.

    >>> ends_here("SELECT 1"), ends_here("SELECT 1;"), ends_here("quit"), ends_here("")
    (False, True, True, True)
    """
    return text.strip().lower() in _ALONE or is_complete(text)


def _bindings() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif ends_here(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.newline()

    return bindings

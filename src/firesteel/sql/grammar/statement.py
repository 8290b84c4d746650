"""The first words of a statement, and what they lead to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from firesteel.sql.grammar.session import Session
from firesteel.sql.lexer import TokenKind
from firesteel.sql.statements.parts import Statement

_PARSERS: Final[dict[str, Callable[[Session], Statement]]] = {
    "SELECT": Session.whole,
    "VALUES": Session.whole,
    "WITH": Session.whole,
    "(": Session.whole,
    "INSERT": Session.insert,
    "UPSERT": Session.insert,
    "BEGIN": Session.statement_set,
    "EXECUTE": Session.execute,
    "CREATE": Session.create,
    "REPLACE": Session.replace,
    "ALTER": Session.alter,
    "DROP": Session.drop,
    "SHOW": Session.show,
    "DESCRIBE": Session.describe,
    "DESC": Session.describe,
    "EXPLAIN": Session.explain,
    "USE": Session.use,
    "SET": Session.set_option,
    "RESET": Session.reset_option,
    "LOAD": Session.load_module,
    "UNLOAD": Session.unload_module,
    "ANALYZE": Session.analyze,
    "CALL": Session.call_procedure,
    "TRUNCATE": Session.truncate,
    "DELETE": Session.delete,
    "UPDATE": Session.update,
    "COMPILE": Session.compile_plan,
    "ADD": Session.change_jars,
    "REMOVE": Session.change_jars,
    "STOP": Session.stop_job,
    "HELP": Session.client_command,
    "CLEAR": Session.client_command,
    "QUIT": Session.client_command,
    "EXIT": Session.client_command,
    "TABLE": Session.whole,
    "VALUE": Session.whole,
}
_REFUSED: Final = frozenset({"MERGE", "GRANT", "REVOKE", "COMMIT", "ROLLBACK", "DECLARE", "PREPARE", "FETCH"})


class StatementParser(Session):
    """Parses one statement."""

    def statement(self) -> Statement:
        """Return the statement that the tokens are, up to their end."""
        first = self.at()
        if first.key in _REFUSED:
            raise self.unsupported(f"the statement {first.key}")
        parser = _PARSERS.get(first.key)
        if parser is None:
            known = sorted(key for key in _PARSERS if key.isalpha())
            what = "a statement, which begins with a word such as SELECT, INSERT or CREATE,"
            raise self.error(what, keys=known)
        self.who = f"{first.key} statement" if first.kind is TokenKind.WORD else "query"
        found = parser(self)
        self.needs_end()
        return found

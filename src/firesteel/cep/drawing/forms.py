"""The forms in which a pattern can be drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from firesteel.cep.drawing.svg import as_svg
from firesteel.cep.drawing.text import as_mermaid, as_text
from firesteel.common.errors import ProgramError
from firesteel.functions.patterns.definition import PatternDefinition
from firesteel.runtime.patterns.diagram import Diagram, diagram_of

__all__ = ["Form", "explained"]

Form = Literal["text", "mermaid", "svg"]

_FORMS: Final[dict[str, Callable[[Diagram], str]]] = {"text": as_text, "mermaid": as_mermaid, "svg": as_svg}


def explained(pattern: PatternDefinition, form: Form, who: str) -> str:
    """Return a drawing of the automaton of a pattern. Raises ProgramError, at `who`, if the pattern means nothing."""
    draw = _FORMS.get(form)
    if draw is None:
        raise ProgramError(f"requires one of the forms {', '.join(_FORMS)}", who=who, got=repr(form))
    try:
        return draw(diagram_of(pattern))
    except ProgramError as error:
        error.who = error.who or who
        raise

"""The lines of a block by their forms: where the values of each line are, without a parser.

One program writes lines of a few forms: which names, in which order, which objects within objects, and whether a text
or a number is behind a name. The quotes of all lines are found in one go. What is between the values of a line must be
what the form says, to the byte; since the line has as many quotes as the form, no value has one, and is what is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from firesteel.connectors.tables.formats.json_forms import Form, Kind, Path, form_of
from firesteel.connectors.tables.formats.json_scalars import Chars, Ends, Spans, pieces
from firesteel.connectors.tables.formats.plain_texts import Doubtful

Places = npt.NDArray[np.int64]

_QUOTE, _LF, _SPACE, _ESCAPE = map(ord, '"\n \\')
_MOST_BYTES: Final = 2**31 - 1
_STRETCH: Final = 1 << 16
_NEW_FORMS: Final = 8
"""Lines of a block that are asked for a form that is not known yet."""

_KNOWN_FORMS: Final = 16
_MOST_OTHERS: Final = 8
"""At most one line in so many may have none of the forms."""


@dataclass(frozen=True)
class Uniform:
    """The lines of a form: their places among the lines of the block, and where their parts end.

    `ends` has a line for each of them: where the first constant begins and ends, then the next, and so on. So the first
    value is between the second and the third of these.
    """

    form: Form
    lines: Places
    ends: Ends

    def spans(self, block: pa.Buffer, *slots: int) -> Spans:
        """Return where the values of each line are in the block."""
        if len(slots) == 1:
            return Spans(block, self.ends[:, 2 * slots[0] + 1 : 2 * slots[0] + 3])
        values = self.ends[:, 1:-1].reshape(len(self.ends), -1, 2)
        return Spans(block, values[:, list(slots)].reshape(-1, 2))


class UniformLines:
    """The lines of a block; raises Doubtful for one with characters that need an exact look, or no end.

    Raises UnicodeDecodeError for what is not UTF-8. A line with an escape has no form.
    """

    def __init__(self, block: bytes) -> None:
        if not block.endswith(b"\n") or len(block) > _MOST_BYTES:
            raise Doubtful
        self.block = block
        self.chars = np.frombuffer(block, np.uint8)
        self.data = pa.py_buffer(block)
        if not block.isascii():
            block.decode()
        marks = _marks(self.chars)
        found = self.chars.take(marks)
        line_ends = np.flatnonzero(found == _LF)
        if np.count_nonzero(found == _QUOTE) + len(line_ends) != len(marks):
            raise Doubtful
        self.count = len(line_ends)
        self.ends = marks.take(line_ends) + 1
        self.starts = np.append(0, self.ends[:-1])
        self._marks = marks
        self._first = np.append(0, line_ends[:-1] + 1)
        self._quotes = line_ends - self._first
        self._free = np.ones(self.count, np.bool_)
        if b"\\" in block:
            escapes = np.flatnonzero(self.chars == _ESCAPE)
            self._quotes[np.searchsorted(self.ends, escapes, "right")] = -1

    def line(self, number: int) -> bytes:
        """Return a line with its end."""
        return self.block[self.starts[number] : self.ends[number]]

    def others(self) -> Places:
        """Return the places of the lines that were not of a form that was asked for."""
        return np.flatnonzero(self._free)

    def take(self, form: Form) -> Uniform | None:
        """Return those of the other lines that have a form; None if there are none."""
        asked = np.flatnonzero(self._free & (self._quotes == form.quotes))
        if not len(asked):
            return None
        ends = self._parts(form, asked)
        if (np.diff(ends.ravel()) < 0).any():
            fits = (ends[:, 1:] >= ends[:, :-1]).all(axis=1)
            asked, ends = asked[fits], ends[fits]
            if not len(asked):
                return None
        same = self._has_constants(form, ends)
        if same is not None:
            asked, ends = asked[same], ends[same]
        self._free[asked] = False
        return Uniform(form, asked, ends) if len(asked) else None

    def _parts(self, form: Form, asked: Places) -> Ends:
        """Return where the parts of lines are if they have a form; parts that are not in their order show that not."""
        first_quotes, before, lengths = form.anchors
        begins = self._marks.take(first_quotes[:, None] + self._first.take(asked)) - before[:, None]
        begins[0] = self.starts.take(asked)
        ends = np.empty((len(asked), len(form.constants), 2), np.int32)
        ends[:, :-1, 0] = begins.T
        ends[:, :-1, 1] = (begins + lengths[:, None]).T
        ends[:, -1, 1] = line_ends = self.ends.take(asked)
        ends[:, -1, 0] = line_ends - len(form.constants[-1])
        return ends.reshape(len(asked), -1)

    def _has_constants(self, form: Form, ends: Ends) -> npt.NDArray[np.bool_] | None:
        """Return which lines have the constants at their places; None for all."""
        constant = b"".join(form.constants)
        found = pieces(self.data, ends).take(pa.array(np.arange(0, ends.size, 2)))
        expected = pa.py_buffer(constant * len(ends))
        _, _, data = found.buffers()
        if data.slice(0, expected.size).equals(expected):
            return None
        rows = np.frombuffer(data, np.uint8, expected.size).reshape(len(ends), len(constant))
        return np.asarray((rows == np.frombuffer(constant, np.uint8)).all(axis=1))


def _marks(chars: Chars) -> Places:
    """Return where quotes and control characters are; what is computed on the way fits into a processor's cache."""
    quote, control = np.empty((2, _STRETCH), np.bool_)
    found = []
    for start in range(0, len(chars), _STRETCH):
        part = chars[start : start + _STRETCH]
        one, other = quote[: len(part)], control[: len(part)]
        np.equal(part, _QUOTE, out=one)
        np.less(part, _SPACE, out=other)
        np.logical_or(one, other, out=one)
        places = np.flatnonzero(one)
        places += start
        found.append(places)
    return np.concatenate(found)


class KnownForms:
    """The forms that blocks of lines had so far, the last used first.

    A null that is not wanted counts as part of a form as long as there are few forms: most often it is in the place of
    an object.
    """

    def __init__(self, wanted: Mapping[Path, Kind]) -> None:
        self._wanted = wanted
        self._forms: list[Form] = []
        self._nulls_differ = False

    def grouped(self, lines: UniformLines) -> tuple[Sequence[Uniform], Places]:
        """Return the lines of each form, and those of none. Raises Doubtful if these are many."""
        groups = [found for form in self._forms if (found := lines.take(form)) is not None]
        doubtful: list[int] = []
        for _ in range(_NEW_FORMS):
            others = np.setdiff1d(lines.others(), doubtful, assume_unique=True)
            if not len(others):
                break
            found = self._learned(lines, int(others[0]))
            if found is None:
                doubtful.append(int(others[0]))
            else:
                groups.append(found)
        others = lines.others()
        used = [group.form for group in sorted(groups, key=lambda group: -len(group.lines))]
        rest = [form for form in self._forms if form not in used]
        self._forms = (used + rest)[:_KNOWN_FORMS]
        if len(others) * _MOST_OTHERS > lines.count:
            raise Doubtful
        return groups, others

    def _learned(self, lines: UniformLines, number: int) -> Uniform | None:
        if len(self._forms) == _KNOWN_FORMS and not self._nulls_differ:
            self._nulls_differ = True
            self._forms = []
        try:
            form = form_of(lines.line(number)[:-1], self._wanted, nulls_differ=self._nulls_differ)
        except Doubtful:
            return None
        return lines.take(form)

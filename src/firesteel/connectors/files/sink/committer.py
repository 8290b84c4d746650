"""The committers of a file sink: they make parts visible, and can be stopped and repeated at any point.

Where files can be renamed, a part of one segment becomes visible by a rename. A part of several goes through these
states, each of them durable:

1. all segments are there;
2. also a hidden `joined` file, which is complete as soon as it has this name;
3. the first segment is gone: from here on the joined file is the part;
4. the joined file has been renamed to the part's name;
5. the other segments are gone.

A committer that finds a state continues from it. A part whose first segment and joined file are both gone is visible,
or was visible and its reader has removed it (Flink: `commitAfterRecovery` is as lenient).

Where files are copied, in object stores, the part is written or copied to its name as a whole; then its first segment
is deleted, then the others. As long as the first segment is there, the part is written again, with the same content. A
large part that ends with its epoch is an upload to its own name: it is completed, and then the object that names the
upload is deleted.

Workers join segments, several parts at a time; the driver does so itself if all of an epoch are small, because starting
tasks takes longer. Anybody may join: the content is always the same.
"""

from __future__ import annotations

import uuid
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Final

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.parts import PartCommit, PartFormat, joined_file
from firesteel.connectors.files.sink.compaction import size_of
from firesteel.connectors.files.sink.hidden import remove_unneeded, scope_of, system_renames
from firesteel.connectors.files.sink.writer import FileSinkSettings, FileWriterState, write_joined
from firesteel.connectors.files.systems import parent_of, system_of
from firesteel.connectors.files.systems.objects import ObjectFiles
from firesteel.functions.sink import CarryOut, Committer, Leftovers

_AT_ONCE: Final = 8

SMALL: Final = 1 << 20
"""The bytes of an epoch's segments below which the driver joins them itself."""


class _PartCommitter(Committer):
    """Makes the parts of committables visible. Raises ConnectorError if the file system refuses."""

    def __init__(self, settings: FileSinkSettings) -> None:
        self._settings = settings
        self._format = settings.format
        self._files = system_of(settings.base_path)
        self._carry_out: CarryOut | None = None

    def use_workers(self, carry_out: CarryOut) -> None:
        """Let workers join segments."""
        self._carry_out = carry_out

    def discard(self, leftovers: Leftovers) -> None:
        """Remove the hidden files of failed attempts."""
        remove_unneeded(
            self._settings.base_path,
            scope_of(leftovers.job_id, leftovers.operator_id),
            leftovers.epoch,
            [
                path
                for state in leftovers.needed
                if isinstance(state, FileWriterState)
                for path in state.files
            ],
        )

    def _units(self, committables: Sequence[PartCommit]) -> Sequence[PartCommit]:
        compaction = self._settings.compaction
        return committables if compaction is None else compaction.units(committables)

    def _format_of(self, part: PartCommit) -> PartFormat:
        compaction = self._settings.compaction
        return self._format if compaction is None else compaction.format_of(part, self._format)

    def _join_there(self, units: Iterable[PartCommit]) -> list[PartCommit]:
        """Let workers join segments, unless all are small; return the parts that they have joined."""
        several = [part for part in units if len(part.segments) > 1]
        if self._carry_out is None or not several or sum(map(size_of, several)) < SMALL:
            return []
        self._carry_out([partial(_join, self._settings, part) for part in several])
        return several

    def _publish_checked(self, part: PartCommit) -> None:
        try:
            self._publish(part)
        except OSError as error:
            raise _refused(part, error) from error

    @abstractmethod
    def join(self, part: PartCommit) -> None:
        """Join the segments of a part, unless it is visible already (worker)."""

    @abstractmethod
    def _publish(self, part: PartCommit) -> None:
        """Make a part visible, and remove what is no longer needed."""


class FileCommitter(_PartCommitter):
    """Makes parts visible by renaming them."""

    def commit(self, committables: Sequence[PartCommit]) -> None:
        touched: set[str] = set()
        units = self._units(committables)
        self._join_there(units)
        for part in units:
            self._publish_checked(part)
            if part.final:
                touched.add(parent_of(part.final))
        for directory in touched:
            with suppress(FileNotFoundError):
                self._files.sync([directory])

    def _publish(self, part: PartCommit) -> None:
        if len(part.segments) == 1:
            first = part.segments[0].path
            if not self._files.missing([first]):
                self._files.move(first, part.final)
        elif part.segments:
            self._publish_joined(part)
        self._files.remove(part.obsolete)

    def join(self, part: PartCommit) -> None:
        """Write the joined file, unless it is there or has been."""
        joined = joined_file(part.final)
        if self._files.missing([joined]) and not self._files.missing([part.segments[0].path]):
            self._join(part, joined)

    def _publish_joined(self, part: PartCommit) -> None:
        files, joined = self._files, joined_file(part.final)
        first, *others = (segment.path for segment in part.segments)
        if not files.missing([first]):
            self.join(part)
            files.remove([first])
        if not files.missing([joined]):
            files.move(joined, part.final)
        files.remove(others)

    def _join(self, part: PartCommit, joined: str) -> None:
        joining = f"{joined}.{uuid.uuid4().hex}"
        paths = [segment.path for segment in part.segments]
        write_joined(self._format_of(part), self._files, paths, joining)
        try:
            self._files.move(joining, joined)
        except BaseException:
            self._files.remove([joining])
            raise
        self._files.sync([parent_of(joined)])


class CopyingCommitter(_PartCommitter):
    """Makes parts visible by copying them within an object store, several at a time."""

    def __init__(self, settings: FileSinkSettings) -> None:
        super().__init__(settings)
        self._joined: set[str] = set()
        """The parts of this commit that workers have written."""

    def commit(self, committables: Sequence[PartCommit]) -> None:
        units = self._units(committables)
        self._joined = {part.final for part in self._join_there(units)}
        if units:
            with ThreadPoolExecutor(min(_AT_ONCE, len(units)), "firesteel-publish") as threads:
                [*threads.map(self._publish_checked, units)]

    def _publish(self, part: PartCommit) -> None:
        if part.segments:
            self._show(part)
        self._files.remove(part.obsolete)

    def _show(self, part: PartCommit) -> None:
        assert isinstance(self._files, ObjectFiles)
        first, *others = part.segments
        paths = [segment.path for segment in part.segments]
        if first.upload is not None:
            self._files.complete(first.path, part.final, first.upload)
        elif not others:
            # Without its segment, the part is visible: a driver that was overtaken comes too late.
            with suppress(FileNotFoundError):
                self._files.show(first.path, part.final, first.size)
        elif not self._files.missing(paths[:1]):
            if part.final not in self._joined:
                self.join(part)
            self._files.remove(paths[:1])
        self._files.remove(paths[1:])

    def join(self, part: PartCommit) -> None:
        """Write the part to its name, as long as its first segment is there."""
        assert isinstance(self._files, ObjectFiles)
        paths = [segment.path for segment in part.segments]
        if self._files.missing(paths[:1]):
            return
        joining = self._format_of(part)
        sources = [(segment.path, segment.size) for segment in part.segments]
        if not (joining.appendable and self._files.joined_there(sources, part.final)):
            write_joined(joining, self._files, paths, part.final)


def _join(settings: FileSinkSettings, part: PartCommit) -> None:
    """Join the segments of a part (worker)."""
    try:
        committer_of(settings).join(part)
    except OSError as error:
        raise _refused(part, error) from error


def _refused(part: PartCommit, error: OSError) -> ConnectorError:
    return ConnectorError(
        "requires that the files it prepared can be renamed",
        who="FileSink",
        got=f"{part.final}: {error}",
    )


def committer_of(settings: FileSinkSettings) -> FileCommitter | CopyingCommitter:
    """Return the committer for the file system of a sink's base path."""
    return (FileCommitter if system_renames(settings.base_path) else CopyingCommitter)(settings)

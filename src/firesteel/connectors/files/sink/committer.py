"""The committer of a file sink: it makes parts visible, and can be stopped and repeated at any point.

A part of one segment becomes visible by a rename. A part of several goes through these states, each of them durable:

1. all segments are there;
2. also a hidden `joined` file, which is complete as soon as it has this name;
3. the first segment is gone: from here on the joined file is the part;
4. the joined file has been renamed to the part's name;
5. the other segments are gone.

A committer that finds a state continues from it. A part whose first segment and joined file are both gone is visible,
or was visible and its reader has removed it (Flink: `commitAfterRecovery` is as lenient).
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.parts import PartCommit, joined_file
from firesteel.connectors.files.sink.durable import remove, sync_directory, sync_file
from firesteel.connectors.files.sink.hidden import remove_unneeded, scope_of
from firesteel.connectors.files.sink.writer import FileSinkSettings, FileWriterState
from firesteel.functions.sink import Committer, Leftovers


class FileCommitter(Committer):
    """Makes the parts of committables visible. Raises ConnectorError if the file system refuses."""

    def __init__(self, settings: FileSinkSettings) -> None:
        self._settings = settings
        self._format = settings.format

    def commit(self, committables: Sequence[PartCommit]) -> None:
        touched: set[Path] = set()
        for part in committables:
            try:
                self._publish(part)
            except OSError as error:
                raise ConnectorError(
                    "requires that the files it prepared can be renamed",
                    who="FileSink",
                    got=f"{part.final}: {error}",
                ) from error
            if part.final:
                touched.add(Path(part.final).parent)
        for directory in touched:
            if directory.is_dir():
                sync_directory(directory)

    def discard(self, leftovers: Leftovers) -> None:
        """Remove the hidden files of failed attempts."""
        remove_unneeded(
            Path(self._settings.base_path),
            scope_of(leftovers.job_id, leftovers.operator_id),
            leftovers.epoch,
            [
                path
                for state in leftovers.needed
                if isinstance(state, FileWriterState)
                for path in state.files
            ],
        )

    def _publish(self, part: PartCommit) -> None:
        if len(part.segments) == 1:
            first = Path(part.segments[0].path)
            if first.exists():
                first.rename(part.final)
        elif part.segments:
            self._publish_joined(part)
        remove(part.obsolete)

    def _publish_joined(self, part: PartCommit) -> None:
        final = Path(part.final)
        joined = joined_file(final)
        first, *others = (Path(segment.path) for segment in part.segments)
        if first.exists():
            if not joined.exists():
                self._join([first, *others], joined)
            first.unlink()
        if joined.exists():
            joined.rename(final)
        remove(others)

    def _join(self, segments: Sequence[Path], joined: Path) -> None:
        joining = joined.with_name(f"{joined.name}.{uuid.uuid4().hex}")
        try:
            with joining.open("xb") as file:
                self._format.join(segments, file)
                sync_file(file)
            joining.rename(joined)
        except BaseException:
            remove([joining])
            raise
        sync_directory(joined.parent)

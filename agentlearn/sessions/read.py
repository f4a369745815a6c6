"""From a source to its sessions."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from agentlearn.errors import BadInput
from agentlearn.sessions.detect import Detected, detect
from agentlearn.sessions.dialects import READERS, reader
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session


class NotATranscript(BadInput):
    """Caught where a folder is walked: there it is counted, not an error."""

    def __init__(self, name: str, found: Detected) -> None:
        name = "stdin" if name == "-" else name
        if found.sidecar:
            message = f"{name} is no transcript: it belongs beside one (labels, state or metadata)"
            hint = "name the transcript itself; what lies beside it is found from there"
        else:
            message = f"{name} is no transcript that is read: {found.why_not}"
            hint = "read are: " + ", ".join(READERS)
        super().__init__(message, hint)
        self.sidecar = found.sidecar


def read_sessions(source: Source) -> Iterator[Session]:
    """The sessions of a source, as they are read. Raises NotATranscript before the first."""
    found = detect(source.stream)
    if found.dialect is None:
        broken = source.stream.broken or (found.why_not if found.damaged else None)
        if broken:  # damaged, which is not the same as being something else
            raise BadInput(f"{source.name} cannot be read: {broken}")
        raise NotATranscript(source.name, found)
    read = reader(found.dialect, found.layout)
    if read is None:
        why = f"it has marks of {found.dialect}, but that agent writes no such file"
        raise NotATranscript(source.name, Detected(found.layout, None, why))
    if source.kept is None:
        yield from read(source)
    else:
        for session in read(source):
            yield structs.replace(session, kept=source.kept)

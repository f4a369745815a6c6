"""Messages and parts of opencode, the same in its database, its exports and its event lines.

A tool part is a call and its result in one. A failing command is `completed` all the same; its
exit code stands in the metadata. In a child session the prompts are the parent agent's, so they
are `system`, and the first one is the goal.
"""

from __future__ import annotations

from msgspec import Raw, Struct

from agentlearn.sessions.document import value_of
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.text import iso_time, without_data_uris
from agentlearn.sessions.values import Status

DIALECT = "opencode"
REJECTED = ("The user rejected permission", "The user dismissed this question")
FEEDBACK = "with the following feedback: "
ABORTED = ("Tool execution aborted", "The operation was aborted", "Aborted")
SILENT = {"reasoning", "step-start", "step-finish", "patch", "snapshot", "agent", "subtask"}


class Time(Struct):
    created: float | None = None
    updated: float | None = None
    start: float | None = None
    end: float | None = None


class Failure(Struct):
    name: str | None = None
    message: str | None = None
    data: Raw = Raw(b"")

    @property
    def text(self) -> str:
        data = value_of(self.data)
        message = data.get("message") if isinstance(data, dict) else None
        found = message if isinstance(message, str) else self.message
        return ": ".join(filter(None, (self.name, found)))


class State(Struct):
    status: str | None = None
    input: Raw = Raw(b"")
    output: str | None = None
    error: str | None = None
    metadata: Raw = Raw(b"")
    time: Time | None = None


class Part(Struct):
    id: str | None = None
    type: str = ""
    messageID: str | None = None
    text: str | None = None
    synthetic: bool | None = None
    ignored: bool | None = None
    callID: str | None = None
    tool: str | None = None
    state: State | None = None
    time: Time | None = None
    mime: str | None = None
    url: str | None = None
    filename: str | None = None
    error: Failure | None = None


class Model(Struct):
    id: str | None = None
    modelID: str | None = None


class Folder(Struct):
    cwd: str | None = None


class Info(Struct):
    """What is known of a message."""

    id: str | None = None
    role: str | None = None
    mode: str | None = None
    modelID: str | None = None
    model: Model | None = None
    path: Folder | None = None
    summary: Raw = Raw(b"")
    error: Failure | None = None
    time: Time | None = None


class Revert(Struct):
    messageID: str | None = None
    partID: str | None = None


class SessionInfo(Struct):
    id: str | None = None
    parentID: str | None = None
    directory: str | None = None
    title: str | None = None
    version: str | None = None
    time: Time | None = None
    revert: Revert | None = None


class Writing:
    """The entries of one session."""

    def __init__(self, draft: Draft, info: SessionInfo | None = None) -> None:
        self.draft = draft
        draft.agent = DIALECT
        self.calls: set[str] = set()
        self.unknown: set[str] = set()
        self.revert = (info.revert if info else None) or Revert()
        self.reverted_at: int | None = None
        self.updated: str | None = None
        self.cut_short: tuple[int, str | None] | None = None
        """A call that was aborted, as long as its message has not told why."""
        self.step: str | None = None
        if info is not None:
            self.about(info)

    def about(self, info: SessionInfo) -> None:
        draft, time = self.draft, info.time or Time()
        draft.id, draft.parent = info.id, info.parentID
        draft.cwd, draft.version = info.directory, info.version
        draft.started_at, self.updated = iso_time(time.created), iso_time(time.updated)
        if info.title:
            draft.metadata["title"] = info.title

    def message(self, number: int, info: Info, parts: list[tuple[int, Part]]) -> None:
        if info.id and info.id == self.revert.messageID and not self.revert.partID:
            self.reverted_at = len(self.draft.entries)
        at = iso_time(info.time.created) if info.time else None
        if info.role == "user":
            self.prompt(parts, at)
        elif info.role == "assistant":
            self.response(number, info, parts, at)
        elif f"message role {info.role}" not in self.unknown:
            self.unknown.add(f"message role {info.role}")
            self.draft.warn(number, f"unknown message role {str(info.role)[:40]!r}", lost=False)

    def prompt(self, parts: list[tuple[int, Part]], at: str | None) -> None:
        """The person's own parts are one message; what the harness adds to them are others."""
        self.go_on()
        draft = self.draft
        theirs: list[str] = []
        first = 0
        for number, part in parts:
            own = part.type == "text" and not part.synthetic and not part.ignored
            text = (part.text or "") if own else image_of(part)
            if text:
                first = first or number
                theirs.append(text)
        text = without_data_uris("\n".join(theirs))
        if draft.parent and draft.goal is None:
            draft.goal = text or None
        draft.said("system" if draft.parent else "user", text, first, at)
        for number, part in parts:
            if part.type == "text" and part.synthetic:
                draft.said("system", without_data_uris(part.text or ""), number, at)
            elif part.type == "compaction":
                draft.signal("compaction", "", number, at)

    def response(
        self, number: int, info: Info, parts: list[tuple[int, Part]], at: str | None
    ) -> None:
        draft = self.draft
        draft.model = info.modelID or (info.model.modelID if info.model else None) or draft.model
        if draft.cwd is None and info.path is not None:
            draft.cwd = info.path.cwd
        is_summary = value_of(info.summary) is True or info.mode == "compaction"
        for place, part in parts:
            if is_summary and part.type == "text":
                draft.said("system", part.text or "", place, at)
            else:
                self.part(place, part, info.id or str(number), at)
        if info.error is not None:
            self.failure(info.error, number, at)

    def go_on(self) -> None:
        """A message is over: where it did not tell why a call was aborted, the person did it."""
        if self.cut_short is not None:
            self.draft.signal("interruption", "", *self.cut_short)
        self.cut_short = None

    def failure(self, error: Failure, number: int, at: str | None) -> None:
        self.cut_short = None
        if error.name == "MessageAbortedError":
            self.draft.signal("interruption", "", number, at)
        else:
            self.draft.signal("api_error", error.text, number, at)

    def part(self, number: int, part: Part, step: str, at: str | None) -> None:
        """A part of a response."""
        draft = self.draft
        if step != self.step:
            self.go_on()
            self.step = step
        if part.id and part.id == self.revert.partID:
            self.reverted_at = len(draft.entries)
        kind = part.type
        if kind == "text":
            if not part.synthetic and not part.ignored:
                began = iso_time(part.time.start) if part.time else None
                draft.said(
                    "assistant", without_data_uris(part.text or ""), number, began or at, step
                )
        elif kind == "tool":
            self.tool(number, part, step, at)
        elif kind == "retry":
            draft.signal("api_error", part.error.text if part.error else "", number, at)
        elif kind == "compaction":
            draft.signal("compaction", "", number, at)
        elif kind not in SILENT and kind != "file" and kind not in self.unknown:
            self.unknown.add(kind)
            draft.warn(number, f"unknown part type {kind[:40]!r}", lost=False)

    def tool(self, number: int, part: Part, step: str, at: str | None) -> None:
        draft, state = self.draft, part.state or State()
        if part.callID is not None:
            if part.callID in self.calls:
                return
            self.calls.add(part.callID)
        time = state.time or Time()
        began = iso_time(time.start) or at
        arguments = value_of(state.input)
        call_id = draft.called(part.callID, part.tool or "", arguments, number, began, step)
        if state.status not in ("completed", "error"):
            return
        metadata = value_of(state.metadata)
        known = metadata if isinstance(metadata, dict) else {}
        code, child = known.get("exit"), known.get("sessionId")
        text = without_data_uris(state.error or state.output or "")
        status = status_of(state.status, text)
        draft.returned(
            call_id,
            text,
            number,
            iso_time(time.end) or began,
            status,
            code if type(code) is int and code >= 0 else None,
            child if isinstance(child, str) else None,
        )
        if status == "rejected" and FEEDBACK in text:
            words = text.split(FEEDBACK, 1)[1].strip()
            draft.signal("rejection", words, number, iso_time(time.end), call_id=call_id)
        if status == "interrupted":
            self.cut_short = self.cut_short or (number, iso_time(time.end) or began)

    def finish(self) -> None:
        """What was reverted and not yet written over is undone."""
        self.go_on()
        draft = self.draft
        if self.reverted_at is not None and self.reverted_at < len(draft.entries):
            last = draft.entries[-1]
            undone = len(draft.entries) - self.reverted_at
            draft.signal("rollback", "", last.line, undoes=undone)
        draft.ended_at = self.updated


def status_of(status: str, text: str) -> Status:
    if status == "completed":
        return "ok"
    if text.startswith(REJECTED):
        return "rejected"
    return "interrupted" if text.startswith(ABORTED) else "error"


def image_of(part: Part) -> str:
    """A pasted image; the text of a named file comes as a synthetic part of its own."""
    if part.type != "file" or not (part.mime or "").startswith("image/"):
        return ""
    url = part.url or ""
    return url if url.startswith("data:") else f"<image {part.filename or url[:200]}>"

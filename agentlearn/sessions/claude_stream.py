"""What `claude -p --output-format stream-json` prints: a session file's messages, wrapped anew.

Each line is turned into the session file's line that says the same, and read as one. What is only
here: sub-agents stand inline, marked by the call that started them, and become sessions of their
own; a last `result` line says how the run ended. That it ended well is no verdict; that the line
is missing means that the run was killed. Calls that the permission rules denied are rejected: the
rules speak for the person who set them. The first prompt is not in the stream, so a goal is
mostly unknown. Other programs' output between the lines is counted, not reported line by line.
Some runners keep the whole stream as one JSON list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Raw, Struct

from agentlearn.sessions import document
from agentlearn.sessions.claude_blocks import raw_text
from agentlearn.sessions.claude_code import Chain, Reading
from agentlearn.sessions.claude_lines import Envelope, Line, ToolUseResult
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import objects
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Message, Result, Session, Signal

DIALECT = "claude-stream-json"
NOTHING = Raw(b"")
SILENT_TYPES = {
    "stream_event", "tool_progress", "tool_use_summary", "auth_status", "rate_limit_event",
    "control_request", "control_response", "control_cancel_request", "keep_alive",
    "prompt_suggestion", "queue-operation", "last-prompt",
}  # fmt: skip
KILLED = "the stream ends without a result: killed, or still running"


class Denial(Struct, gc=False):
    tool_use_id: str | None = None


class StreamLine(Struct, gc=False):
    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    session_id: str | None = None
    parent_tool_use_id: str | None = None
    timestamp: str | None = None
    isSynthetic: bool | None = None
    message: Envelope | None = None
    tool_use_result: ToolUseResult | str | list[Raw] | None = None
    error: Raw = NOTHING
    cwd: str | None = None
    model: str | None = None
    claude_code_version: str | None = None
    compact_metadata: Raw = NOTHING
    error_status: Raw = NOTHING
    exit_code: int | None = None
    stderr: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    result: Raw = NOTHING
    errors: list[Raw] | None = None
    permission_denials: list[Denial] | None = None


def read_lines(source: Source) -> Iterator[Session]:
    stream = Stream(source)
    yield from stream.read(objects(source.stream, StreamLine, stream.warn))


def read_document(source: Source) -> Iterator[Session]:
    """The same lines as one list."""
    value = document.load(source)
    holder = Draft(DIALECT, source.name, "entry")
    stream = Stream(source, unit_is_entry=True)
    raws = value if isinstance(value, list) else []
    lines = map(_compact, document.numbered(raws, StreamLine, holder))
    for session in stream.read(lines):
        session.raws.extend(holder.raws)
        session.warnings.extend(holder.warnings)
        holder.warnings.clear()
        yield session


def _compact(numbered: tuple[int, StreamLine]) -> tuple[int, StreamLine]:
    """Arguments without the indentation of the document, which is no part of them."""
    message = numbered[1].message
    for block in message.content or () if message else ():
        if not isinstance(block, str) and memoryview(block.input):
            block.input = Raw(msgspec.json.format(bytes(block.input), indent=-1))
    return numbered


class Stream(Reading):
    """The sessions of one stream while its lines come in."""

    def __init__(self, source: Source, unit_is_entry: bool = False) -> None:
        super().__init__(source, unit_is_entry)
        self.now: str | None = None
        self.ended: set[str] = set()
        self.agent_of_call: dict[str, str] = {}
        self.denied: set[str] = set()
        self.noise: list[int] = []

    def warn(self, line: int, reason: str, lost: bool = True) -> None:
        if reason == "not JSON":
            self.noise.append(line)
        else:
            super().warn(line, reason, lost)

    def read(self, lines: Iterable[tuple[int, StreamLine]]) -> Iterator[Session]:
        for number, line in lines:
            self.now = line.session_id or self.now
            if line.type in ("assistant", "user"):
                if line.parent_tool_use_id is None:
                    self.ended.discard(self.now or "")
                self.take(number, self.as_session_line(line))
            elif line.type == "system":
                self.system(number, line)
            elif line.type == "result":
                self.result(number, line)
            elif line.type not in SILENT_TYPES:
                self.unknown.setdefault(line.type, number)
        self.close()
        yield from self.sessions(())

    def new_chain(self, key: str | None, line: Line | None) -> Chain:
        chain = super().new_chain(key, line)
        chain.draft.dialect = DIALECT
        return chain

    def main_chain(self) -> Chain:
        return self.chain_of(Line(type="system", sessionId=self.now))

    def as_session_line(self, line: StreamLine) -> Line:
        known = self.drafts.get(self.now or "")
        return Line(
            type=line.type,
            uuid=line.uuid,
            sessionId=self.now,
            agentId=line.parent_tool_use_id,
            isSidechain=line.parent_tool_use_id is not None,
            isMeta=line.isSynthetic,
            isApiErrorMessage=bool(raw_text(line.error)),
            timestamp=line.timestamp,
            cwd=known.draft.cwd if known else None,
            version=known.draft.version if known else None,
            message=line.message,
            toolUseResult=self.with_agent(line),
        )

    def with_agent(self, line: StreamLine) -> ToolUseResult | str | list[Raw] | None:
        """The structured result, naming the inline sub-agent whose work it is."""
        extra = line.tool_use_result
        blocks = line.message.content if line.message else None
        answered = [b.tool_use_id for b in blocks or () if not isinstance(b, str)]
        call_id = answered[0] if len(answered) == 1 else None
        chain = self.drafts.get(call_id or "")
        if call_id is None or chain is None or not chain.side:
            return extra
        if isinstance(extra, ToolUseResult) and extra.agentId:
            self.agent_of_call[call_id] = extra.agentId
            return extra
        return ToolUseResult(agentId=call_id)

    def system(self, number: int, line: StreamLine) -> None:
        draft = self.main_chain().draft
        at = line.timestamp
        if line.subtype == "init":
            draft.cwd = draft.cwd or line.cwd
            draft.model = draft.model or line.model
            draft.version = draft.version or line.claude_code_version
        elif line.subtype == "compact_boundary":
            draft.signal("compaction", raw_text(line.compact_metadata), number, at)
        elif line.subtype == "api_retry":
            text = f"{raw_text(line.error_status)} {raw_text(line.error)}".strip()
            draft.signal("api_error", text, number, at)
        elif line.subtype == "hook_response" and line.exit_code:
            draft.said("system", f"hook error: {line.stderr or line.exit_code}", number, at)
        elif line.subtype == "permission_denied" and line.tool_use_id:
            self.denied.add(line.tool_use_id)

    def result(self, number: int, line: StreamLine) -> None:
        """How a run ended. The text repeats the last words, unless there were none."""
        draft = self.main_chain().draft
        self.ended.add(self.now or "")
        self.denied.update(d.tool_use_id for d in line.permission_denials or () if d.tool_use_id)
        draft.outcome, draft.reason = "unknown", None
        subtype = line.subtype or ""
        text = raw_text(line.result) or "\n".join(map(raw_text, line.errors or ()))
        if line.is_error or subtype.startswith("error"):
            text = text or raw_text(line.error)
            # A provider's failure is reported as a "success" that is an error.
            by_provider = not subtype.startswith("error_")
            if by_provider and not _is_api_error(draft):
                draft.signal("api_error", text, number, line.timestamp)
            draft.outcome = "aborted"
            draft.reason = text[:200] or "api error" if by_provider else subtype
        elif not any(type(e) is Message and e.role == "assistant" for e in draft.entries):
            draft.said("assistant", text, number, line.timestamp)

    def close(self) -> None:
        """What is known only at the end: names of sub-agents, denied calls, killed runs, noise."""
        names = {chain.key: self.agent_of_call.get(chain.key, chain.key) for chain in self.order}
        owner = {call: chain for chain in self.order for call in chain.calls}
        parents = {key: names[owner[key].key] for key in names if key in owner}
        for chain in self.order:
            if self.denied:
                _reject(chain.draft, self.denied)
            if chain.side:
                chain.draft.parent = parents.get(chain.key, chain.draft.parent)
                chain.key = names[chain.key]
            elif chain.draft.entries and chain.key not in self.ended:
                chain.draft.outcome, chain.draft.reason = "aborted", KILLED
        if self.noise:
            count = len(self.noise)
            what = "line is" if count == 1 else "lines are"
            super().warn(self.noise[0], f"{count} {what} not JSON: other output", lost=False)


def _is_api_error(draft: Draft) -> bool:
    last = draft.entries[-1] if draft.entries else None
    return type(last) is Signal and last.kind == "api_error"


def _reject(draft: Draft, denied: set[str]) -> None:
    for place, entry in enumerate(draft.entries):
        if type(entry) is Result and entry.call_id in denied:
            draft.entries[place] = msgspec.structs.replace(entry, status="rejected", exit_code=None)

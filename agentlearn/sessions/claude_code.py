"""Claude Code session files: one content block a line, prompts and tool results both as `user`.

File order is the truth: walking `parentUuid` from the last line loses parallel calls. The tree
serves for two things only: a second prompt under the parent of an earlier one means that the
person went back (what stood between is undone), and a line whose parent is known belongs to that
session even if it carries another id. Lines of sub-agents become sessions of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agentlearn.sessions import document
from agentlearn.sessions.claude_blocks import Block, block_text, raw_text, strip_reminders, typed_by
from agentlearn.sessions.claude_lines import Envelope, Line, ToolUseResult
from agentlearn.sessions.claude_queue import Queue
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import objects
from agentlearn.sessions.look import CLAUDE_SIDE_TYPES, CLAUDE_TYPES
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session, Status

DIALECT = "claude-code"
EXIT_CODE = re.compile(r"Exit code (-?\d{1,6})\b")
REJECTED = ("The user doesn't want to proceed with this tool use", "User rejected tool use")
REASONS = re.compile(
    r"(?:To tell you how to proceed, the user said:\n|"
    r"The user provided the following reason for the rejection:)\s*"
    r"(.*?)(?:\n\nNote: The user's next message may contain\b.*)?\Z",
    re.DOTALL,
)
"""Some versions add a note of their own after the person's words."""
NOT_THEIRS = "The user wants to clarify these questions"
COLLATERAL = re.compile(
    r"\A(?:<tool_use_error>)?(?:Cancelled: parallel tool call|Sibling tool call)"
)
INTERRUPTED = "[Request interrupted by user"
KNOWN_TYPES = (
    CLAUDE_TYPES | CLAUDE_SIDE_TYPES | {"started", "result", "relocated", "worktree-state"}
)


def read_lines(source: Source) -> Iterator[Session]:
    reading = Reading(source)
    yield from reading.sessions(source.own(objects(source.stream, Line, reading.warn)))


def read_document(source: Source) -> Iterator[Session]:
    """The web session: the same lines, as one JSON list under `loglines`."""
    raws = document.items(document.as_object(document.load(source)).get("loglines"))
    reading = Reading(source, unit_is_entry=True)
    holder = Draft(DIALECT, source.name, "entry")
    lines = document.numbered(raws, Line, holder, warn=reading.warn)
    for session in reading.sessions(lines):
        session.raws.extend(holder.raws)
        yield session


class Reading:
    """The sessions of one file while its lines come in."""

    def __init__(self, source: Source, unit_is_entry: bool = False) -> None:
        self.source = source
        self.unit_is_entry = unit_is_entry
        self.drafts: dict[str, Chain] = {}
        self.order: list[Chain] = []
        self.of_uuid: dict[str, Chain] = {}
        self.awaited: dict[str, Chain] = {}
        self.unknown: dict[str, int] = {}
        self.unplaced = Draft(DIALECT, None)

    def warn(self, line: int, reason: str, lost: bool = True) -> None:
        (self.order[0].draft if self.order else self.unplaced).warn(line, reason, lost)

    def sessions(self, lines: Iterable[tuple[int, Line]]) -> Iterator[Session]:
        for number, line in lines:
            self.take(number, line)
        for kind, number in self.unknown.items():
            self.warn(number, f"unknown line type {kind[:40]!r}", lost=False)
        if not self.order:
            self.order.append(self.new_chain(None, None))
        first, *others = self.order
        first.draft.warnings[:0] = self.unplaced.warnings
        for chain in [first, *(other for other in others if other.draft.entries)]:
            yield chain.finish(self.source)

    def take(self, number: int, line: Line) -> None:
        kind = line.type
        if kind == "progress":
            if line.uuid is not None and (above := self.of_uuid.get(line.parentUuid or "")):
                self.of_uuid[line.uuid] = above
            return
        if kind in ("user", "assistant"):
            chain = self.chain_of(line)
            if chain.is_new(line, self.of_uuid):
                chain.message(number, line)
        elif kind in ("system", "attachment"):
            if not line.isSidechain or line.agentId in self.drafts:
                chain = self.chain_of(line)
                if chain.is_new(line, self.of_uuid):
                    chain.side_line(number, line)
        elif kind == "queue-operation":
            self.chain_of(line).queue_line(number, line)
        elif kind in KNOWN_TYPES:
            if self.order:
                self.order[0].title(number, line)
        elif kind not in self.unknown:
            self.unknown[kind] = number

    def chain_of(self, line: Line) -> Chain:
        """The session a line belongs to: by its sub-agent, its session id or its parent line."""
        if line.isSidechain or (line.agentId and line.type in ("user", "assistant")):
            return self.side_chain_of(line)
        key = line.sessionId or ""
        chain = self.drafts.get(key)
        if chain is None:
            chain = self.of_uuid.get(line.parentUuid or "") or (
                self.order[0] if self.order and not key else None
            )
            if chain is None:
                chain = self.new_chain(key, line)
            self.drafts[key] = chain
        return chain

    def side_chain_of(self, line: Line) -> Chain:
        """By the agent's id; in old files by the line above, which may come after its children."""
        parent, uuid = line.parentUuid or "", line.uuid or ""
        known = self.of_uuid.get(parent) or self.awaited.get(uuid) or self.awaited.get(parent)
        key = line.agentId or (known.key if known and known.side else uuid or "side")
        chain = self.drafts.get(key) or self.new_chain(key, line)
        if parent and parent not in self.of_uuid:
            self.awaited[parent] = chain
        return chain

    def new_chain(self, key: str | None, line: Line | None) -> Chain:
        chain = Chain(key or "", self.source.name, self.unit_is_entry)
        chain.side = bool(line and (line.isSidechain or line.agentId))
        if chain.side and line is not None:
            chain.draft.parent = self.parent_of(line)
        self.drafts[key or ""] = chain
        self.order.append(chain)
        return chain

    def parent_of(self, line: Line) -> str | None:
        """The session that started a sub-agent: its folder's, else the id on the line."""
        path = self.source.path
        if path is not None and path.parent.name == "subagents":
            return path.parent.parent.name
        own = f"agent-{line.agentId}"
        return line.sessionId if line.sessionId != own else None


class Chain:
    """One session of the file: the person's own, or a sub-agent's."""

    def __init__(self, key: str, path: str, unit_is_entry: bool) -> None:
        self.key = key
        self.side = False
        self.draft = Draft(DIALECT, path, "entry" if unit_is_entry else "line")
        self.draft.agent = "claude-code"
        self.ids: dict[str, int] = {}
        self.prompt_at: dict[str, int] = {}
        self.calls: set[str] = set()
        self.queue = Queue()
        self.links: set[str] = set()

    def is_new(self, line: Line, of_uuid: dict[str, Chain]) -> bool:
        """False for a line that was copied into the file a second time."""
        uuid = line.uuid
        if uuid is None:
            return True
        if uuid in of_uuid:
            return False
        of_uuid[uuid] = self
        return True

    def message(self, number: int, line: Line) -> None:
        draft = self.draft
        if line.sessionId:
            self.ids[line.sessionId] = self.ids.get(line.sessionId, 0) + 1
        if draft.version is None:
            draft.version = line.version
            draft.cwd = line.cwd
            if line.gitBranch:
                draft.metadata["branch"] = line.gitBranch
        message = line.message
        if message is None or message.content is None:
            return
        if line.type == "assistant":
            self.response(number, line, message)
        elif isinstance(message.content, str):
            self.typed(message.content, number, line)
        else:
            self.user_blocks(message.content, number, line)

    def response(self, number: int, line: Line, message: Envelope) -> None:
        draft, at, step = self.draft, line.timestamp, message.id
        blocks = message.content
        if message.model == "<synthetic>":
            text = block_text(blocks)
            draft.signal("api_error" if line.isApiErrorMessage else "note", text, number, at)
            return
        if message.model:
            draft.model = message.model
        if isinstance(blocks, str):
            draft.said("assistant", blocks, number, at, step)
            return
        for block in blocks or ():
            if block.type == "text":
                draft.said("assistant", block.text or "", number, at, step)
            elif block.type in ("tool_use", "server_tool_use"):
                if block.id is not None:
                    if block.id in self.calls:
                        continue
                    self.calls.add(block.id)
                draft.called(block.id, block.name or "", memoryview(block.input), number, at, step)

    def user_blocks(self, blocks: list[Block], number: int, line: Line) -> None:
        texts: list[str] = []
        for block in blocks:
            if block.type == "tool_result":
                self.tool_result(block, number, line)
            elif (text := block_text(block)).startswith(INTERRUPTED):
                self.typed(text, number, line)
            elif text:
                texts.append(text)
        if texts:
            self.typed("\n".join(texts), number, line)

    def typed(self, text: str, number: int, line: Line) -> None:
        """A user line: the person's words, or what the harness says in their place."""
        draft, at = self.draft, line.timestamp
        if text.startswith(INTERRUPTED):
            draft.signal("interruption", "", number, at)
            return
        text = strip_reminders(text)
        if not text or text.isspace():
            return
        role, text = typed_by(text)
        origin = (line.origin or {}).get("kind")
        if line.isMeta or line.isCompactSummary or (origin and origin != "human"):
            role = "system"
        if role == "user" and self.side:
            # What a sub-agent is told comes from the agent that started it, not from a person.
            role = "system"
            draft.goal = draft.goal or text
        if role == "user":
            self.went_back(number, line)
            self.queue.arrived(text)
        draft.said(role, text, number, at)

    def went_back(self, number: int, line: Line) -> None:
        """A prompt under the parent of an earlier prompt: what came of the earlier is undone."""
        parent = line.parentUuid
        if parent is None:
            return
        draft = self.draft
        earlier = self.prompt_at.get(parent)
        if earlier is not None and earlier < len(draft.entries):
            undone = len(draft.entries) - earlier
            draft.signal("rollback", "", number, line.timestamp, undoes=undone)
        self.prompt_at[parent] = len(draft.entries)

    def tool_result(self, block: Block, number: int, line: Line) -> None:
        draft, at = self.draft, line.timestamp
        text = block_text(block.content)
        call_id = block.tool_use_id or ""
        extra = line.toolUseResult if isinstance(line.toolUseResult, ToolUseResult) else None
        status: Status = "error" if block.is_error else "ok"
        exit_code = None
        if block.is_error:
            if text.startswith(REJECTED):
                status = "rejected"
            elif COLLATERAL.match(text) or text.startswith(INTERRUPTED):
                status = "interrupted"
            else:
                exit_code = int(code[1]) if (code := EXIT_CODE.match(text)) else None
        elif extra is not None and extra.interrupted:
            status = "interrupted"
        child = extra.agentId if extra is not None else None
        draft.returned(call_id, text, number, at, status, exit_code, child)
        if status == "rejected":
            reason = REASONS.search(text)
            if reason and reason[1] and not reason[1].startswith(NOT_THEIRS):
                draft.signal("rejection", reason[1].strip(), number, at, call_id=call_id)
        if extra is not None and extra.userModified:
            draft.signal("edited", "", number, at, call_id=call_id)

    def side_line(self, number: int, line: Line) -> None:
        """Lines of the harness; only what happened to the session is kept."""
        draft, at = self.draft, line.timestamp
        if line.type == "system":
            if line.subtype == "compact_boundary":
                draft.signal("compaction", raw_text(line.content), number, at)
            elif line.subtype == "api_error":
                draft.signal("api_error", raw_text(line.content), number, at)
            elif line.hookErrors:
                text = "\n".join(map(raw_text, line.hookErrors))
                draft.said("system", f"hook error: {text}", number, at)
            return
        extra = line.attachment
        if extra is None:
            return
        if extra.type == "queued_command":
            origin = (extra.origin or {}).get("kind")
            text = strip_reminders(block_text(extra.prompt))
            role, text = typed_by(text)
            self.queue.arrived(text)
            draft.said("system" if origin not in (None, "human") else role, text, number, at)
        elif extra.type in ("hook_blocking_error", "hook_non_blocking_error"):
            text = extra.stderr or raw_text(extra.blockingError) or raw_text(extra.content)
            draft.said("system", f"hook error: {text}" if text else "", number, at)

    def queue_line(self, number: int, line: Line) -> None:
        text, at = raw_text(line.content), line.timestamp
        self.draft.said("user", self.queue.operate(line.operation, text, number, at), number, at)

    def title(self, number: int, line: Line) -> None:
        title = line.customTitle or line.aiTitle
        if title:
            self.draft.metadata["title"] = title
        if line.type == "pr-link" and line.prUrl and line.prUrl not in self.links:
            self.links.add(line.prUrl)
            self.draft.signal("note", f"pull request {line.prUrl}", number, line.timestamp)

    def finish(self, source: Source) -> Session:
        draft = self.draft
        for waiting in self.queue.left():  # typed, and the agent never came to it
            draft.said("user", waiting.text, waiting.line, waiting.at)
        if self.side:
            draft.id = self.key
        elif self.ids:
            draft.id = max(self.ids, key=lambda name: self.ids[name])
        else:
            draft.id = self.key or source.id_from_bytes()
        return draft.finish()

"""Cursor CLI transcripts: a role and blocks a line, without times and mostly without ids.

Calls have no id and results name one that nothing else has: they are matched by place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from agentlearn.sessions.block_messages import BlockMessages
from agentlearn.sessions.claude_blocks import Block
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import objects
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session

DIALECT = "cursor"
QUERY = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)


class CursorMessage(Struct, gc=False):
    content: str | list[Block] | None = None


class Line(Struct, gc=False):
    role: str | None = None
    message: CursorMessage | None = None


class CursorMessages(BlockMessages):
    def words(self, text: str, line: int, at: str | None) -> None:
        """Around what the person typed, the agent puts what it knows of the editor."""
        asked = QUERY.findall(text)
        super().words("\n".join(map(str.strip, asked)) if asked else text, line, at)


def read_lines(source: Source) -> Iterator[Session]:
    draft = Draft(DIALECT, source.name)
    draft.agent = "cursor"
    messages = CursorMessages(draft)
    unknown: set[str] = set()
    for number, line in objects(source.stream, Line, draft.warn):
        content = line.message.content if line.message else None
        role = line.role or ""
        if not messages.add(role, content, number) and role not in unknown:
            unknown.add(role)
            draft.warn(number, f"unknown role {role[:40]!r}", lost=False)
    yield draft.finish(source.id_from_bytes())

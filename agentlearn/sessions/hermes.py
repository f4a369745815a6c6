"""Hermes session files: chat messages, with the session's own facts around them."""

from __future__ import annotations

from collections.abc import Iterator

from agentlearn.sessions import document
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.openai_chat import Chat, ChatMessage
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import iso_time
from agentlearn.sessions.values import Session

DIALECT = "hermes"


def read_document(source: Source) -> Iterator[Session]:
    found = document.as_object(document.load(source))
    draft = Draft(DIALECT, source.name, "entry")
    draft.id = document.text_of(found.get("session_id")) or source.id_from_bytes()
    draft.agent = "hermes"
    draft.model = document.text_of(found.get("model"))
    draft.cwd = document.text_of(document.fields(found.get("model_config")).get("cwd"))
    draft.started_at = iso_time(document.value_of(found.get("session_start")))
    draft.ended_at = iso_time(document.value_of(found.get("last_updated")))
    draft.parent = document.text_of(found.get("parent_session_id"))
    for key in ("platform", "title"):
        if text := document.text_of(found.get(key)):
            draft.metadata[key] = text
    chat = Chat(draft)
    draft.said("system", document.text_of(found.get("system_prompt")) or "", 1)
    raws = document.items(found.get("messages"))
    for number, message in document.numbered(raws, ChatMessage, draft):
        if message.role != "session_meta":
            chat.add(message, number)
    yield draft.finish()

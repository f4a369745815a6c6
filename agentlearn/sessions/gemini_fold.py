"""The log of a Gemini CLI session, folded into the messages that it leaves.

A message that comes again under its id replaces the earlier one in its place, `$rewindTo` takes
back a message and all after it: the person undid that.

`$set.messages` is a checkpoint, the list as it is from here on. What it holds keeps the line it
first came from, in the order of the list; what it lacks is no part of the session any more. Two
things it lacks without meaning it, because it is made from the model's context: notices (they stay
with the message they follow) and, if it carries the summary of a compression, what was said before
that. Then all of it stays, and only what is new in the list counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from agentlearn.sessions.document import value_of
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.gemini_said import Line, Rewind, Said, parsed
from agentlearn.sessions.lines import loosened

SUMMARY = "<state_snapshot>"
NOTICES = ("info", "warning", "error")


class Fold:
    """The messages of one file while its lines come in."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.standing: list[Said] = []
        self.undone: list[Rewind] = []
        """What was taken back from the start on, so that nothing stands before it."""
        self.by_name: dict[str, Said] = {}
        self.is_subagent = False
        self.last_updated: str | None = None

    def in_order(self) -> Iterator[Said | Rewind]:
        """All that was said, and each rewind behind what it took back."""
        waiting: list[Said | Rewind] = [*reversed(self.standing), *reversed(self.undone)]
        seen: set[int] = set()
        while waiting:
            item = waiting.pop()
            if isinstance(item, Said):
                yield item
                waiting += reversed(item.undone)
            elif id(item) in seen:
                yield item
            else:
                seen.add(id(item))
                waiting += [item, *reversed(item.gone)]

    def take(self, number: int, line: Line) -> None:
        if line.rewind_to is not None:
            self.rewind(number, line.rewind_to)
        elif line.id is not None:
            self.message(number, line, line.id)
        elif change := value_of(line.set):
            if isinstance(change, dict):
                messages = change.pop("messages", None)
                self.metadata(loosened(change, Line))
                if isinstance(messages, list):
                    self.checkpoint(number, messages)
        else:
            self.metadata(line)
            messages = value_of(line.messages)
            if messages and isinstance(messages, list):  # a head has an empty list at most
                self.checkpoint(number, messages)

    def metadata(self, line: Line) -> None:
        draft = self.draft
        draft.id = line.sessionId or draft.id
        draft.started_at = line.startTime or draft.started_at
        self.last_updated = line.lastUpdated or self.last_updated
        if line.kind == "subagent":
            self.is_subagent = True
        if line.summary:
            draft.metadata["title"] = line.summary
        if line.directories:
            draft.cwd = line.directories[0]

    def message(self, number: int, line: Line, key: str) -> None:
        known = self.by_name.get(key)
        found = parsed(number, line)
        if known is None:
            self.add(key, found)
        else:
            _replace(known, found)

    def add(self, key: str, said: Said) -> None:
        self.standing.append(said)
        self.name(key, said)

    def name(self, key: str, said: Said) -> None:
        said.names.append(key)
        self.by_name[key] = said

    def checkpoint(self, number: int, messages: list[Any]) -> None:
        listed: dict[str, Said] = {}
        for place, message in enumerate(messages):
            if isinstance(message, dict):
                line = loosened(message, Line)
                said = listed[line.id or f"#{number}-{place}"] = parsed(number, line)
                said.synced = True
        if any(SUMMARY in word for said in listed.values() for word in said.words):
            self.add_new(listed)
        else:
            self.replace_all(listed)

    def add_new(self, listed: dict[str, Said]) -> None:
        """What a list has beyond all that is known; old messages may have new ids in it."""
        known = {said.gist: said for said in reversed(self.standing)}
        for key, said in listed.items():
            if key not in self.by_name:
                if said.gist in known:
                    self.name(key, known[said.gist])
                else:
                    known[said.gist] = said
                    self.add(key, said)

    def replace_all(self, listed: dict[str, Said]) -> None:
        """The list, with the notices of each message, and with what the person undid."""
        kept = self.found_again(listed)
        staying = {id(said) for said in kept}
        first: list[Said] = []
        notices, undone = first, self.undone
        notices_of: dict[int, list[Said]] = {}
        is_gone = False
        for said in self.standing:
            if id(said) in staying:
                notices = notices_of[id(said)] = []
                undone, is_gone = said.undone, False
            elif said.type in NOTICES and not is_gone:
                notices.append(said)
                undone = said.undone
            else:
                is_gone = True
                undone.extend(said.undone)
                for name in said.names:
                    del self.by_name[name]
        self.standing = first
        for said in kept:
            self.standing += [said, *notices_of.get(id(said), ())]

    def found_again(self, listed: dict[str, Said]) -> list[Said]:
        """The messages of a list: those that are known already, by id or by words, and the new."""
        named = {id(self.by_name[key]) for key in listed if key in self.by_name}
        spare: dict[tuple[Any, ...], deque[Said]] = {}
        for said in self.standing:
            if id(said) not in named and (said.words or said.calls):
                spare.setdefault(said.gist, deque()).append(said)
        found: dict[int, Said] = {}
        for key, said in listed.items():
            known = self.by_name.get(key)
            if known is None:
                same = spare.get(said.gist)
                known = same.popleft() if same else said
                self.name(key, known)
            elif known.synced and not known.says_same(said):
                _replace(known, said)
            found[id(known)] = known
        return list(found.values())

    def rewind(self, number: int, target: str) -> None:
        """That message and all after it are gone; an id that is unknown takes all."""
        if not self.standing:
            return
        first = self.by_name.get(target, self.standing[0])
        gone: list[Said] = []
        while not gone or gone[-1] is not first:
            gone.append(self.standing.pop())
            for name in gone[-1].names:
                del self.by_name[name]
        gone.reverse()
        (self.standing[-1].undone if self.standing else self.undone).append(Rewind(number, gone))


def _replace(known: Said, found: Said) -> None:
    """The same message as it is now; what it is called and what followed it stays."""
    for name in ("line", "type", "at", "words", "calls", "responses", "model", "synced"):
        setattr(known, name, getattr(found, name))

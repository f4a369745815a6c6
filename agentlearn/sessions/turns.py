"""From entries to turns: one action, and what came back.

A turn is a tool call with its own result, found by id and not by place, with the words that came
before it in the same response; or an assistant's closing words with what the person said next.
A stretch that was undone leaves one turn behind.
"""

from __future__ import annotations

from msgspec import Struct

from agentlearn.sessions.values import Call, Counts, Entry, Message, Result, Signal

BORDERS = ("interruption", "compaction")
"""No response goes on after these. Where responses have no ids, that is all there is to tell."""


class Turn(Struct):
    """Texts are put together only when asked for: returns need none of them."""

    words: tuple[Message, ...]
    call: Call | None
    result: Result | None = None
    answer: Message | None = None
    """What the person said next, for closing words."""
    undone: int = 0
    """How many turns were undone, if this is what is left of them."""
    at_entry: int = 0
    """The number of the entry that the turn began with: turns stand in this order."""
    undone_at: int = 0
    """The number of the entry that undid it."""

    @property
    def action(self) -> str:
        parts = [message.text for message in self.words]
        if self.call is not None:
            parts.append(self.call.text)
        return "\n".join(parts)

    @property
    def observation(self) -> str:
        if self.undone:
            return f"undone by the person, {self.undone} turn{'s' if self.undone > 1 else ''}"
        if self.result is not None:
            return self.result.text
        return self.answer.text if self.answer is not None else ""

    @property
    def at(self) -> str | None:
        first = self.call or (self.words[0] if self.words else None)
        return first.at if first else None

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line of the turn."""
        numbers = [message.line for message in self.words]
        numbers += [part.line for part in (self.call, self.result) if part is not None]
        if self.answer is not None:
            numbers.append(self.answer.line)
        return min(numbers), max(numbers)


def turns_of(entries: list[Entry]) -> list[Turn]:
    turns: list[Turn] = []
    open_calls: dict[str, Turn] = {}
    words: list[Message] = []
    words_at = 0

    def close_words() -> None:
        """Words that no call of their own response followed are a turn of their own."""
        if words:
            turns.append(Turn(tuple(words), None, at_entry=words_at))
            words.clear()

    for number, entry in enumerate(entries):
        if type(entry) is Call:
            if words and words[-1].step != entry.step:
                close_words()
            start = words_at if words else number
            turn = Turn(tuple(words), entry, at_entry=start)
            words.clear()
            turns.append(turn)
            open_calls[entry.id] = turn
        elif type(entry) is Result:
            found = open_calls.pop(entry.call_id, None)
            if found is not None:
                found.result = entry
        elif type(entry) is Message:
            if entry.role == "assistant":
                if words and words[-1].step != entry.step:
                    close_words()
                if not words:
                    words_at = number
                words.append(entry)
            elif entry.role == "user":
                close_words()
                last = turns[-1] if turns else None
                if last and last.call is None and last.answer is None and not last.undone:
                    last.answer = entry
            elif words and words[-1].step is None:
                close_words()
        elif type(entry) is Signal:
            if entry.kind == "rollback":
                close_words()
                _undo(turns, number - entry.undoes, number)
            elif entry.kind in BORDERS and words and words[-1].step is None:
                close_words()
    close_words()
    return turns


def _undo(turns: list[Turn], first_entry: int, undone_at: int) -> None:
    """Replace the turns that began at or after the entry by what is left of them: the first."""
    keep = len(turns)
    while keep and turns[keep - 1].at_entry >= first_entry:
        keep -= 1
    gone = turns[keep:]
    if not gone:
        return
    first = gone[0]
    del turns[keep:]
    turns.append(
        Turn(
            first.words,
            first.call,
            undone=sum(turn.undone or 1 for turn in gone),
            at_entry=first.at_entry,
            undone_at=undone_at,
        )
    )


def counts_of(entries: list[Entry]) -> Counts:
    """What happened, in numbers. A rejection, an interruption or collateral damage is no error."""
    messages = calls = results = errors = rejections = interruptions = 0
    open_calls: set[str] = set()
    for entry in entries:
        if type(entry) is Message:
            messages += 1
        elif type(entry) is Call:
            calls += 1
            open_calls.add(entry.id)
        elif type(entry) is Result:
            if entry.call_id in open_calls:
                open_calls.discard(entry.call_id)
                results += 1
                errors += entry.failed
                rejections += entry.status == "rejected"
        elif type(entry) is Signal:
            interruptions += entry.kind == "interruption"
    return Counts(messages, calls, results, errors, rejections, interruptions)

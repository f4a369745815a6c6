"""How a session reads: role-tagged text within a budget of characters.

Every entry begins at the start of a line with its tag, and whatever it goes on with is indented:
nothing inside a tool's output can pass for a person by containing `user:`. The whole output,
markers included, never exceeds the budget. Rewards are not known here: for `evidence`, the
caller passes how much each turn weighs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from agentlearn.guard import plain
from agentlearn.sessions.turns import Turn
from agentlearn.sessions.values import Call, Entry, Message, Result, Session, pack, unpack

Keep = Literal["tail", "ends", "evidence"]
TRUNCATED = "…(transcript truncated)…"
INDENT = "  "
NAMED = 1000.0
MOST_OF_ONE = 4
"""One block that was named takes a quarter of the budget at most."""
SHORTEST_GOAL = 32
"""Less of a goal is not worth its place."""
CONTINUED = re.compile(r"\n(?=[^\n])")


class Block(Struct):
    """What is kept or left out as a whole: a turn, or what a person said."""

    entries: list[Entry]
    weight: float = 0.0
    by_person: bool = False


def render_session(
    session: Session,
    max_chars: int,
    keep: Keep = "tail",
    lines: bool = False,
    tools: bool = True,
    turns: Sequence[Turn] | None = None,
    weights: Sequence[float] | None = None,
    named: Sequence[tuple[int, int]] = (),
) -> str:
    """The session as text of at most `max_chars` characters, its last line without an end.

    Lines that were `named` go before whatever else weighs something.
    """
    painter = Painter(session.unit, lines, tools)
    if keep == "tail":
        # Only the end can be kept, so only the end is painted: sessions are larger than budgets.
        return _tail(painter, _blocks(session, turns), max_chars)
    blocks = _blocks(session, turns, weights)
    for block in blocks if named else ():
        if any(_stands_in(entry, named) for entry in block.entries):
            block.weight += NAMED
    whole = painter.join([painter.block(block) for block in blocks])
    if len(whole) <= max_chars:
        return whole
    if keep == "ends":
        return _ends(painter, blocks, max_chars)
    return _evidence(painter, blocks, max_chars)


class Painter:
    """Entries as text."""

    def __init__(
        self, unit: str, lines: bool, tools: bool, output_chars: int | None = None
    ) -> None:
        self.letter = "L" if unit == "line" else "E"
        self.lines = lines
        self.tools = tools
        self.output_chars = output_chars

    def block(self, block: Block) -> str:
        return self.join([self.entry(entry) for entry in block.entries])

    def join(self, parts: Sequence[str]) -> str:
        return "\n".join(part for part in parts if part)

    def entry(self, entry: Entry) -> str:
        tag, text = self.tagged(entry)
        if not tag:
            return ""
        body = CONTINUED.sub("\n" + INDENT, plain(text).strip("\n"))
        return f"{self.head(entry)}{body}".rstrip()

    def head(self, entry: Entry) -> str:
        """What an entry begins with: where it stands, and who speaks."""
        has_place = self.lines and entry.line  # a verdict from another file has none here
        place = f"[{self.letter}{entry.line}] " if has_place else ""
        return f"{place}{self.tagged(entry)[0]}: "

    def tagged(self, entry: Entry) -> tuple[str, str]:
        """The tag and the text of an entry; no tag for what is not shown."""
        if isinstance(entry, Message):
            return entry.role, entry.text
        if isinstance(entry, Call):
            return ("tool_call", self.shortened(entry.text)) if self.tools else ("", "")
        if isinstance(entry, Result):
            return ("tool_result", self.result(entry)) if self.tools else ("", "")
        if entry.kind == "rejection":
            return "user", f"(rejecting the call) {entry.text}"
        said = {
            "interruption": "the person interrupted",
            "rollback": f"the person undid the last {entry.undoes} entries",
            "edited": "the person changed this edit before accepting it",
            "compaction": "the conversation was compacted",
            "verdict": "verdict",
            "api_error": "the provider failed",
            "note": "",
        }[entry.kind]
        if entry.kind == "verdict" and entry.value is not None:
            said += f" {entry.value:g}"
        return "system", ": ".join(filter(None, [f"({said})" if said else "", entry.text]))

    def shortened(self, text: str) -> str:
        """A text with its middle left out, where there is a limit and it is over it."""
        if self.output_chars is None or len(text) <= self.output_chars:
            return text
        half = self.output_chars // 2
        left = len(text) - 2 * half
        return f"{text[:half]}\n…({left} characters left out)…\n{text[-half:]}"

    def result(self, entry: Result) -> str:
        text = self.shortened(entry.text)
        marks: list[str] = []
        if entry.status != "ok":
            marks.append(entry.status)
        if entry.exit_code is not None and entry.exit_code != 0:
            marks.append(f"exit code {entry.exit_code}")
        return f"({', '.join(marks)}) {text}" if marks else text


def _blocks(
    session: Session, turns: Sequence[Turn] | None, weights: Sequence[float] | None = None
) -> list[Block]:
    """The entries, parted where a turn begins and where a person speaks."""
    turns = session.turns() if turns is None else turns
    weight_at = {
        turn.at_entry: weights[index] if weights else 0.0 for index, turn in enumerate(turns)
    }
    answered = {turn.call.id for turn in turns if turn.call is not None and turn.result is not None}
    blocks = _unsaid_goal(session)
    waiting: set[str] = set()
    for number, entry in enumerate(session.entries):
        by_person = type(entry) is Message and entry.role == "user"
        weight = abs(weight_at.get(number, 0.0))
        # Calls that were made side by side stay together: a result must not lose its call.
        if by_person or number == 0 or (number in weight_at and not waiting):
            blocks.append(Block([], weight, by_person))
            waiting.clear()
        else:
            blocks[-1].weight = max(blocks[-1].weight, weight)
        if type(entry) is Call and entry.id in answered:
            waiting.add(entry.id)
        elif type(entry) is Result:
            waiting.discard(entry.call_id)
        blocks[-1].entries.append(entry)
    return blocks


def _stands_in(entry: Entry, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= entry.line <= end for start, end in spans)


def _unsaid_goal(session: Session) -> list[Block]:
    """The goal, where only the head of the session states it: nobody could tell what was asked."""
    goal = unpack(pack(session.goal or "")).strip()
    said = (e.text for e in session.entries if type(e) is Message and e.role != "assistant")
    if not goal or any(goal in text for text in said):
        return []
    message = Message("system" if session.parent else "user", pack(goal), 0)
    return [Block([message], by_person=True)]


def was_truncated(text: str) -> bool:
    """Whether a rendered text is not the whole: only a marker stands at the start of a line so."""
    return TRUNCATED in text.split("\n") or (bool(text) and TRUNCATED.startswith(text))


def _tail(painter: Painter, blocks: list[Block], budget: int, is_cut: bool = False) -> str:
    """As many whole blocks from the end as fit; the last one's own tail if it alone is too long.

    `is_cut`: something before them was left out already, so the marker stands in any case.
    """
    kept: list[str] = []
    size = -1
    last: Block | None = None
    for block in reversed(blocks):
        text = painter.block(block)
        if not text:
            continue
        last = last or block
        if size + 1 + len(text) > budget:
            is_cut = True
            break
        kept.append(text)
        size += 1 + len(text)
    if not is_cut:
        return painter.join(list(reversed(kept)))
    room = budget - len(TRUNCATED) - 1
    while kept and size > room:
        size -= len(kept.pop()) + 1
    if last is not None and not kept:
        kept = [_own_tail(painter, last, room)]
    return _cut_to(painter.join([TRUNCATED, *reversed(kept)]), budget)


def _own_tail(painter: Painter, block: Block, room: int) -> str:
    """The end of a block; the entry that is cut keeps its tag, so that its speaker is known."""
    kept: list[str] = []
    for entry in reversed(block.entries):
        text, head = painter.entry(entry), painter.head(entry)
        if text and len(text) <= room:
            kept.append(text)
            room -= len(text) + 1
        elif text:
            chars = room - len(head) - len("…")
            if chars > 0:
                kept.append(f"{head}…{text[-chars:].lstrip()}")
            break
    return painter.join(list(reversed(kept)))


def _cut_to(text: str, budget: int) -> str:
    return text if len(text) <= budget else text[:budget]


def _ends(painter: Painter, blocks: list[Block], budget: int) -> str:
    """The goal, as much of it as a quarter of the budget (or the end) leaves, and the end."""
    first = next((block for block in blocks if block.by_person), blocks[0])
    goal = painter.entry(first.entries[0])
    rest = [Block(first.entries[1:]) if block is first else block for block in blocks]
    rest_chars = len(painter.join([painter.block(block) for block in rest]))
    room = max(budget // 4, budget - rest_chars - len(TRUNCATED) - 2)
    if not rest_chars or room < SHORTEST_GOAL:
        return _tail(painter, blocks, budget)
    is_cut = len(goal) > room
    if is_cut:
        goal = goal[: room - 1].rstrip() + "…"
    return painter.join([goal, _tail(painter, rest, budget - len(goal) - 1, is_cut)])


def _evidence(painter: Painter, blocks: list[Block], budget: int) -> str:
    """The weightiest blocks with what surrounds them; long tool outputs are shortened first."""
    texts: list[str] = []
    for chars in (2000, 600, 200):
        painter.output_chars = chars
        texts = [painter.block(block) for block in blocks]
        whole = painter.join([TRUNCATED, *texts])
        if len(whole) <= budget:
            return whole
    for index, block in enumerate(blocks):
        if block.weight >= NAMED:  # what was asked for is shown, if need be without its middle
            texts[index] = _without_middle(texts[index], budget // MOST_OF_ONE)
    chosen: set[int] = set()
    gap = len(_gap(len(blocks))) + 1
    room = budget - len(TRUNCATED) - 1 - gap
    for index in _by_importance(blocks):
        cost = len(texts[index]) + 1 + gap
        if index not in chosen and texts[index] and cost <= room:
            chosen.add(index)
            room -= cost
    if not chosen:
        return _tail(painter, blocks, budget)
    parts, left_out = [TRUNCATED], 0
    for index, text in enumerate(texts):
        if index in chosen:
            if left_out:
                parts.append(_gap(left_out))
            parts.append(text)
            left_out = 0
        elif text:
            left_out += 1
    if left_out:
        parts.append(_gap(left_out))
    return _cut_to(painter.join(parts), budget)


def _without_middle(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = max(1, most // 2 - 20)
    left = len(text) - 2 * half
    return f"{text[:half]}\n{INDENT}…({left} characters left out)…\n{INDENT}{text[-half:]}"


def _gap(count: int) -> str:
    return f"…({count} left out)…"


def _by_importance(blocks: list[Block]) -> list[int]:
    """The goal, then the weighty blocks each with its neighbours, people's words, and the end."""
    goal = next((index for index, block in enumerate(blocks) if block.by_person), 0)
    weighty = [index for index, block in enumerate(blocks) if block.weight > 0]
    weighty.sort(key=lambda index: (-blocks[index].weight, -index))
    order = [goal, *(index for index in weighty if blocks[index].weight >= NAMED)]
    for index in weighty:
        order += [index, *(near for near in (index + 1, index - 1) if 0 <= near < len(blocks))]
    order += [index for index in range(len(blocks) - 1, -1, -1) if blocks[index].by_person]
    return order + list(range(len(blocks) - 1, -1, -1))

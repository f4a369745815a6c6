"""The tools of an explorer, and no others: look into sessions, ask about parts, answer.

Whatever a model sends, it gets text back; what is wrong with a call is a sentence that says what to
do instead. Every result has a most, and says what was left out. Nothing a model writes is run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from agentlearn.errors import BadInput
from agentlearn.guard import one_line, plain
from agentlearn.models.model import Tool
from agentlearn.rlm.asking import Asking, Spent
from agentlearn.rlm.citations import Cited, book, checked
from agentlearn.rlm.outline import outline
from agentlearn.rlm.pages import Pages
from agentlearn.rlm.search import MOST_HITS, search
from agentlearn.rlm.side_by_side import OutOfTime

MOST_RESULT = 20_000
PART_CHARS = 60_000
"""So much of a session one question is about."""
SHORTENED = (None, 4000, 1000, 300)
"""To fit a part into that, the middles of long entries are left out."""
MOST_PARTS = 20
MOST_QUESTION = 2_000
LINES = {"type": "integer", "minimum": 1}
SESSION = {"type": "string", "description": "Its id, or its number; only if there are several."}
PLACE = {"type": "string", "description": "Lines, as L120-L138; session#L120 of several."}


def _tool(name: str, description: str, required: Sequence[str], **fields: Any) -> Tool:
    schema = {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }
    return Tool(name, description, schema)


ANSWER = _tool(
    "answer",
    "End with the answer, and the lines that it rests on.",
    ["text", "citations"],
    text={"type": "string"},
    citations={"type": "array", "items": PLACE},
)
TOOLS = (
    _tool(
        "outline",
        "What there is: turns, tools, failures, the person's words. Of a stretch, or of all.",
        [],
        first=LINES,
        last=LINES,
        session=SESSION,
    ),
    _tool(
        "look",
        "The text of lines, first to last.",
        ["first", "last"],
        first=LINES,
        last=LINES,
        session=SESSION,
    ),
    _tool(
        "search",
        "Where a regular expression is found; upper and lower case are the same. An entry reads as "
        "`user: …`, `assistant: …`, `tool_call: Bash …`, `tool_result: (error, exit code 1) …`.",
        ["pattern"],
        pattern={"type": "string"},
        first=LINES,
        last=LINES,
        session=SESSION,
    ),
    _tool(
        "ask",
        "Another model reads these lines and answers a question about them.",
        ["question", "first", "last"],
        question={"type": "string"},
        first=LINES,
        last=LINES,
        session=SESSION,
    ),
    _tool(
        "ask_each",
        f"The same question about several parts, at most {MOST_PARTS}, read side by side.",
        ["question", "parts"],
        question={"type": "string"},
        parts={"type": "array", "items": PLACE},
        session=SESSION,
    ),
    ANSWER,
)
STATUS = {"ask": "asking", "ask_each": "asking", "answer": "answering"}
"""What a run is doing while a tool is used; else it is searching."""


class Finding(Struct, frozen=True):
    """What a model said of a part."""

    place: str
    text: str


class Explorer:
    """The tools over some sessions, for one run."""

    def __init__(self, books: Sequence[Pages], asking: Asking) -> None:
        self.books = books
        self.asking = asking
        self.answered: Cited | None = None
        self.findings: list[Finding] = []
        self.read: dict[int, list[tuple[int, int]]] = {}
        """The lines of each session that somebody read."""

    def call(self, name: str, arguments: str) -> tuple[str, bool]:
        """Use a tool: what it says, and whether that is an error. `Spent` ends the run."""
        tools: dict[str, Callable[[dict[str, Any]], str]] = {
            "outline": self._outline,
            "look": self._look,
            "search": self._search,
            "ask": self._ask,
            "ask_each": self._ask_each,
            "answer": self._answer,
        }
        try:
            if name not in tools:
                known = ", ".join(tools)
                raise BadInput(f"there is no tool {one_line(name, 60)!r}; the tools are {known}")
            return _capped(tools[name](_object(arguments))), False
        except OutOfTime:
            seconds = self.asking.limits.timeout_seconds
            raise Spent("timeout", f"{seconds:g} seconds are over") from None
        except BadInput as error:
            return f"error: {error.message}", True

    def read_chars(self) -> int:
        return sum(self.books[number].size_of(spans) for number, spans in self.read.items())

    def _note_read(self, pages: Pages, first: int, last: int) -> None:
        self.read.setdefault(self.books.index(pages), []).append((first, last))

    def _outline(self, given: dict[str, Any]) -> str:
        pages = self._pages(given)
        first, last = self._lines(given, pages)
        return outline(pages, first, last, MOST_RESULT)

    def _look(self, given: dict[str, Any]) -> str:
        pages = self._pages(given)
        first, last = self._lines(given, pages)
        shown: list[str] = []
        size = 0
        for line, text in pages.painted(first, last, MOST_RESULT // 2):
            if size + len(text) + 1 > MOST_RESULT - 100:
                shown.append(f"…(left out: {pages.place(line, last)}; look({line}, {last}))…")
                break
            shown.append(text)
            size += len(text) + 1
            self._note_read(pages, line, line)
        return "\n".join(shown) or f"there is nothing in {pages.place(first, last)}"

    def _search(self, given: dict[str, Any]) -> str:
        pages = self._pages(given)
        first, last = self._lines(given, pages)
        pattern = _text(given, "pattern", MOST_QUESTION)
        hits = search(pages, pattern, first, last, self.asking.seconds_left(10.0))
        if not hits:
            return "nothing found"
        lines, size = [], 0
        for hit in hits:
            line = f"{pages.letter}{hit.line} {hit.text}"
            size += len(line) + 1
            if size > MOST_RESULT - 200:
                break
            lines.append(line)
        count = f"{len(hits)}{' or more' if len(hits) == MOST_HITS else ''} found"
        left = len(hits) - len(lines)
        after = hits[len(lines)].line if left else 0
        more = [f"…({left} left out: search again with first={after})…"] if left else []
        return "\n".join([count, *lines, *more])

    def _ask(self, given: dict[str, Any]) -> str:
        pages = self._pages(given)
        first, last = self._lines(given, pages)
        question = _text(given, "question", MOST_QUESTION)
        return self._asked(question, [(pages, first, last)])

    def _ask_each(self, given: dict[str, Any]) -> str:
        question = _text(given, "question", MOST_QUESTION)
        named = given.get("parts")
        if not isinstance(named, list) or not named:
            raise BadInput("parts is a list of lines, as L120-L138")
        if len(named) > MOST_PARTS:
            raise BadInput(f"{len(named)} parts are too many: {MOST_PARTS} at once")
        return self._asked(question, [self._part(place, given) for place in named])

    def _asked(self, question: str, parts: list[tuple[Pages, int, int]]) -> str:
        texts = [part_text(pages, first, last) for pages, first, last in parts]
        for part in parts:
            self._note_read(*part)
        answers = self.asking.about(question, texts)
        told = []
        for (pages, first, last), answer in zip(parts, answers, strict=True):
            place = pages.place(first, last)
            if isinstance(answer, Spent) or (isinstance(answer, Exception) and len(parts) == 1):
                raise answer
            if isinstance(answer, Exception):
                told.append(f"{place}: error: {answer}")
                continue
            self.findings.append(Finding(f"{pages.id}#{place}", answer))
            told.append(f"{place}: {answer}")
        if all(isinstance(answer, Exception) for answer in answers):
            raise next(answer for answer in answers if isinstance(answer, Exception))
        return "\n\n".join(_shortened(one, MOST_RESULT // len(told) - 60) for one in told)

    def _answer(self, given: dict[str, Any]) -> str:
        text = _text(given, "text", MOST_RESULT)
        named = given.get("citations", [])
        if not isinstance(named, list):
            raise BadInput("citations is a list of lines, as L120-L138")
        self.answered = checked(self.books, text, named)
        return "done"

    def _pages(self, given: dict[str, Any]) -> Pages:
        session = given.get("session")
        if session is not None and not isinstance(session, str):
            session = str(session)
        pages = book(self.books, session)
        if pages is None and session is None:
            ids = ", ".join(one_line(pages.id, 60) for pages in self.books[:20])
            raise BadInput(f"there are several sessions, name one: {ids}")
        if pages is None:
            raise BadInput(f"there is no session {one_line(session or '', 60)!r}")
        return pages

    def _lines(self, given: dict[str, Any], pages: Pages) -> tuple[int, int]:
        """First and last line; what lies beyond the ends of the session is taken as its ends."""
        first, last = given.get("first", pages.first), given.get("last", pages.last)
        return self._within(pages, first, last)

    def _within(self, pages: Pages, first: Any, last: Any) -> tuple[int, int]:
        if any(type(number) is not int for number in (first, last)):
            raise BadInput("first and last are numbers of lines")
        first, last = max(first, pages.first), min(last, pages.last)
        if first > last:
            there = pages.place(pages.first, pages.last)
            raise BadInput(f"there are no such lines: the session has {there}")
        return first, last

    def _part(self, place: Any, given: dict[str, Any]) -> tuple[Pages, int, int]:
        from agentlearn.rlm.citations import IN_TEXT

        match = IN_TEXT.fullmatch(place.strip()) if isinstance(place, str) else None
        if match is None:
            raise BadInput(f"{one_line(str(place), 60)!r} names no lines: write them as L120-L138")
        session, _, start, end = match.groups()
        pages = self._pages({"session": session} if session else given)
        return pages, *self._within(pages, int(start), int(end or start))


def part_text(pages: Pages, first: int, last: int) -> str:
    """Lines for another model to read; long entries without their middles if it is too much."""
    fits = first
    for most in SHORTENED:
        texts: list[str] = []
        size = 0
        for line, text in pages.painted(first, last, most):
            size += len(text) + 1
            if size > PART_CHARS:
                break
            texts.append(text)
            fits = max(fits, line)
        else:
            if not texts:
                raise BadInput(f"there is nothing in {pages.place(first, last)}")
            return "\n".join(texts)
    raise BadInput(
        f"{pages.place(first, last)} is too much for one question: "
        f"{pages.place(first, fits)} would fit"
    )


def _object(arguments: str) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(arguments or "{}")
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise BadInput(f"the arguments are no JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadInput("the arguments are no object")
    return value


def _text(given: dict[str, Any], name: str, most: int) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{name} is missing")
    if len(value) > most:
        raise BadInput(f"{name} has {len(value)} characters, {most} are the most")
    return value


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}…({len(text) - most} characters left out)…"


def _capped(text: str) -> str:
    return plain(_shortened(text, MOST_RESULT - 60))

"""The tools of an explorer, and no others: look into sessions, ask about parts, answer.

Whatever a model sends, it gets text back; what is wrong with a call is a sentence that says what to
do instead. Every result has a most, and says what was left out. Nothing a model writes is run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.guard import one_line, plain
from agentlearn.guard.secrets import redact
from agentlearn.rlm.asking import Asking, Spent
from agentlearn.rlm.citations import IN_TEXT, Cited, book, checked
from agentlearn.rlm.outline import outline
from agentlearn.rlm.pages import Pages
from agentlearn.rlm.schemas import MOST_PARTS
from agentlearn.rlm.search import MOST_HITS, search
from agentlearn.rlm.side_by_side import OutOfTime

MOST_RESULT = 20_000
PART_CHARS = 60_000
"""So much of a session one question is about."""
SHORTENED = (None, 4000, 1000, 300)
"""To fit a part into that, the middles of long entries are left out."""
SHORTEST_ENTRY = 200
MOST_QUESTION = 2_000


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
        self.places: dict[str, str] = {}
        """Where each part stands that somebody was asked about."""
        self.sent = 0

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
        except BadInput as error:
            return f"error: {error.message}", True

    @property
    def findings(self) -> list[Finding]:
        """What was said of parts, also where nobody waited for the end."""
        heard = dict(self.asking.heard)
        return [Finding(place, heard[text]) for text, place in self.places.items() if text in heard]

    @property
    def read_chars(self) -> int:
        """About how much of the sessions somebody looked at."""
        return min(self.sent, sum(pages.chars for pages in self.books))

    def _outline(self, given: dict[str, Any]) -> str:
        pages = self._pages(given)
        first, last = self._lines(given, pages)
        return outline(pages, first, last, MOST_RESULT)

    def _look(self, given: dict[str, Any]) -> str:
        pages = self._pages(given)
        first, last = self._lines(given, pages)
        shown, line = self._shown(pages, first, last, MOST_RESULT // 2)
        if line == first:  # one line may hold more than fits: then less of each of its entries
            count = sum(1 for _ in pages.entries(first, first))
            each = max(SHORTEST_ENTRY, (MOST_RESULT - 500) // count - 40)
            shown, line = self._shown(pages, first, last, each)
        text = "\n".join(shown)
        self.sent += len(text)
        if line is not None:
            text += f"\n…(left out: {pages.place(line, last)}; look({line}, {last}))…"
        return text or f"there is nothing in {pages.place(first, last)}"

    def _shown(
        self, pages: Pages, first: int, last: int, entry_chars: int
    ) -> tuple[list[str], int | None]:
        """As many entries as fit, and the line of the first that does not."""
        shown: list[str] = []
        size = 0
        for line, text in pages.painted(first, last, entry_chars):
            size += len(text) + 1
            if size > MOST_RESULT - 200:
                return shown, line
            shown.append(text)
        return shown, None

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
        for (pages, first, last), text in zip(parts, texts, strict=True):
            self.places[text] = f"{pages.id}#{pages.place(first, last)}"
        answers = self.asking.about(question, texts)
        told = []
        failed: list[Exception] = []
        for (pages, first, last), text, answer in zip(parts, texts, answers, strict=True):
            place = pages.place(first, last)
            if isinstance(answer, Exception):
                failed.append(answer)
                told.append(f"{place}: error: {redact(str(answer))}")
                continue
            self.sent += len(text)
            told.append(f"{place}: {answer}")
        self._stop_if_it_must(failed, len(answers))
        return "\n\n".join(_shortened(one, MOST_RESULT // len(told) - 60) for one in told)

    def _stop_if_it_must(self, failed: list[Exception], asked: int) -> None:
        """What was answered is a finding by now, whatever happened to the rest."""
        for error in failed:
            if isinstance(error, OutOfTime):
                raise self.asking.out_of_time()
            if isinstance(error, Spent) or not isinstance(error, AgentlearnError):
                raise error
        if failed and len(failed) == asked:
            raise failed[0]

    def _answer(self, given: dict[str, Any]) -> str:
        text = _text(given, "text", MOST_RESULT)
        named = given.get("citations", [])
        if not isinstance(named, list):
            raise BadInput("citations is a list of lines, as L120-L138")
        self.answered = checked(self.books, plain(redact(text)).strip(), named)
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
    return _shortened(plain(text), MOST_RESULT - 60)  # what is made visible is longer

"""What the person told the agent that will hold next time, in their own words.

A sentence is weighed by its words and by its place: typed into a rejection, in answer to a
question, said again later, or followed by the agent's "you're right". Only what weighs enough is
noted; ordinary requests, questions, reports and pasted text do not. Later words overrule earlier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from typing import Literal

from msgspec import Struct, structs

from agentlearn.review import weighing
from agentlearn.review.answers import typed_answers
from agentlearn.review.lasting import NAMED
from agentlearn.review.lesson import Lesson
from agentlearn.review.overruling import (
    ABOUT,
    OVERRULES,
    RETRACTS,
    repeats,
    stands_for,
    taken_back,
)
from agentlearn.review.restating import NEGATED, alike
from agentlearn.review.speech import bare, in_own_words, sentences
from agentlearn.rewards.patterns import Patterns
from agentlearn.sessions.values import Call, Entry, Message, Result, Session, Signal
from agentlearn.store.memory import same_note
from agentlearn.store.similar import roots

ENOUGH = 3
PLACES = {"rejection": 1, "plan": 0, "answer": 0, "remember": 10, "typed": 0}
"""An action that was refused was wrong; a plan that was sent back mostly lacks something."""
AGREED, AGAIN = 2, 3
PLANS = re.compile(r"(?i)plan|question")
CONTEXT_CHARS, NOTE_CHARS = 80, 400
LOOK_AHEAD = 4
FEWEST_WORDS, MOST_SAID, MOST_BACK = 5, 1000, 100
POINTS = re.compile(
    r"^(?:those|these|this|that|it|they)\b|\b(?:do|did|doing|done|remove|like) (?:this|that|it)\b",
    re.IGNORECASE,
)
"""Words that say nothing without what was said before."""
NAMES = re.compile(
    r"\b(?:we|i)(?:'m)? (?:\w+ )?(?:use|have|keep|run|want|follow|hate|on)\b|^use \S+"
    r"|\b(?:instead of|rather than|here|in this (?:project|repo|repository|code ?base))\b"
    r"|\b(?:this|our) (?:project|repo|repository|code ?base)\b|^no new\b"
    r"|^(?:please )?(?:don'?t|do not|never|avoid) (?:use|open|launch|mock|hardcode|touch|edit) "
    r"(?!this|that|it\b)\w",
    re.IGNORECASE,
)
"""Words that name what they are about, however few they are."""
NOTHING = re.compile(r"^never ?mind\b|\[secret: |^(?:because|becuase|cause|bc)\b", re.IGNORECASE)
"""A wish whose object is gone is none, and neither is the mere reason for one."""
ABOUT_PERSON = re.compile(
    r"\b(?:i|me|my|i'?m|commit|push|ask|explain|summary|summar\w+|plan|comment|emoji|reply|answer|"
    r"language|tell|show|confirm|approve|wait for|step by step|verbose|concise|question)\b",
    re.IGNORECASE,
)
ASIDE = re.compile(r"\bkeep in mind\b", re.IGNORECASE)
"""After a request this says what to mind while doing it."""
Place = Literal["rejection", "plan", "answer", "remember", "typed"]


class Said(Struct, frozen=True, dict=True):
    sentence: str
    line: int
    place: Place
    number: int
    """Of the entry: two sentences of one saying do not say it twice."""
    before: str = ""
    """What the person had said before: "remove this again" is nothing without it."""
    before_line: int = 0
    agreed: bool = False
    """The agent's next words agree, or apologise."""

    @cached_property
    def is_about_work(self) -> bool:
        return weighing.is_about_work(weighing.QUOTED.sub("…", bare(self.sentence)))

    @cached_property
    def points(self) -> int:
        return _points(self)

    @cached_property
    def roots(self) -> frozenset[str]:
        return roots(self.sentence)


def wishes_of(session: Session, patterns: Patterns) -> list[Lesson]:
    """What to note, in the order it was said; one note for what was said in one go."""
    said = list(_said(session, patterns))[-MOST_SAID:]
    kept: list[Lesson] = []
    for _, group in groupby(enumerate(said), key=lambda item: item[1].number):
        places = [index for index, _ in group]
        for index in list(places):
            if RETRACTS.match(said[index].sentence):
                last_line = said[places[0] - 1].line if places[0] else 0
                rest, gone, kept = taken_back(said[index].sentence, last_line, kept)
                place: Place = "remember" if gone and rest else said[index].place
                said[index] = structs.replace(
                    said[index], sentence=rest or "never mind", place=place, before=""
                )
                places = [place for place in places if place >= index]  # nor what was said with it
        lesson = _noted([lesson for index in places if (lesson := _wished(said, index))])
        if lesson is None:
            continue
        overrules = any(OVERRULES.match(said[index].sentence) for index in places)
        before = [known for known in kept[-MOST_BACK:] if stands_for(lesson, known, overrules)]
        kept = [known for known in kept if known not in before]
        spans = [span for known in (*before, lesson) for span in known.spans]
        kept.append(structs.replace(lesson, spans=tuple(dict.fromkeys(spans))))
    return kept


def _noted(wishes: list[Lesson]) -> Lesson | None:
    """One note of the wishes of one saying, as far as they fit."""
    if not wishes:
        return None
    first, text = wishes[0], wishes[0].text
    for wish in wishes[1:]:
        more = ABOUT.sub("", wish.text)
        if len(text) + len(more) < NOTE_CHARS:
            text = f"{text} {more[:1].upper()}{more[1:]}"
    spans = tuple(dict.fromkeys(span for wish in wishes for span in wish.spans))
    strength = max(wish.strength for wish in wishes)
    return structs.replace(first, text=text, spans=spans, strength=strength)


def _wished(said: list[Said], index: int) -> Lesson | None:
    wish = said[index]
    if NOTHING.search(wish.sentence):
        return None
    if (undone := _undone(wish, said[max(0, index - 3) : index])) is not None:
        return undone
    points = wish.points
    is_said_again = repeats(wish.sentence)
    if points <= ENOUGH - AGAIN and not is_said_again:
        return None  # not even if it was said before
    again = [
        other
        for other in said[max(0, index - MOST_BACK) : index]
        if (other.points > 0 or is_said_again) and _same_matter(wish, other)
    ]
    if is_said_again and again:
        points = max(points, 1)  # who says that it was said before means it
    points += AGAIN * bool(again)
    if points < ENOUGH:
        return None
    if any(_same_matter(wish, other) and _contrary(wish, other) for other in said[index + 1 :]):
        return None
    text = in_own_words(wish.sentence)
    leans = _leans(wish)
    if leans and not _bears_leaning(wish, points):
        return None
    if wish.before and leans:
        matter = in_own_words(wish.before)[:CONTEXT_CHARS].rstrip(".")
        text = f"About “{matter}”: {text[:1].lower()}{text[1:]}"
        again = [*again, structs.replace(wish, line=wish.before_line)]
    lines = dict.fromkeys(sorted([*(other.line for other in again), wish.line]))
    target: Literal["MEMORY", "USER"] = "USER" if ABOUT_PERSON.search(wish.sentence) else "MEMORY"
    return Lesson(text, tuple((line, line) for line in lines), None, target, points)


def _points(wish: Said) -> int:
    sentence = bare(wish.sentence)
    if wish.place == "remember":
        return PLACES["remember"]
    if len(sentence.split()) < FEWEST_WORDS and not _says_enough(wish):
        return 0
    points = weighing.weigh(sentence, rejects=wish.place in ("rejection", "plan"))
    if points <= 0:
        decided = weighing.decides(sentence)
        return decided + AGREED * wish.agreed if decided else 0
    return points + PLACES[wish.place] + AGREED * wish.agreed


def _bears_leaning(wish: Said, points: int) -> bool:
    """Whether it lasts although it needs what was said before to be understood."""
    if wish.place != "typed":
        return True  # what was rejected stands beside it
    return points >= weighing.CLEAR or wish.is_about_work or wish.agreed


def _says_enough(wish: Said) -> bool:
    """However few its words are: "use uv", "be concise"."""
    sentence = bare(wish.sentence)
    named = NAMED.search(sentence) is not None or NAMES.search(sentence) is not None
    return wish.is_about_work or named or weighing.is_standing(sentence)


def _leans(wish: Said) -> bool:
    """Whether it says nothing without what was said before."""
    sentence = bare(wish.sentence)
    if weighing.is_standing(sentence) or NAMES.search(sentence):
        return False
    few = not wish.is_about_work and len(roots(sentence)) < 4
    return few or POINTS.search(sentence) is not None


def _undone(wish: Said, before: list[Said]) -> Lesson | None:
    """The person found fault with what was done, and then had it taken out."""
    if not weighing.UNDOES.search(wish.sentence):
        return None
    faults = [
        other
        for other in before
        if other.number != wish.number and weighing.FAULT.search(other.sentence)
    ]
    if not faults:
        return None
    text = f"{in_own_words(faults[-1].sentence)} The person had it taken out."
    return Lesson(
        text,
        tuple((each.line, each.line) for each in (faults[-1], wish)),
        None,
        "USER",
        weighing.CLEAR,
    )


def _said(session: Session, patterns: Patterns) -> Iterator[Said]:
    """The sentences of the person since the agent began to act, each with its place."""
    answered, before, before_line = False, "", 0
    asked: dict[str, Call] = {}
    planned: set[str] = set()
    for number, entry in enumerate(session.entries):
        if isinstance(entry, Call):
            answered = True
            if patterns.questions.search(entry.tool):
                asked[entry.id] = entry
            if PLANS.search(entry.tool):
                planned.add(entry.id)
        elif isinstance(entry, Result):
            if entry.call_id in asked and entry.status == "ok":
                for answer in typed_answers(asked[entry.call_id], entry):
                    for sentence in sentences(answer):
                        yield Said(sentence, entry.line, "answer", number, before, before_line)
        elif isinstance(entry, Signal):
            if entry.kind == "rejection":
                agreed = _agreed(session.entries, number)
                place: Place = "plan" if entry.call_id in planned else "rejection"
                for said in _typed(entry.text, entry.line, number, place):
                    yield structs.replace(
                        said, before=before, before_line=before_line, agreed=agreed
                    )
        elif entry.role == "user":
            agreed = _agreed(session.entries, number)
            follows: Place | None = "typed" if answered and before else None
            for said in _typed(entry.text, entry.line, number, follows):
                yield structs.replace(said, before=before, before_line=before_line, agreed=agreed)
            before, before_line, answered = entry.text.strip().split("\n")[0], entry.line, False
        elif entry.role == "assistant":
            answered = True


def _typed(text: str, line: int, number: int, place: Place | None) -> Iterator[Said]:
    """No place: the agent has done nothing since the person last spoke."""
    for position, sentence in enumerate(sentences(text)):
        if weighing.REMEMBER.search(sentence) and (position == 0 or not ASIDE.search(sentence)):
            yield Said(sentence, line, "remember", number)
        elif place is not None:
            yield Said(sentence, line, place, number)


def _agreed(entries: tuple[Entry, ...] | list[Entry], number: int) -> bool:
    """Whether the agent's next words take it as a correction."""
    for entry in entries[number + 1 : number + 1 + LOOK_AHEAD]:
        if isinstance(entry, Message):
            return entry.role == "assistant" and weighing.AGREES.search(entry.text[:80]) is not None
    return False


def _same_matter(one: Said, other: Said) -> bool:
    """The same words sent once more are no second saying: mostly the first got no answer."""
    if one.number == other.number or not alike(one.roots, other.roots):
        return False
    return not same_note(one.sentence, other.sentence)


def _contrary(one: Said, other: Said) -> bool:
    return bool(NEGATED.search(one.sentence)) != bool(NEGATED.search(other.sentence))

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

import msgspec
from msgspec import Struct, structs

from agentlearn.review import weighing
from agentlearn.review.lasting import NAMED
from agentlearn.review.lesson import Lesson
from agentlearn.review.passing import AGAINST, FOR_THIS_TASK
from agentlearn.review.restating import NEGATED, alike, restates
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
FEWEST_WORDS, MOST_SAID = 5, 1000
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
RETRACTS = re.compile(
    r"\W*(?:(?:actually|no|ok|wait|hm+|sorry|oh|please)\b[,.!]? ?)*(?:"
    r"(?:scratch|forget|disregard|undo) (?:that|this)(?: (?:last one|one|rule|note))?(?=[,.!;:]|$)"
    r"|never ?mind(?: that| what i said)?(?=[,.!;:]|$)|i take that back"
    r"|(?:you )?(?:do not|don'?t) (?:need|have) to remember (?:that|it)"
    r"|(?:scratch|forget|never ?mind) (?:about )?"
    r"(?:what i (?:just )?said(?: about .*)?|the \w+ rule)"
    r"|(?:please )?(?:remove|delete|drop) that from (?:the |your )?memory"
    r")[,.!;:]*\s*(?:no need to remember\b.*)?",
    re.IGNORECASE,
)
"""What was said before is taken back; what follows stands for itself."""
OVERRULES = re.compile(
    r"\W*(?:actually|on second thought|i(?:'ve| have)? changed my mind|no)\b", re.IGNORECASE
)
ADDS = re.compile(r"\b(?:also|either|too|as well)\b", re.IGNORECASE)
PURPOSE = re.compile(r"\b(?:for|in|on) (\w{4,})")
ASKED = re.compile(
    r"\basked you (?:how|what|why|where|who|which|whether|if|when|about)\b", re.IGNORECASE
)
MOST_BACK = 100
REPEATS = re.compile(
    r"\bi (?:already |just )?(?:told|asked) you\b|\bagain[:,]|\b(?:as|like) i (?:already )?said\b"
    r"|\bfor the (?:second|third|last) time\b|\bhow many times\b|\bonce more[:,]",
    re.IGNORECASE,
)
"""It was said before, and the person says so."""
ASIDE = re.compile(r"\bkeep in mind\b", re.IGNORECASE)
"""After a request this says what to mind while doing it."""
ABOUT = re.compile(r"^About “[^”]*”: ")
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
                last = said[places[0] - 1] if places[0] else None
                said[index], kept = _taken_back(said[index], last, kept)
                places = [place for place in places if place >= index]  # nor what was said with it
        lesson = _noted([lesson for index in places if (lesson := _wished(said, index))])
        if lesson is None:
            continue
        overrules = any(OVERRULES.match(said[index].sentence) for index in places)
        before = [known for known in kept if _stands_for(lesson, known, overrules)]
        kept = [known for known in kept if known not in before]
        spans = [span for known in (*before, lesson) for span in known.spans]
        kept.append(structs.replace(lesson, spans=tuple(dict.fromkeys(spans))))
    return kept


def _stands_for(lesson: Lesson, known: Lesson, overrules: bool) -> bool:
    """Whether what was said later takes the place of what was said before."""
    if restates(lesson.text, known.text) != "other":
        return True
    if not overrules or ADDS.search(lesson.text):
        return False
    one, other = (ABOUT.sub("", each.text).lower() for each in (lesson, known))
    purposes = [PURPOSE.search(text) for text in (one, other)]
    same_purpose = all(purposes) and len({found[1] for found in purposes if found}) == 1
    return same_purpose and one.split(" ")[0] == other.split(" ")[0]


def _taken_back(wish: Said, last: Said | None, kept: list[Lesson]) -> tuple[Said, list[Lesson]]:
    """What is left of a saying that takes another back, and of what was said before.

    It takes back what it speaks of; or what the person said right before it, if that was kept.
    """
    found = RETRACTS.match(wish.sentence)
    rest = wish.sentence[found.end() :] if found else wish.sentence
    words = roots(wish.sentence) - roots("forget scratch said rule about mind take back")
    gone = [known for known in kept if words & roots(ABOUT.sub("", known.text))]
    if not gone and last is not None:
        gone = [known for known in kept[-1:] if known.spans[-1][0] == last.line]
    place: Place = "remember" if gone and rest else wish.place
    left = structs.replace(wish, sentence=rest or "never mind", place=place, before="")
    return left, [known for known in kept if known not in gone]


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
    repeats = _repeats(wish)
    if points <= ENOUGH - AGAIN and not repeats:
        return None  # not even if it was said before
    again = [
        other
        for other in said[max(0, index - MOST_BACK) : index]
        if (other.points > 0 or repeats) and _same_matter(wish, other)
    ]
    if repeats and again:
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


def _repeats(wish: Said) -> bool:
    """The person says that it was said before, and it is neither a request nor a report."""
    if REPEATS.search(wish.sentence) is None or ASKED.search(wish.sentence):
        return False
    rest = in_own_words(wish.sentence)
    names_a_way = re.search(r"\b(?:with|through|via|using)\b", rest) and "for this" not in rest
    against = [sign for sign in AGAINST if not (names_a_way and sign is FOR_THIS_TASK)]
    return not any(sign.words.search(rest) for sign in against)


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


def typed_answers(call: Call, result: Result) -> list[str]:
    """What a person typed in answer to the agent's questions; a choice among its own words is none.

    The answer is part of a tool's result, but nobody else's words. Each is looked for after the
    very question that was asked: what an agent writes into a question must not pass for an answer.
    """
    asked = _asked(call)
    answers = []
    rest = result.text
    for place, (question, _) in enumerate(asked):
        _, found, rest = rest.partition(f'"{question}"="')
        if not found:
            return []
        following = f'", "{asked[place + 1][0]}"="' if place + 1 < len(asked) else '". You can now'
        answer, found, _ = rest.partition(following)
        answers.append(answer if found else rest.rstrip().removesuffix('"'))
    own_words = " ".join(" ".join(text.split()) for _, texts in asked for text in texts)
    folded = [(answer, " ".join(answer.split())) for answer in answers]
    return [answer for answer, words in folded if words and words not in own_words]


def _asked(call: Call) -> list[tuple[str, list[str]]]:
    """Each question with all of the agent's words around it: labels, descriptions."""
    try:
        questions = msgspec.json.decode(call.arguments).get("questions")
    except (msgspec.MsgspecError, AttributeError, RecursionError):
        return []
    found = []
    for item in questions if isinstance(questions, list) else []:
        if isinstance(item, dict) and isinstance(item.get("question"), str):
            options = item.get("options")
            own = [str(text) for option in options or () if isinstance(option, dict)
                   for text in option.values()]  # fmt: skip
            found.append((item["question"], [item["question"], *own]))
    return found


def _same_matter(one: Said, other: Said) -> bool:
    """The same words sent once more are no second saying: mostly the first got no answer."""
    if one.number == other.number or not alike(one.roots, other.roots):
        return False
    return not same_note(one.sentence, other.sentence)


def _contrary(one: Said, other: Said) -> bool:
    return bool(NEGATED.search(one.sentence)) != bool(NEGATED.search(other.sentence))

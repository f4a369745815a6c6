"""Later words that overrule earlier ones, take them back, or say them once more."""

from __future__ import annotations

import re

from agentlearn.review.lesson import Lesson
from agentlearn.review.passing import AGAINST, FOR_THIS_TASK
from agentlearn.review.restating import restates
from agentlearn.review.speech import in_own_words
from agentlearn.store.similar import roots

ABOUT = re.compile(r"^About “[^”]*”: ")
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
REPEATS = re.compile(
    r"\bi (?:already |just )?(?:told|asked) you\b|\bagain[:,]|\b(?:as|like) i (?:already )?said\b"
    r"|\bfor the (?:second|third|last) time\b|\bhow many times\b|\bonce more[:,]",
    re.IGNORECASE,
)
"""It was said before, and the person says so."""


def stands_for(lesson: Lesson, known: Lesson, overrules: bool) -> bool:
    """Whether what was said later takes the place of what was said before."""
    if restates(lesson.text, known.text) != "other":
        return True
    if not overrules or ADDS.search(lesson.text):
        return False
    one, other = (ABOUT.sub("", each.text).lower() for each in (lesson, known))
    purposes = [PURPOSE.search(text) for text in (one, other)]
    same_purpose = all(purposes) and len({found[1] for found in purposes if found}) == 1
    return same_purpose and one.split(" ")[0] == other.split(" ")[0]


def taken_back(
    sentence: str, last_line: int, kept: list[Lesson]
) -> tuple[str, list[Lesson], list[Lesson]]:
    """What is left of a saying that takes another back, what goes by it, and what stays.

    It takes back what it speaks of; or what the person said right before it, if that was kept.
    """
    found = RETRACTS.match(sentence)
    rest = sentence[found.end() :] if found else sentence
    words = roots(sentence) - roots("forget scratch said rule about mind take back")
    gone = [known for known in kept if words & roots(ABOUT.sub("", known.text))]
    if not gone:
        gone = [known for known in kept[-1:] if known.spans[-1][0] == last_line]
    return rest, gone, [known for known in kept if known not in gone]


def repeats(sentence: str) -> bool:
    """The person says that it was said before, and it is neither a request nor a report."""
    if REPEATS.search(sentence) is None or ASKED.search(sentence):
        return False
    rest = in_own_words(sentence)
    names_a_way = re.search(r"\b(?:with|through|via|using)\b", rest) and "for this" not in rest
    against = [sign for sign in AGAINST if not (names_a_way and sign is FOR_THIS_TASK)]
    return not any(sign.words.search(rest) for sign in against)

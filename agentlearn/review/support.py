"""Whether cited lines speak for a text: they share its words, as a whole and in each part.

A reviewer puts things in its own words, so not every word must be found. But a step, or a sentence
of a note, of which the lines know no word is invented; and what takes a safeguard away (`sudo`,
disable, skip) must be said by the lines themselves.
"""

from __future__ import annotations

import re

from agentlearn.review.restating import NEGATIONS
from agentlearn.store.similar import roots

WHOLE, PART = 0.3, 0.2
"""The share of the words that the lines must have."""
ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
HEADING = re.compile(r"\s*(?:#{1,6}\s|[-=*_]{3,}\s*$|`{3}|\|?[\s:|-]+\|\s*$)")
NUMBERED = re.compile(r"(?:^|\s)\d{1,2}[.)] (?=\S)")
SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[\w`\"“(])")
COMMAND = re.compile(r"`([^`\n]{2,200})`")
QUOTED = re.compile(r"“([^“”\n]{0,400})”")
"""What a program said may be repeated as that, if it said it."""
SPECIFIC = re.compile(
    r"(?<![\w-])(?:--?[a-z][\w-]*|[\w~.-]{0,80}\w(?:[/=@]|\.(?=\w))[\w./=@:~-]*|\w*\d\w*)",
    re.IGNORECASE,
)
"""An option, a path, a host, a number: nobody says it in other words."""
PLACEHOLDER = re.compile(
    r"<[\w -]{1,30}>|\b[A-Z][A-Z_]{2,}\b(?!=)|…|\.{3}|\be\.g\.?|\bi\.e\.?|\bthe rule \S+"
    r"|^#!.*$|^set -\w+$",
    re.ASCII | re.MULTILINE,
)
RUN = re.compile(r"\b(?:run|execute|invoke|install)\s+[`'\"]?([\w@./-]+)", re.IGNORECASE)
PLAIN_OBJECTS = frozenset((
    "a", "an", "the", "it", "them", "this", "that", "these", "those", "all", "any", "each", "every",
    "both", "only", "one", "your", "our", "its", "tests", "test", "linters", "linter", "checks",
    "build", "suite", "unit", "integration", "type", "commands", "command", "from", "in", "on",
    "with", "once", "again", "first", "before", "after", "and", "or", "dependencies", "packages",
    "hooks", "via", "through", "by", "out", "as", "under", "inside", "within", "without", "at",
    "against", "locally", "here", "there", "into", "plain",
))  # fmt: skip
COMMON = frozenset(("git", "npm", "python", "make", "cd", "sh", "bash"))
"""Programs that one may name where the rest of the command was said."""
UP_TO_TWELVE = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip
NUMBERS = {word: str(number) for number, word in enumerate(UP_TO_TWELVE)} | {
    "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "hundred": "100",
}  # fmt: skip
FORBIDS = re.compile(
    r"(?:(?<!\bwe )(?<!\bi )(?<!\bthey )(?<!\bit )\b(?:don'?t|do not)"
    r"|\bnever|\bstop|\bavoid|, not"
    r"|\b(?:must|may|should) not|\b(?:mustn|shouldn|can)'?t|\bcannot"
    r"|\bnobody (?:may|should|can)|\binstead of|\brather than|\bover(?= \w+\W*$))"
    r"\b((?:[ ,]+[\w'.`-]+){1,4})",
    re.IGNORECASE,
)
RISKS = tuple(
    re.compile(rf"\b(?:{words})", re.IGNORECASE)
    for words in (
        r"sudo\b", "disabl|skip|bypass|ignor|omit", r"forc(?:e|es|ed|ing)\b", "grant", "approv",
        "upload|publish", r"delet|remov|drop(?:s|ped|ping)?\b|eras|wip(?:e|ing)", "chmod|chown",
        "curl|wget",
    )
)  # fmt: skip
"""Words for what does harm where nobody meant it; those of one group may stand for each other."""

DEMANDED = re.compile(r"\b(?:always|must|please|make sure to|remember to) (\w+)", re.IGNORECASE)
ABOUT_IT = roots("the person user agent had has said asked wants wanted taken took it so")
"""Words that say whose lesson it is, and nothing of their own."""


def supports(text: str, lines: str, is_prose: bool = True) -> bool:
    """Whether the lines speak of what the text says; of a script only as a whole."""
    said, known = roots(text), roots(lines)
    if not said:
        return False
    shared = len(said & known)
    if shared < min(2, len(said)) or shared < WHOLE * len(said):
        return False
    if any(risk.search(text) and not risk.search(lines) for risk in RISKS):
        return False
    return not is_prose or all(_is_known(part, known, lines) for part in parts_of(text))


def names_only(text: str, lines: str, own: str) -> bool:
    """Whether all that a text names exactly was said by the person, or run by the agent; what it
    quotes may also have been printed."""
    text = PLACEHOLDER.sub(" ", NUMBERED.sub(" ", text))
    printed = {each for said in QUOTED.findall(text) for each in _exact(said)}
    if any(not _has(each, lines) for each in printed):
        return False
    text = QUOTED.sub(" ", text)
    if any(not _has(each, own) for each in set(_exact(text))):
        return False
    words = [word for command in COMMAND.findall(text) for word in command.split()]
    plain = [word.strip("'\"(),;:").rstrip("/.").lower() for word in words]
    plain += [found.rstrip(".").lower() for found in RUN.findall(text)]
    passed = COMMON | PLAIN_OBJECTS
    return all(_has(word, own) for word in set(plain) - passed if word)


def _exact(text: str) -> list[str]:
    found = (each.rstrip(".:,;)/").lower() for each in SPECIFIC.findall(text))
    return [each for each in found if each]


def _has(word: str, lines: str) -> bool:
    """As a whole word; a flag also by its name, a number also in letters, a name also apart."""
    folded = lines.lower()
    if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", folded):
        return True
    if word.startswith("--") and word[2:] in folded:
        return True
    if any(NUMBERS.get(each) == word for each in re.findall(r"[a-z]+", folded)):
        return True
    return len(word) > 3 and word in folded.replace(" ", "") and not word.startswith("-")


def flips(text: str, lines: str) -> bool:
    """Whether a text does what the lines forbid, or forbids what they demand."""
    forbidden = _negated(lines) - roots(FORBIDS.sub(" ", lines))
    if (roots(FORBIDS.sub(" ", text)) - _negated(text) - NEGATIONS) & forbidden:
        return True
    demanded = frozenset(word for found in DEMANDED.findall(lines) for word in roots(found))
    return bool(_negated(text) & (demanded - _negated(lines)))


def _negated(text: str) -> frozenset[str]:
    """The first words after a "not" that say something."""
    return frozenset(word for found in FORBIDS.finditer(text) for word in _first(found[1]))


def _first(words: str) -> frozenset[str]:
    for word in words.split():
        if known := roots(word) - NEGATIONS:
            return known
    return frozenset()


def parts_of(text: str) -> list[str]:
    """The steps, bullets and sentences of a text, without its headings."""
    parts: list[str] = []
    goes_on = False
    for line in text.splitlines():
        if not line.strip() or HEADING.match(line):
            goes_on = False
        elif goes_on and not ITEM.match(line):
            parts[-1] += f" {line.strip()}"
        else:
            parts.append(line.strip())
            goes_on = True
    if len(parts) == 1:  # a note
        parts = [each for part in NUMBERED.split(parts[0]) for each in SENTENCE.split(part)]
    return [part for part in parts if part.strip()]


def _is_known(part: str, known: frozenset[str], lines: str) -> bool:
    said = roots(NUMBERED.sub(" ", part)) - ABOUT_IT
    shared = len(said & known)
    if not said or shared >= max(1, PART * len(said)):
        return True
    return any(command in lines for command in COMMAND.findall(part))

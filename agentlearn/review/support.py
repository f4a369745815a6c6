"""Whether cited lines speak for a text: they share its words, as a whole and in each part.

A reviewer puts things in its own words, so not every word must be found. But a step, or a sentence
of a note, of which the lines know no word is invented; and what takes a safeguard away (`sudo`,
disable, skip) must be said by the lines themselves.
"""

from __future__ import annotations

import re

from agentlearn.store.similar import roots

WHOLE, PART = 0.3, 0.2
"""The share of the words that the lines must have."""
ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
HEADING = re.compile(r"\s*(?:#{1,6}\s|[-=*_]{3,}\s*$|`{3}|\|?[\s:|-]+\|\s*$)")
NUMBERED = re.compile(r"(?:^|\s)\d{1,2}[.)] (?=\S)")
SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[\w`\"“(])")
COMMAND = re.compile(r"`([^`\n]{2,200})`")
QUOTED = re.compile(r"“[^”\n]{0,400}”")
"""What a program said may be repeated as that."""
SPECIFIC = re.compile(
    r"(?<![\w-])(?:--?[a-z][\w-]*|[\w~.-]*\w(?:[/=@]|\.(?=\w))[\w./=@:~-]*|\w*\d\w*)", re.IGNORECASE
)
"""An option, a path, a host, a number: nobody says it in other words."""
PLACEHOLDER = re.compile(r"<[^>]*>|\b[A-Z][A-Z_]{2,}\b|…|\.{3}|\be\.g\.?|\bi\.e\.?", re.ASCII)
RISKS = tuple(
    re.compile(rf"\b(?:{words})", re.IGNORECASE)
    for words in (
        r"sudo\b", "disabl|skip|bypass|ignor|omit", r"forc(?:e|es|ed|ing)\b", "grant", "approv",
        "upload|publish", r"delet|remov|drop(?:s|ped|ping)?\b|eras|wip(?:e|ing)", "chmod|chown",
        "curl|wget",
    )
)  # fmt: skip
"""Words for what does harm where nobody meant it; those of one group may stand for each other."""

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
    """Whether all that a text names exactly stands in the lines: an option, a path, a number; and
    whether the commands in it are ones that the person named, or the agent itself ran."""
    text = QUOTED.sub(" ", PLACEHOLDER.sub(" ", NUMBERED.sub(" ", text)))
    folded, ran = lines.lower(), own.lower()
    exact = (found.rstrip(".:,;)").lower() for found in SPECIFIC.findall(text))
    if any(each not in folded for each in exact if len(each) > 1):
        return False
    words = (word for command in COMMAND.findall(text) for word in command.split())
    plain = (word.strip("'\"(),;:").lower() for word in words)
    return all(word in ran for word in plain if len(word) > 2)


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

"""Whether what was cited carries what a reviewer wants to write, and what would be lost by it.

What a text says must be spoken of by the lines; what it names exactly must have been said by the
person, or run by the agent; what stood before in a skill of ours needs no new proof; and what goes
must be spoken of, or live on in what comes.
"""

from __future__ import annotations

import re

from agentlearn.review.ground import Standing
from agentlearn.review.support import flips, names_only, supports
from agentlearn.store.memory import SEEN
from agentlearn.store.shelf import Shelf
from agentlearn.store.similar import roots
from agentlearn.store.store import Refused
from agentlearn.store.values import Change

HALF = 0.5
RULE = re.compile(r"\b(?:never|not|no|don'?t|must|always|only|ask|avoid)\b", re.IGNORECASE)
"""A step may be said better; what is forbidden or demanded is not lost by the way."""
MARK = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])?\s*")
FRAME = re.compile(r"#|---|\s*agentlearn: ")
OF_OURS = re.compile(r"\b(?:note|rule|memory|skill|reminder|step)s?\b", re.IGNORECASE)
DROPS = re.compile(
    r"\b(?:wrong|old|drop|remove|delete|outdated|obsolete|no longer|not true|not needed|any ?more"
    r"|replaced|instead|gone|merge|one skill|not two)\b",
    re.IGNORECASE,
)
"""What a person says of something that may go."""


def carries(standing: Standing, seen_is_enough: bool, place: str) -> None:
    """Refuse what rests on too little to stand in that place."""
    if standing.basis == "words":
        raise Refused("the assistant's own words are no evidence: cite what the person said")
    if standing.basis == "seen" and not seen_is_enough:
        raise Refused(
            f"{place} needs a person's line behind it, or a failed call and one that then "
            "worked: what only a tool printed goes to references/ or to MEMORY"
        )


def fits(description: str, body: str) -> None:
    """A description is general; but it must be about what the body says, which was checked."""
    if not roots(description) & roots(body):
        raise Refused("the description is not about what the body says")


def speaks_of(standing: Standing, text: str, known: str = "", is_prose: bool = True) -> None:
    """`known`: what stands in our skills already, and needs no proof once more."""
    stood = {_plain(line) for line in known.splitlines()}
    text = "\n".join(line for line in text.splitlines() if _plain(line) not in stood)
    if not text.strip():
        return
    if not supports(text, standing.text, is_prose):
        raise Refused(
            "the cited lines do not speak of that, or not of all of it: cite those that do, "
            "and leave out what none says"
        )
    if standing.basis == "seen":
        return
    if not names_only(text, f"{standing.text}\n{known}", f"{standing.own}\n{known}"):
        raise Refused(
            "it names a command, an option, a path or a number that the person did not say and "
            "the agent did not run in the cited lines: what only a tool printed goes to "
            "references/ or to MEMORY, by lines of that tool"
        )
    if standing.basis == "person" and flips(text, standing.text):
        raise Refused("it says the contrary of the cited lines: what they forbid is not to be done")


def may_lose(standing: Standing, change: Change | None) -> None:
    """Every line that goes must be spoken of, or live on in what comes."""
    said = roots(standing.text)
    for edit in change.edits if change is not None else ():
        before, after = ((text or "").splitlines() for text in (edit.before, edit.after))
        stays = {_plain(line) for line in after}
        stood = {_plain(line) for line in before}
        comes = [line for line in after if _plain(line) not in stood and not FRAME.match(line)]
        for line in before:
            is_frame = FRAME.match(line) is not None or _plain(line) == SEEN.strip()
            if is_frame or _plain(line) in stays or not (lost := roots(line)):
                continue
            is_rule = edit.path.startswith("memory/") or RULE.search(line) is not None
            least = HALF * len(lost) if is_rule or not comes else 1
            if len(lost & said) >= least or _may_go(standing, lost & said):
                continue
            heirs = [each for each in comes if len(lost & roots(each)) >= least]
            if not heirs or all(flips(each, line) for each in heirs):
                raise Refused(
                    "the cited lines do not speak of what would be lost "
                    f"(“{line.strip()[:80]}”): leave it as it is, or cite those that do"
                )


def _may_go(standing: Standing, shared: frozenset[str]) -> bool:
    """The person says that it may: of a note or a skill, or in words enough to know which."""
    if standing.basis != "person" or not DROPS.search(standing.text):
        return False
    return len(shared) >= (1 if OF_OURS.search(standing.text) else 2)


def known_of(shelf: Shelf) -> str:
    """What stands in the skills that agentlearn wrote."""
    return "\n".join(skill.text for skill in shelf.skills() if skill.is_ours)


def _plain(line: str) -> str:
    """A line without the number or the mark before it: a step may move."""
    return " ".join(MARK.sub("", line).split())

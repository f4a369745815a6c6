"""Whether what was cited carries what a reviewer wants to write, and what would be lost by it."""

from __future__ import annotations

from agentlearn.review.ground import Standing
from agentlearn.review.support import names_only, supports
from agentlearn.store.drafting import added
from agentlearn.store.similar import roots
from agentlearn.store.store import Refused
from agentlearn.store.values import Change

FEW, LIVES_ON = 3, 0.3
"""The share of the words of what goes that must be spoken of, or come again."""


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


def speaks_of(standing: Standing, text: str, is_prose: bool = True) -> None:
    if text.strip() and not supports(text, standing.text, is_prose):
        raise Refused(
            "the cited lines do not speak of that, or not of all of it: cite those that do, "
            "and leave out what none says"
        )
    if standing.basis != "seen" and not names_only(text, standing.text, standing.own):
        raise Refused(
            "it names a command, an option, a path or a number that the person did not say and "
            "the agent did not run in the cited lines: what only a tool printed goes to "
            "references/ or to MEMORY, by lines of that tool"
        )


def may_lose(standing: Standing, change: Change | None) -> None:
    """What goes must be spoken of, or live on in what comes."""
    for edit in change.edits if change is not None else ():
        if edit.before is None:
            continue
        lost = roots(added(edit.after or "", edit.before))
        known = lost & (roots(standing.text) | roots(added(edit.before, edit.after or "")))
        least = 2 if len(lost) > FEW else min(1, len(lost))
        if len(known) < max(least, LIVES_ON * len(lost)):
            raise Refused("the cited lines do not speak of what would be lost: leave it as it is")

"""All that the rules find in a session: the few strongest lessons, in the order they came."""

from __future__ import annotations

from agentlearn.review.lesson import Lesson, same_pitfall
from agentlearn.review.proved import proved_lessons
from agentlearn.review.runs import runs_of
from agentlearn.review.wishes import wishes_of
from agentlearn.rewards.rules import compiled_rules, load_rules
from agentlearn.sessions.values import Session
from agentlearn.store.memory import same_note

MOST_LESSONS = 5


def find_lessons(session: Session) -> list[Lesson]:
    """At most a few, the strongest; the same input gives the same ones in the same order."""
    patterns = compiled_rules(load_rules(None))
    turns = session.turns()
    runs = list(runs_of(turns, patterns))
    found = [*wishes_of(session, patterns), *proved_lessons(runs, turns)]
    chosen: list[int] = []
    for place in sorted(range(len(found)), key=lambda place: (-found[place].strength, place)):
        if not any(_same(found[place], found[other]) for other in chosen):
            chosen.append(place)
        if len(chosen) == MOST_LESSONS:
            break
    return [found[place] for place in sorted(chosen)]


def _same(one: Lesson, other: Lesson) -> bool:
    if one.topic is None or other.topic is None:
        return one.topic == other.topic and same_note(one.text, other.text)
    return same_pitfall(one.text, other.text)

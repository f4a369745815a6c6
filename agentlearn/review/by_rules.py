"""The review without a model: plain rules, deterministic, few and careful words.

What the person told the agent becomes notes; what the session proved becomes pitfalls of the
skill for that class of work. All of it goes through the same tools as a model's review.
"""

from __future__ import annotations

from agentlearn.review.command_lines import Topic
from agentlearn.review.find import find_lessons
from agentlearn.review.lesson import Lesson, same_pitfall
from agentlearn.review.restating import restates
from agentlearn.review.tools import Tools
from agentlearn.sessions.values import Session
from agentlearn.store.memory import TARGETS, same_note

HEADING = "## Pitfalls"
SKILLS: dict[Topic, tuple[str, str, str]] = {
    "tests": (
        "run-tests",
        "How the tests of this repository are started. Use when you run or write tests here.",
        "# Running the tests",
    ),
    "checks": (
        "pass-linters",
        "What linters, formatters and type checkers demand. Use when you lint or before a commit.",
        "# Passing the linters",
    ),
    "build": (
        "build-and-install",
        "What building and installing dependencies needs on this code base. "
        "Use when you build, install or generate code.",
        "# Building and installing",
    ),
    "commands": (
        "repository-commands",
        "Commands that need a certain form to succeed. Use when you call a command-line program "
        "of the repository.",
        "# Commands of the repository",
    ),
}


def review_by_rules(session: Session, tools: Tools) -> None:
    """Write what was found, through the tools."""
    for lesson in find_lessons(session):
        with tools.desk.alone():
            if lesson.topic is None:
                _note(lesson, tools)
            else:
                _pitfall(lesson, lesson.topic, tools)


def _note(lesson: Lesson, tools: Tools) -> None:
    """A note, in the place of one that says it otherwise; none if one says it already."""
    wanted = {"action": "add", "target": lesson.target, "text": lesson.text}
    shelf = tools.desk.look()
    for target, note in ((each, note) for each in TARGETS for note in shelf.notes(each)):
        answer = restates(lesson.text, note.text)
        if answer == "same" or same_note(note.text, lesson.text):
            return
        if answer == "anew":
            wanted = {**wanted, "action": "replace", "old": note.text, "target": target}
    tools.call("memory", {**wanted, "evidence": _places(lesson)})


def _pitfall(lesson: Lesson, topic: Topic, tools: Tools) -> None:
    name, description, title = SKILLS[topic]
    bullet = f"- {lesson.text}"
    skill = tools.desk.look().skill(name)
    if skill is not None and (skill.pinned or not skill.is_ours):
        _note(lesson, tools)
        return
    if skill is None:
        body = f"{title}\n\n{HEADING}\n\n{bullet}\n"
        wanted = {"action": "create", "name": name, "description": description, "body": body}
    elif any(same_pitfall(line, bullet) for line in skill.body.splitlines()):
        return
    else:
        tools.call("skill_view", {"name": name})
        old = _last_pitfall(skill.body)
        gap = "\n" if old.startswith("- ") else "\n\n"
        wanted = {"action": "patch", "name": name, "old": old, "new": f"{old}{gap}{bullet}"}
    answer = tools.call("skill_manage", {**wanted, "evidence": _places(lesson)})
    if skill is None and "is nearly the skill" in answer:
        _note(lesson, tools)  # a person wrote one like it, which is not ours to change


def _last_pitfall(body: str) -> str:
    """The line after which one more pitfall goes: the last of them, else the heading."""
    _, _, after = body.partition(HEADING)
    pitfalls = [line for line in after.splitlines() if line.startswith("- ")]
    candidates = [*reversed(pitfalls), HEADING, *body.splitlines()]
    return next((line for line in candidates if line.strip() and body.count(line) == 1), body)


def _places(lesson: Lesson) -> list[str]:
    return [f"L{start}-L{end}" for start, end in lesson.spans]

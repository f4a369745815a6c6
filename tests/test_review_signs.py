"""Every alternative of every sign is there for a sentence that no other alternative knows."""

from __future__ import annotations

import importlib.util
import re
from typing import Any

import pytest

from agentlearn.review import signs
from tests.stories import story, texts

WORK = {
    "wants it written down": [
        "add to the agents.md that tests run in docker",
        "the claude.md has an instruction on naming",
        "the port needs to go into your memory",
    ],
    "every time": [
        "from now on run the linter",
        "next time, run the linter",
        "run the linter after every change",
        "whenever you change the schema, regenerate the client",
        "open prs for each feature",
        "one small change per commit",
        "tick tasks off as each task is complete",
        "give me one question at a time",
    ],
    "how far it may go": [
        "never deploy without asking",
        "do not make any assumptions",
        "ask me first",
        "ask clarifying questions",
        "if in doubt, check with me",
        "let me review the plan before it is built",
        "show me the plan before you code",
        "stop asking for permission",
        "wait for my approval",
    ],
    "wants it checked": [
        "do not guess names",
        "make sure to test it after a refactoring",
        "test the export before you push anything",
        "run the linter after adding a module",
        "verify the page with playwright",
        "fix the code, not the test",
    ],
    "how to talk": [
        "please be concise",
        "use plain english",
        "answer me in german",
        "give me explanations that are short",
        "keep it short",
        "i want short answers",
        "explain things to me step by step",
        "no emojis",
    ],
    "faults the agent": [
        "you should have asked",
        "you were supposed to mock the clock",
        "you keep removing my comments",
        "you write too many comments",
        "stop changing the config",
        "i already told you not to touch the config",
        "i never told you to delete the config",
        "you must follow the style guide",
        "why are we using npm instead of pnpm",
    ],
    "commits": [
        "no co-author lines in messages",
        "never push to main",
        "i will merge it on my end",
        "make atomic commits",
        "commit often",
        "open a pr instead of pushing to main",
    ],
}
LASTING = {
    "refuses a means": [
        "do not use jquery",
        "we do not want to use jquery",
        "that should not be hard-coded",
        "could we avoid globals",
        "no new dependencies",
    ],
    "refuses": [
        "please do not rename columns",
        "we don't need a wrapper",
        "there is no need for a wrapper",
        "we should never swallow exceptions",
        "can we not nest these",
    ],
    "does not want": ["i don't want a wrapper"],
    "in future": ["the names will be longer in future"],
    "how it is here": [
        "we never delete rows",
        "we always delete rows softly",
        "we use pnpm",
        "this repo needs node 20",
        "in this project ids are strings",
        "that is our policy",
        "that is our approach",
        "all new code needs a test",
        "tests only run in docker",
        "the schema file is the source of truth",
        "the folder is git-ignored",
        "the order is so on purpose",
        "i am on windows",
    ],
    "has another name": ["core has been renamed to kernel"],
    "names the way": [
        "use pnpm rather than npm",
        "use the review skill",
        "use pnpm",
        "i prefer tabs",
        "stick to the plan",
        "i hate globals",
    ],
    "finds fault": ["that is too complicated", "that is overkill"],
    "names another way": ["let's go with decimal instead of floats"],
}
LENT = {
    "decides": ["it should be blue", "make sure it is blue", "let's keep it blue"],
    "finds too much": ["it is too slow"],
    "says why": ["because it is blue"],
}
AGAINST = {
    "asks": [
        "blue, right",
        "then should we paint it blue",
        "what is blue",
        "would it be blue",
        "i wonder whether it is blue",
    ],
    "makes something": ["add a button"],
    "for this task": ["run it", "can you run it", "it should also be blue"],
    "looks": ["the button is blue"],
    "thinks aloud": [
        "maybe blue",
        "i guess blue is fine",
        "what if it was blue",
        "it seems fine",
    ],
    "reports": [
        "same here",
        "every time i click it",
        "it is still there",
        "there is an error",
        "it does not load, it isn't loading",
        "i tried it",
        "it worked",
    ],
    "own doing": ["i merged it", "i'll look into it"],
    "only now": ["leave it for today", "now it is blue"],
    "goes on": ["then continue", "look at step 3", "it is on 40", "once you are there"],
}
EXAMPLES = {**WORK, **LASTING, **LENT, **AGAINST}


@pytest.fixture(scope="module")
def alternatives() -> dict[str, list[str]]:
    """The signs by name, each with the alternatives that it was made of."""
    found: dict[str, list[str]] = {}

    def record(name: str, points: int, *words: str) -> signs.Sign:
        found.setdefault(name, []).extend(words)
        return made(name, points, *words)

    made: Any = signs.sign
    signs.sign = record
    try:
        for module in ("lasting", "passing"):
            spec = importlib.util.find_spec(f"agentlearn.review.{module}")
            assert spec is not None and spec.loader is not None
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
    finally:
        signs.sign = made
    return found


def test_every_sign_has_examples(alternatives: dict[str, list[str]]) -> None:
    assert set(alternatives) == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_alternative_is_needed(name: str, alternatives: dict[str, list[str]]) -> None:
    words = alternatives[name]
    for example in EXAMPLES[name]:
        assert any(re.search(each, example, re.IGNORECASE) for each in words), example
    for each in words:
        others = [other for other in words if other != each]
        assert any(
            re.search(each, example, re.IGNORECASE)
            and not any(re.search(other, example, re.IGNORECASE) for other in others)
            for example in EXAMPLES[name]
        ), f"no example needs {each}"


@pytest.mark.parametrize("said", [said for examples in WORK.values() for said in examples])
def test_how_to_work_is_noted_whatever_the_task_is(said: str) -> None:
    assert len(texts(story().runs("ls").says(said))) == 1

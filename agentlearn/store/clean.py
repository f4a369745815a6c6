"""What may not stand in a skill or a memory, and what a skill must say.

The same rules refuse a reviewer's text before it is written and report what others wrote:
drafting raises on the first problem, `agentlearn check` lists them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from agentlearn.store.skill import MOST_BODY, MOST_DESCRIPTION, USE_WHEN
from agentlearn.store.store import Refused

ONE_OFF = re.compile(
    r"(?:^|-)(?:bug|issue|ticket|pr|mr|gh|jira|fix|hotfix|commit|session|task|case|day)-?\d+(?:-|$)"
    r"|(?:^|-)\d{4,}(?:-|$)"
    r"|(?:^|-)(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?:-|$)"
    r"|(?:^|-)(?:today|yesterday|wip|tmp|temp|misc|untitled)(?:-|$)"
)
NO_VALUE = (
    r"(?!(?:required|needed|not|never|always|missing|wrong|the|an?|in|on|at|by|for|from|of|to|with"
    r"|too|only|also|still|now|part|empty|invalid|correct|incorrect|optional|kept|there|where|what"
    r"|how|when|reset|set|sent|read|long|short|weak|strong|secret|safe|used|same|different|your"
    r"|our|my|\w+(?:ed|ing))\b)"
)
CREDENTIAL = re.compile(
    r"\b(?:password|passphrase|passcode|passwd|pw)s?\b(?! (?:field|handling|hash|page|reset|policy"
    r"|manager|input|column|check|prompt|file|length|storage))(?: \w+){0,3}?(?: is| are| was|:|=) *"
    rf"[\"'“`]?{NO_VALUE}\w\S{{3,}}"
    rf"|\b(?:with|and|,) pwd? {NO_VALUE}\S{{5,}}"
    r"|\bpin(?: code)? (?:is|=|:) *\d{4,8}\b"
    r"|\b(?:log ?in|login|sign in|credentials?)\b[^.\n]{0,40}?\b[\w.@-]{2,30}(?: / |:)"
    r"(?=\S*\d)(?=\S*[A-Za-z])[^\s/:]{6,}(?=[\s.,;]|$)",
    re.IGNORECASE,
)
"""Wider than what is hidden from a model: a text that is kept, and maybe shared, tells no word
that somebody logs in with, be it "sunshine"."""
Rule = Literal[
    "secret", "hidden", "order", "encoding", "description", "use-when", "long-description", "body"
]


class Problem(Struct, frozen=True):
    rule: Rule
    message: str
    """What is wrong, as the middle of a sentence about the text."""
    at: int = 0
    """Where in the text it begins."""


def text_problems(text: str) -> Iterator[Problem]:
    """What must never be kept: secrets, what nobody sees, orders to whoever reads it."""
    from agentlearn.guard.hidden import hidden_characters
    from agentlearn.guard.orders import injected_orders
    from agentlearn.guard.secrets import find_secrets

    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        yield Problem("encoding", "holds half a character", error.start)
        return
    for secret in find_secrets(text):
        yield Problem("secret", f"holds a secret ({secret.kind})", secret.start)
    for told in CREDENTIAL.finditer(text):
        yield Problem("secret", "tells what somebody logs in with", told.start())
    for hidden in hidden_characters(text):
        yield Problem("hidden", f"holds hidden characters ({hidden.name})", hidden.start)
    for order in injected_orders(text):
        said = f"reads like an order planted for agents ({order.kind})"
        yield Problem("order", said, order.start)


def description_problems(description: str) -> Iterator[Problem]:
    if not description.strip():
        yield Problem("description", "is empty: say what the skill does, and when to use it")
        return
    if len(description) > MOST_DESCRIPTION:
        said = f"has {len(description)} characters, over {MOST_DESCRIPTION}"
        yield Problem("long-description", said)
    if not USE_WHEN.search(description):
        yield Problem("use-when", 'must say when to use the skill: "Use when …"')
    if "---" in description:
        yield Problem("description", "must not hold ---", description.index("---"))


def body_problems(body: str) -> Iterator[Problem]:
    if not body.strip():
        yield Problem("body", "is empty: trigger, numbered steps, pitfalls")
    elif len(body) > MOST_BODY:
        yield Problem("body", f"has {len(body)} characters, over {MOST_BODY}")


def check_clean(text: str) -> None:
    """Refuse a text that must never be kept."""
    refuse("the text", text_problems(text))


def check_description(description: str) -> None:
    refuse("the description", description_problems(description))
    refuse("the description", text_problems(description))


def check_body(body: str) -> None:
    refuse("the body", body_problems(body))
    refuse("the body", text_problems(body))


def refuse(what: str, problems: Iterator[Problem]) -> None:
    """Raise the first of the problems, if there is one."""
    for problem in problems:
        without = ": say it without" if problem.rule in ("secret", "hidden", "encoding") else ""
        raise Refused(f"{what} {problem.message}{without}")

"""Whether one command is another way to do the same: how much of its words the other has."""

from __future__ import annotations

import re

NAMES = re.compile(r"[/:]")
SEPARATORS = frozenset(("&&", "||", ";", "|", "&", ">", "<", "2>&1", "--", "\\"))
CHANGE_FOLDER = re.compile(r"^\s*(?:cd|pushd)\s+\S+\s*(?:&&|;)\s*")
ENOUGH, NEARLY_ENOUGH = 0.75, 0.6
LONGEST = 2000
SHORTEST_STEM = 4
TASK_RUNNERS = frozenset(("npm", "pnpm", "yarn", "bun", "make", "just", "task", "rake", "mise"))


def likeness(command: str, other: str) -> float:
    """From 0 to 1; 0 if the other does something else.

    `npm run lint` has two of three words of `npm run build`, and not the one that matters.
    """
    words, others = words_of(command), words_of(other)
    if not words:
        return 0.0
    shared = sum(_is_among(word, others) for word in words) / len(words)
    if shared < NEARLY_ENOUGH:
        return 0.0
    if shared < ENOUGH and not (_begin_alike(words, others) or _is_among(_last(words), others)):
        return 0.0
    return shared


def words_of(command: str) -> list[str]:
    """The words of a command, without where it is run and what joins it to others."""
    command = CHANGE_FOLDER.sub("", command[:LONGEST])
    words = (word.strip("\"'();") for word in command.split())
    return list(dict.fromkeys(word for word in words if word and word not in SEPARATORS))


def _is_among(word: str, others: list[str]) -> bool:
    return any(_same(word, other) for other in others)


def _same(word: str, other: str) -> bool:
    """`bin/rails` is `rails`, `heads` is nearly `head`."""
    one, two = (NAMES.split(text)[-1] or text for text in (word, other))
    if one == two:
        return True
    shorter, longer = sorted((one, two), key=len)
    near = len(shorter) >= SHORTEST_STEM and len(longer) - len(shorter) <= 2
    return near and longer.startswith(shorter)


def _begin_alike(words: list[str], others: list[str]) -> bool:
    """The same program does the same to something else; of a runner of tasks that is another."""
    return (
        len(words) > 2
        and words[0] not in TASK_RUNNERS
        and all(_is_among(word, others) for word in words[:2])
    )


def _last(words: list[str]) -> str:
    """What it is done to: the last word that is no option."""
    return next((word for word in reversed(words) if not word.startswith("-")), words[-1])
